// SPDX-License-Identifier: Apache-2.0
// For tests: the real `holdfast` on results that a test writes.
#pragma once

#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {

class GateCommand : public toy::Root {
 protected:
  std::string output_;      // of the last command
  std::string complaints_;  // its standard error

  int holdfast(std::vector<std::string> arguments) {
    const Outcome outcome = run_task(
        {.program = HOLDFAST_BINARY, .arguments = std::move(arguments), .timeout_seconds = 60});
    EXPECT_EQ(outcome.ending, Ending::exited) << outcome.complaints;
    output_ = outcome.output;
    complaints_ = outcome.complaints;
    return outcome.code;
  }

  int check(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"check", results_.string(),
                                          "--baselines=" + baselines_.string(),
                                          "--lists=" + lists_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return holdfast(std::move(arguments));
  }

  int accept(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"baseline", "accept", results_.string(),
                                          "--baselines=" + baselines_.string(),
                                          "--lists=" + lists_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return holdfast(std::move(arguments));
  }

  // Accepts `results`, so that what a test stores afterwards is held against them.
  void accepted(const Results& results) {
    store(results);
    ASSERT_EQ(accept(), 0) << complaints_;
  }

  // git in the test's folder.
  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", folder_.path().string(), "-c", "user.name=t",
                                         "-c", "user.email=t@t"});
    const Outcome outcome =
        run_task({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    ASSERT_EQ(outcome.code, 0) << outcome.complaints;
  }

  std::filesystem::path baseline(const Results& results) const {
    return baselines_ / "devices" / results.env.device_class / "toy.json";
  }

  Verdict verdict() const { return read_verdict(results_ / "verdict.json"); }
};

}  // namespace holdfast::gate
