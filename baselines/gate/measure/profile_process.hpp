// SPDX-License-Identifier: Apache-2.0
// `holdfast run --profile`: one more process, apart from the timed ones, which profiles both
// variants of each case.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/documents/profile.hpp"
#include "gate/documents/results.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {

struct Profiling {
  std::filesystem::path binary;  // of the suite
  std::string device;
  std::vector<std::string> arguments = {};  // tier, filter and options, as for a timed process
  double timeout_seconds = 0;               // from one line of its progress to the next
  std::filesystem::path answers = {};       // what oracles have answered to the timed processes
  std::filesystem::path place = {};         // receives the profiles, once they are whole
};

// Where it fails a line says why, and the run is worth as much as without profiles.
void profile_suite(const Profiling& profiling, Progress& progress);

// Gives each variant that promises idle_fraction, max_gap_s or top_kernel_fraction what its profile
// tells; where that tells nothing, the reason says so.
void add_profiled(const std::vector<Profile>& profiles, Results& results);

// Of a run that made no profile: that nobody asked for what one would have told.
void leave_unprofiled(Results& results);

}  // namespace holdfast::gate
