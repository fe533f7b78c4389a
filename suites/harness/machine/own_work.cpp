// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/own_work.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/time.hpp"
#include "harness/machine/kept_awake.hpp"

namespace holdfast {

std::vector<pid_t> working_threads() {
  std::vector<pid_t> keeping, working;
  for (const Keepers* keepers : all_keepers())
    for (const pid_t thread : keepers->threads()) keeping.push_back(thread);
  std::error_code absent;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", absent)) {
    const std::string number = thread.path().filename();
    pid_t id = 0;
    std::from_chars(number.data(), number.data() + number.size(), id);
    if (std::ranges::find(keeping, id) == keeping.end()) working.push_back(id);
  }
  return working;
}

// Reading each keeper first brings its count up to date, which the process's clock then includes.
double working_cpu_seconds() {
  double keeping = 0;
  for (const Keepers* keepers : all_keepers()) keeping += keepers->cpu_seconds();
  return process_cpu_seconds() - keeping;
}

}  // namespace holdfast
