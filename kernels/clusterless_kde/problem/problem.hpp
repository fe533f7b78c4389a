// SPDX-License-Identifier: Apache-2.0
// Private to the workload: what the implementations are given.
#pragma once

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
};

}  // namespace holdfast::clusterless_kde
