// SPDX-License-Identifier: Apache-2.0
// For tests: builds of the fake suite that differ in the time of a step.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "gate/base/process.hpp"

namespace holdfast::gate::toy {

// Copies the fake suite into `folder`, with `step_seconds` for a step and, if given, another name
// for its first case.
inline std::filesystem::path fake_build(const std::filesystem::path& folder, double step_seconds,
                                        const std::string& first_case = "") {
  std::filesystem::create_directories(folder);
  const std::filesystem::path binary = folder / "fake_suite";
  std::filesystem::copy_file(FAKE_SUITE_BINARY, binary,
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(binary, std::ios::app | std::ios::binary)
      << "\nstep_seconds=" << step_seconds
      << (first_case.empty() ? "" : "\nfirst_case=" + first_case);
  return binary;
}

}  // namespace holdfast::gate::toy
