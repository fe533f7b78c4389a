// SPDX-License-Identifier: Apache-2.0
// Expectations of golden values, for tests.
#pragma once

#include <gtest/gtest.h>

#include "cubed_sphere_swe/golden.hpp"

namespace holdfast::cubed_sphere_swe {

inline void expect_golden(const GoldenValue& value) {
  EXPECT_NEAR(value.value, value.golden, 1e-13 * value.scale) << value.what;
}
inline void expect_golden(const char* what, double value, double golden,
                          std::span<const double> field) {
  expect_golden(golden_value(what, value, golden, field));
}
inline void expect_golden(const std::vector<GoldenValue>& values) {
  for (const GoldenValue& value : values) expect_golden(value);
}

}  // namespace holdfast::cubed_sphere_swe
