// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variants: the stages of a step, for host and device alike.
#pragma once

#include <array>

#include "cubed_sphere_swe/problem/formulas.hpp"

namespace holdfast::cubed_sphere_swe {

// One stage with array numbers (-1: none): out = A base + slope dt L z and, if there is a sum, sum
// += share dt L z, where a stage with z == base starts the sum.
struct Stage {
  int z = 0, base = 0, out = 0, sum = -1;
  double slope = 0, share = 0;
};
using Stages = std::array<Stage, stages_per_step>;

// L is linear and does not depend on time, so both are the same polynomial. Horner's form leaves
// the state in the third array, the classical one in the first and needs a fourth.
inline constexpr Stages horner_stages = {
    {{0, 0, 1, -1, 1. / 4}, {1, 0, 2, -1, 1. / 3}, {2, 0, 1, -1, 1. / 2}, {1, 0, 2, -1, 1}}};
inline constexpr Stages classical_stages = {{{0, 0, 1, 3, 1. / 2, 1. / 6},
                                             {1, 0, 2, 3, 1. / 2, 1. / 3},
                                             {2, 0, 1, 3, 1, 1. / 3},
                                             {1, 3, 0, -1, 1. / 6}}};

// With Horner's form the first and the third array swap in every step.
constexpr int array_of(int number, bool swapped) {
  return swapped && number % 2 == 0 ? 2 - number : number;
}

// Blocks per panel that the optimized host variant shares among its threads. As few as keep all
// threads equally busy, because each recomputes a few rows of its neighbours.
constexpr int host_blocks_per_panel(int n, int threads) {
  int blocks = 1;
  while (6 * blocks % threads != 0 && n / (blocks + 1) >= 8) ++blocks;
  return blocks;
}

}  // namespace holdfast::cubed_sphere_swe
