// SPDX-License-Identifier: Apache-2.0
// For tests: the gate as a user meets it, in the test's own folder.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/testing/shell.hpp"

namespace holdfast::planted {

// Changes each file of results in the folder.
template <class Change>
void change(const std::filesystem::path& results, const Change& how) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(results)) {
    if (file.path().extension() != ".json" || file.path().stem().has_extension()) continue;
    nlohmann::json part = nlohmann::json::parse(read(file.path()));
    how(part);
    std::ofstream(file.path()) << part;
  }
}

// A hypervisor that keeps the CPUs, for example, makes a measurement invalid.
inline void make_valid(nlohmann::json& part) {
  part["quality"]["valid"] = true;
}

// Removes the machine's influence from results: every process of a time or a ratio gets their
// median, the latency between threads is fixed, no process was disturbed or shared a core, and the
// measurement is valid, so that they can be accepted and a plant stands out on the noisiest
// machine. `faster` multiplies their speedups: compared with such a base, every measurement is
// suspect.
inline void calm(const std::filesystem::path& results, double faster = 1) {
  const auto settle = [&](nlohmann::json& metrics, std::size_t processes) {
    for (auto& [name, metric] : metrics.items()) {
      const bool bent = name == "shared_fraction" || name == "waited_fraction";
      if (bent && metric["value"].is_number()) metric["value"] = 0;
      if (!metric.contains("processes")) continue;
      const double middle = name == "handover_s" ? 60e-9
                            : name == "speedup"  ? faster * metric.at("median").get<double>()
                                                 : metric.at("median").get<double>();
      metric["processes"] = std::vector<double>(processes, middle);
      metric["median"] = middle;
      metric["mad_between"] = 0;
    }
  };
  change(results, [&](nlohmann::json& part) {
    const auto processes = part.at("run").at("processes").get<std::size_t>();
    make_valid(part);
    for (auto& one : part.at("cases")) {
      settle(one.at("metrics"), processes);
      for (auto& variant : one.at("variants")) settle(variant.at("metrics"), processes);
    }
  });
}

inline void expect_well(const Said& said) {
  ASSERT_EQ(said.exit, 0) << said.words;
}

// Checks a command's exit, and that it says what each of these regular expressions matches.
inline void expect_said(const Said& said, int exit, const std::vector<std::string>& words) {
  EXPECT_EQ(said.exit, exit) << said.words;
  for (const std::string& one : words) EXPECT_THAT(said.words, testing::ContainsRegex(one));
}

// The rules for all suites: the other files name suites that a build of planted ones does not have.
inline std::filesystem::path policy_without_rules(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(HOLDFAST_POLICY "/common.json", folder / "common.json");
  return folder;
}

// `run` into a folder, `baseline accept` once, `check` after each change.
class Gate {
 public:
  Gate(std::string suite, std::string device, const std::filesystem::path& folder,
       const std::filesystem::path& policy = HOLDFAST_POLICY)
      : suite_(std::move(suite)), device_(std::move(device)), folder_(folder), policy_(policy) {}
  const std::filesystem::path& folder() const { return folder_; }

  // `environment` precedes the command in a shell, "NAME=value".
  Said measure(const std::string& environment, const std::string& results,
               const std::string& more = "") const {
    return run("env " + environment + " " HOLDFAST_BINARY " run " + suite_ +
               " --device=" + device_ + " --out=" + (folder_ / results).string() + ' ' + more);
  }
  // `lists`: the folder of the suite's list of cases; empty: the folder of the gate's binary.
  Said accept(const std::string& results, const std::filesystem::path& lists = {}) const {
    return run(HOLDFAST_BINARY " baseline accept " + (folder_ / results).string() + judged_by() +
               (lists.empty() ? "" : " --lists=" + lists.string()) + " --why='as built'");
  }
  Said check(const std::string& results, const std::string& more = "") const {
    // A suite given by its path is in a separate build, with its list.
    const bool elsewhere = suite_.find('/') != suite_.npos && more.find("--lists=") == more.npos;
    const std::filesystem::path own = std::filesystem::path(suite_).parent_path();
    return run(HOLDFAST_BINARY " check " + (folder_ / results).string() + judged_by() +
               (elsewhere ? " --lists=" + own.string() + ' ' : " ") + more);
  }

 private:
  std::string suite_, device_;
  std::filesystem::path folder_, policy_;
  std::string judged_by() const {
    return " --baselines=" + (folder_ / "baselines").string() + " --policy=" + policy_.string();
  }
};

// A suite accepted as it was built, once for all tests of a fixture.
class Planted : public testing::Test {
 protected:
  static void accept_as_built(const std::string& suite, const std::string& device,
                              const std::string& folder) {
    const std::filesystem::path fresh = fresh_folder(folder);
    gate = std::make_unique<Gate>(suite, device, fresh, policy_without_rules(fresh / "policy"));
    expect_well(gate->measure("HOLDFAST_PLANT=", "unplanted"));
    calm(gate->folder() / "unplanted");
    expect_well(gate->accept("unplanted", std::filesystem::path(suite).parent_path()));
  }
  static void TearDownTestSuite() { gate.reset(); }

  static Said judge(const std::string& plant, const std::string& more = "") {
    expect_well(gate->measure("HOLDFAST_PLANT=" + plant, plant, more));
    return gate->check(plant);
  }
  // Checks so what the gate says of a suite with this plant.
  static void expect_found(const std::string& plant, int exit,
                           const std::vector<std::string>& words) {
    SCOPED_TRACE(plant);
    expect_said(judge(plant), exit, words);
  }
  static inline std::unique_ptr<Gate> gate = {};
};

// The gate's sentence about a regression of optimized code on cuda-dry.
inline std::string regression(const std::string& of_case) {
  return "REGRESSION +" + of_case + " +cuda-dry-sm_90 +optimized.*";
}

// The verdict on a suite on the host without a baseline: wrong results need none.
inline Said judged_on_host(const std::string& suite, const std::string& plant) {
  const auto folder = fresh_folder(std::filesystem::path(suite).filename().string() + "_host");
  const Gate gate(suite, "host", folder, policy_without_rules(folder / "policy"));
  expect_well(gate.measure("HOLDFAST_PLANT=" + plant, "results", "--processes=1"));
  return gate.check("results");
}

}  // namespace holdfast::planted
