// SPDX-License-Identifier: Apache-2.0
// What one `holdfast run` does with each of its suites.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gate/documents/aliases.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/measure/schedule.hpp"

namespace holdfast::gate {

struct Plan {
  std::string device;
  std::string tier;
  std::optional<std::string> filter = {};
  Effort effort = {};
  std::optional<double> budget_seconds = {}, bent_budget_seconds = {};
  std::int64_t unbudgeted_processes = 1;  // processes that the budget never denies
  double timeout_seconds = 0;             // of a case that no run has timed
  bool resume = false;
  std::filesystem::path out = {};
  bool profile = false;                                // in one more process
  std::optional<std::filesystem::path> valgrind = {};  // counts instructions, in up to two more
  std::string uncounted = not_asked_for;               // where there is no valgrind
  std::vector<std::string> custom = {};                // handed on to the suite
  std::optional<std::filesystem::path> beside = {};    // the folder of another build's suites
  Aliases aliases = {};                                // of cases that it calls otherwise

  // What each process is told besides its device and the cases that the filter leaves.
  std::vector<std::string> tier_and_custom() const {
    std::vector<std::string> arguments = {"--tier=" + tier};
    arguments.insert(arguments.end(), custom.begin(), custom.end());
    return arguments;
  }
  std::vector<std::string> chosen() const {
    std::vector<std::string> arguments = tier_and_custom();
    if (filter) arguments.push_back("--filter=" + *filter);
    return arguments;
  }
};

}  // namespace holdfast::gate
