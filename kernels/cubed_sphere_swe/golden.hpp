// SPDX-License-Identifier: Apache-2.0
// Golden values of n = 8, start `random`, dt = 1/24, from an independent prototype. For tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cubed_sphere_swe/diagnostics.hpp"
#include "cubed_sphere_swe/sphere.hpp"

namespace holdfast::cubed_sphere_swe {

// To 1e-13 of the field's largest entry, or of a norm or sum over the field where that is larger.
inline void expect_golden(const char* what, double value, double golden,
                          std::span<const double> field) {
  EXPECT_NEAR(value, golden, 1e-13 * std::max(largest(field), std::abs(golden))) << what;
}

// Position of a v1 point [6, 8, 9] or a v2 point [6, 9, 8].
constexpr int v1_golden_index(int panel, int i, int j) {
  return (panel * 8 + i) * 9 + j;
}
constexpr int v2_golden_index(int panel, int i, int j) {
  return (panel * 9 + i) * 8 + j;
}

inline void expect_golden_tendency(const State& t) {
  expect_golden("norm(dh)", norm(t.h), 212.20684712496703, t.h);
  expect_golden("sum(dh)", sum(t.h), 79.029681749251878, t.h);
  expect_golden("dh[0,0,0]", t.h[height_index(8, 0, 0, 0)], 1.2850960405669329, t.h);
  expect_golden("dh[3,2,8]", t.h[height_index(8, 3, 2, 8)], 7.2445226233424247, t.h);
  expect_golden("dh[4,4,4]", t.h[height_index(8, 4, 4, 4)], -2.5478879354388209, t.h);
  expect_golden("norm(dv1)", norm(t.v1), 87.352110396261011, t.v1);
  expect_golden("norm(dv2)", norm(t.v2), 85.518550312357647, t.v2);
  expect_golden("dv1[0,0,0]", t.v1[v1_golden_index(0, 0, 0)], 0.95987113834055848, t.v1);
  expect_golden("dv1[3,4,5]", t.v1[v1_golden_index(3, 4, 5)], 4.3465454219398225, t.v1);
}

inline void expect_golden_step(const State& s) {
  expect_golden("norm(h)", norm(s.h), 14.173292236547905, s.h);
  expect_golden("h[0,0,0]", s.h[height_index(8, 0, 0, 0)], -0.71127023537898049, s.h);
  expect_golden("h[2,3,4]", s.h[height_index(8, 2, 3, 4)], 0.22242473994310058, s.h);
  expect_golden("v1[1,2,3]", s.v1[v1_golden_index(1, 2, 3)], 0.58863830041436671, s.v1);
  expect_golden("v2[4,5,6]", s.v2[v2_golden_index(4, 5, 6)], -0.79299091045571857, s.v2);
  EXPECT_NEAR(energy({8}, s), 7.3059453477159728, 7.3e-13);
}

inline void expect_golden_ten_steps(const State& s) {
  expect_golden("norm(h)", norm(s.h), 15.360266894103505, s.h);
  expect_golden("norm(v1)", norm(s.v1), 12.333996895244846, s.v1);
  expect_golden("norm(v2)", norm(s.v2), 12.095843332995525, s.v2);
  expect_golden("h[0,0,0]", s.h[height_index(8, 0, 0, 0)], -1.8409836454625732, s.h);
  EXPECT_NEAR(energy({8}, s), 7.2725675444157805, 7.3e-13);
}

}  // namespace holdfast::cubed_sphere_swe
