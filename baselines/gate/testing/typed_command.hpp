// SPDX-License-Identifier: Apache-2.0
// For tests: a command that was proposed, typed as a person would.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gate/base/process.hpp"

namespace holdfast::gate::toy {

// The first line of `said` that proposes a command which begins so, from there on; else nothing.
inline std::string proposed(const std::string& said, const std::string& beginning) {
  const std::size_t at = said.find(beginning);
  return at == std::string::npos ? "" : said.substr(at, said.find('\n', at) - at);
}

inline Outcome typed(const std::string& command, const std::string& fake_suite = "ok") {
  const std::string here = std::filesystem::path(HOLDFAST_BINARY).parent_path().string();
  return run_task({.program = "/bin/sh",
                   .arguments = {"-c", command},
                   .environment = {{"PATH", here + ":" + std::getenv("PATH")},
                                   {"FAKE_SUITE", fake_suite},
                                   {"HOLDFAST_SOURCES", ""}},
                   .timeout_seconds = 60});
}

}  // namespace holdfast::gate::toy
