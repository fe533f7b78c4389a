// SPDX-License-Identifier: Apache-2.0
// For tests: the real `holdfast` on a suite that behaves, or misbehaves, as FAKE_SUITE says.
#pragma once

#include "gate/base/process.hpp"
#include "gate/testing/arguments.hpp"
#include "gate/testing/expect_outcome.hpp"

namespace holdfast::gate {

class FakeSuiteCommand : public testing::Test {
 protected:
  TemporaryFolder folder_{"fake-suite-test"};
  std::filesystem::path results_ = folder_.path() / "results";
  std::filesystem::path kept_ = results_ / "host-fake-1t";  // results of what ran well

  using Variables = std::map<std::string, std::string>;

  static Outcome holdfast(const std::string& behaviour, std::vector<std::string> arguments,
                          Variables environment = {}) {
    environment.merge(Variables{{"FAKE_SUITE", behaviour}, {"HOLDFAST_SOURCES", ""}});
    return run_task({.program = HOLDFAST_BINARY,
                     .arguments = std::move(arguments),
                     .environment = std::move(environment),
                     .timeout_seconds = 60});
  }
  Outcome run(const std::string& behaviour, const std::vector<std::string>& more,
              const Variables& environment = {}) const {
    return holdfast(
        behaviour,
        toy::joined({"run", FAKE_SUITE_BINARY, "--device=host", "--out=" + results_.string()},
                    more),
        environment);
  }
};

}  // namespace holdfast::gate
