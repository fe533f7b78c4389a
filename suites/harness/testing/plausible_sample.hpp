// SPDX-License-Identifier: Apache-2.0
// For tests: plausible ranges of a GPU's sensors, so that a wrong unit shows.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "harness/profile/nvml.hpp"

namespace holdfast {

inline void expect_within(std::string_view what, const std::optional<double>& told, double least,
                          double most) {
  if (!told) return;  // no GPU tells everything
  EXPECT_GE(*told, least) << what;
  EXPECT_LE(*told, most) << what;
}

inline void expect_plausible(const GpuSample& sample) {
  EXPECT_TRUE(sample.fb_used_bytes.has_value()) << "every GPU tells the memory that it uses";
  EXPECT_TRUE(sample.sm_clock_hz.has_value()) << "every GPU tells its clock";
  expect_within("sm_util", sample.sm_util, 0, 1);
  expect_within("mem_util", sample.mem_util, 0, 1);
  expect_within("fb_used_bytes", sample.fb_used_bytes, 1e6, 1e12);
  expect_within("sm_clock_hz", sample.sm_clock_hz, 1e8, 5e9);
  expect_within("mem_clock_hz", sample.mem_clock_hz, 1e8, 2e10);
  expect_within("power_w", sample.power_w, 5, 2000);
  expect_within("temperature_c", sample.temperature_c, 5, 110);
  expect_within("ecc_errors", sample.ecc_errors, 0, 1e6);
  expect_within("other_processes", sample.other_processes, 0, 100);
}

}  // namespace holdfast
