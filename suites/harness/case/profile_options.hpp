// SPDX-License-Identifier: Apache-2.0
// The profiling flags of every suite: outputs, and the steps that are profiled.
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
  int every = 0;             // a window begins at each multiple of it; 0: a single window, at once
  int windows = 3;           // their number, if periodic
  int steps = 10;            // per window
  std::string variant = "optimized";
  std::optional<double> assert_mean = {};  // seconds
  std::string detail = {};                 // a given option that only refines profiling

  // Whether steps are profiled instead of cases measured.
  bool profiles() const;
  bool wants(Variant which) const;
};

std::span<const OptionRow> profile_rows();

// Stores the value if `name` is one of the rows, and returns whether it is. Throws Error{bad_input}
// for an invalid value.
bool take_profile_option(std::string_view name, const std::string& value, ProfileOptions& options);

// Throws Error{bad_input} for options that contradict each other. `out` is the requested result
// file, if any: profiled times are not measurements.
void check_together(const ProfileOptions& options, std::string_view device, std::string_view out);

}  // namespace holdfast
