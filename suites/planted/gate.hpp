// SPDX-License-Identifier: Apache-2.0
// For tests: the gate as a user meets it, in a folder of the test's own.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "harness/shell.hpp"

namespace holdfast::planted {

// `run` into a folder, `baseline accept` once, `check` after each change.
class Gate {
 public:
  Gate(std::string suite, std::string device, const std::filesystem::path& folder)
      : suite_(std::move(suite)), device_(std::move(device)), folder_(folder) {}

  // `environment` is what stands before a command in a shell, "NAME=value".
  Said measure(const std::string& environment, const std::string& results) const {
    return run("env " + environment + " " HOLDFAST_BINARY " run " + suite_ +
               " --device=" + device_ + " --out=" + (folder_ / results).string());
  }
  Said accept(const std::string& results) const {
    return run(HOLDFAST_BINARY " baseline accept " + (folder_ / results).string() + judged_by() +
               " --why='as built'");
  }
  Said check(const std::string& results) const {
    return run(HOLDFAST_BINARY " check " + (folder_ / results).string() + judged_by());
  }

 private:
  std::string suite_, device_;
  std::filesystem::path folder_;
  std::string judged_by() const {
    return " --baselines=" + (folder_ / "baselines").string() + " --policy=" HOLDFAST_POLICY;
  }
};

}  // namespace holdfast::planted
