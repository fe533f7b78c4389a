// SPDX-License-Identifier: Apache-2.0
// Private to the workload: what the implementations are given.
#pragma once

#include <utility>

#include "clusterless_kde/problem/input.hpp"
#include "clusterless_kde/problem/options.hpp"

namespace holdfast::clusterless_kde {

enum class Unit { encode, decode, total, local };

// Checked: a factory allocates and computes, and refuses nothing.
struct Problem {
  Unit unit = Unit::decode;
  Input input = {};
  Options options = {};
  Plan plan = {};  // of the optimized variant with Algorithm::fused
  int number = 0;  // of the input, among those of its shape

  bool encodes() const { return unit == Unit::encode || unit == Unit::total; }
  // For those who begin again: puts another input into the place of this one.
  void turn_to(int other) {
    if (other != number) input = other_input(std::move(input), encodes());
    number = other;
  }
};

}  // namespace holdfast::clusterless_kde
