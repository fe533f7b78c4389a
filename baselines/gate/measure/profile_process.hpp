// SPDX-License-Identifier: Apache-2.0
// `holdfast run --profile`: one more process, apart from the timed ones, which profiles both
// variants of each case.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {

struct Profiling {
  std::filesystem::path binary;  // of the suite
  std::string device;
  std::vector<std::string> arguments = {};  // tier, filter and options, as for a timed process
  double timeout_seconds = 0;               // between two lines of its progress
  std::filesystem::path answers = {};       // oracle answers from the timed processes
  std::filesystem::path place = {};         // receives the profiles, once they are whole
};

// If it fails a line says why, and the run counts as one without profiles.
void profile_suite(const Profiling& profiling, Progress& progress);

}  // namespace holdfast::gate
