// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the input of every implementation.
#pragma once

#include <utility>

#include "clusterless_kde/problem/input.hpp"
#include "clusterless_kde/problem/options.hpp"

namespace holdfast::clusterless_kde {

enum class Unit { encode, decode, total, local };

// Already validated: factories allocate and compute, and never reject it.
struct Problem {
  Unit unit = Unit::decode;
  Input input = {};
  Options options = {};
  Plan plan = {};  // for the optimized variant with Algorithm::fused
  int number = 0;  // of the input, among inputs of its shape

  bool encodes() const { return unit == Unit::encode || unit == Unit::total; }
  // Replaces the input by another one, for computations that restart.
  void turn_to(int other) {
    if (other != number) input = other_input(std::move(input), encodes());
    number = other;
  }
};

}  // namespace holdfast::clusterless_kde
