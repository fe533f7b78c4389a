// SPDX-License-Identifier: Apache-2.0
// For tests: the gate as a user meets it, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "harness/shell.hpp"

namespace holdfast::planted {

// `run` into a folder, `baseline accept` once, `check` after each change.
class Gate {
 public:
  Gate(std::string suite, std::string device, const std::filesystem::path& folder,
       const std::filesystem::path& policy = HOLDFAST_POLICY)
      : suite_(std::move(suite)), device_(std::move(device)), folder_(folder), policy_(policy) {}

  // `environment` is what stands before a command in a shell, "NAME=value".
  Said measure(const std::string& environment, const std::string& results) const {
    return run("env " + environment + " " HOLDFAST_BINARY " run " + suite_ +
               " --device=" + device_ + " --out=" + (folder_ / results).string());
  }
  // `lists` are where the suite is in no build of its own: beside the gate.
  Said accept(const std::string& results, const std::filesystem::path& lists = {}) const {
    return run(HOLDFAST_BINARY " baseline accept " + (folder_ / results).string() + judged_by() +
               (lists.empty() ? "" : " --lists=" + lists.string()) + " --why='as built'");
  }
  Said check(const std::string& results, const std::string& more = "") const {
    return run(HOLDFAST_BINARY " check " + (folder_ / results).string() + judged_by() + ' ' + more);
  }

 private:
  std::string suite_, device_;
  std::filesystem::path folder_, policy_;
  std::string judged_by() const {
    return " --baselines=" + (folder_ / "baselines").string() + " --policy=" + policy_.string();
  }
};

// A suite that was accepted as it was built, once for all tests of a fixture.
class Planted : public testing::Test {
 protected:
  static void accept_as_built(const std::string& suite, const std::string& device,
                              const std::string& folder) {
    gate = std::make_unique<Gate>(suite, device, fresh_folder(folder));
    const Said measured = gate->measure("HOLDFAST_PLANT=", "unplanted");
    ASSERT_EQ(measured.exit, 0) << measured.words;
    const Said accepted = gate->accept("unplanted");
    ASSERT_EQ(accepted.exit, 0) << accepted.words;
  }
  static void TearDownTestSuite() { gate.reset(); }

  static Said judge(const std::string& plant) {
    const Said measured = gate->measure("HOLDFAST_PLANT=" + plant, plant);
    EXPECT_EQ(measured.exit, 0) << measured.words;
    return gate->check(plant);
  }
  static inline std::unique_ptr<Gate> gate = {};
};

}  // namespace holdfast::planted
