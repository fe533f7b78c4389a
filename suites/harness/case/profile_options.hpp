// SPDX-License-Identifier: Apache-2.0
// The profiling flags that every suite has: what is written where, and how long it is looked at.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "computation.hpp"

namespace holdfast {

struct OptionRow;

std::string_view variant_name(Variant variant);  // "optimized", "reference"

struct ProfileOptions {
  std::string profile = {}, trace = {}, memory_profile = {}, dump_kernels = {};  // folders
  std::string nvml_log = {};                                                     // a file
  double nvml_period = 0.1;  // seconds between two samples
  int every = 0;             // a window begins at each multiple of it; 0: one window, at once
  int windows = 3;           // how many, where they are periodic
  int steps = 10;            // of one window
  std::string variant = "optimized";
  std::optional<double> assert_mean = {};  // seconds
  std::string detail = {};                 // an option given that only says how to profile

  // Whether steps are profiled instead of cases measured.
  bool profiles() const;
  bool wants(Variant which) const;
};

std::span<const OptionRow> profile_rows();

// Whether `name` is one of the rows; keeps its value. Throws Error{bad_input} for a value that
// means nothing.
bool take_profile_option(std::string_view name, const std::string& value, ProfileOptions& options);

// Throws Error{bad_input} for options that contradict each other. `out` is the result file asked
// for, if any: what a profiler slowed down is no measurement.
void check_together(const ProfileOptions& options, std::string_view device, std::string_view out);

}  // namespace holdfast
