// SPDX-License-Identifier: Apache-2.0
// For tests: a command as a person would type it, or see it on a terminal.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gate/base/process.hpp"
#include "gate/base/shown_text.hpp"

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

// Runs a command on a terminal, which `script` provides.
inline std::string on_a_terminal(const std::vector<std::string>& arguments,
                                 const std::string& no_color,
                                 std::map<std::string, std::string> environment = {}) {
  std::string command = HOLDFAST_BINARY;
  for (const std::string& argument : arguments) command += ' ' + shell_word(argument);
  environment["NO_COLOR"] = no_color;
  environment["TERM"] = "xterm";
  return run_task({.program = "/usr/bin/env",
                   .arguments = {"script", "-qec", command, "/dev/null"},
                   .environment = std::move(environment),
                   .timeout_seconds = 60})
      .output;
}

}  // namespace holdfast::gate::toy
