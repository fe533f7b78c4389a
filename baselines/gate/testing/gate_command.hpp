// SPDX-License-Identifier: Apache-2.0
// For tests: the real `holdfast` on results that a test writes.
#pragma once

#include <source_location>

#include "gate/documents/results.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/testing/expect_outcome.hpp"
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

  // Expects how the last command ended, and what it printed.
  template <class Words>
  void expect_output(int code, int expected, const Words& words,
                     std::source_location where = std::source_location::current()) const {
    gate::expect_output({.code = code, .output = output_, .complaints = complaints_}, expected,
                        words, where);
  }
  template <class Words>
  void expect_complaint(int code, int expected, const Words& words,
                        std::source_location where = std::source_location::current()) const {
    gate::expect_complaint({.code = code, .output = output_, .complaints = complaints_}, expected,
                           words, where);
  }

  // The options that name what is accepted and what the build lists.
  std::vector<std::string> stores() const {
    return {"--baselines=" + baselines_.string(), "--lists=" + lists_.string()};
  }

  int check(const std::vector<std::string>& more = {}) {
    return holdfast(toy::joined({"check", results_.string()}, stores(), more));
  }

  int accept(const std::vector<std::string>& more = {}) {
    return holdfast(toy::joined({"baseline", "accept", results_.string()}, stores(), more));
  }

  // Accepts `results`, so that what a test stores afterwards is held against them.
  void accepted(const Results& results) {
    store(results);
    ASSERT_EQ(accept(), 0) << complaints_;
  }

  // Accepts `results`, and then stores another run of them as `change` leaves it.
  template <class... Change>
  void measured_anew(Results results, const Change&... change) {
    accepted(results);
    results.run.id = "2026-11-22T12:00:00Z-0001";
    store(results, change...);
  }

  // With the list as it is measured now, which a build would print so.
  void store_as_listed(Results results, const List& listed) {
    const std::string printed = canonical(to_json(listed));
    results.list_hash = sha256(printed);
    store(results);
    write_file(result_path(results).parent_path() / "toy.list.json", printed);
    write_file(lists_ / "toy.list.json", printed);
  }

  // What cases were called before, `"old": "new"`, and why.
  void aliases(const std::string& members, const std::string& why = "") const {
    write_file(baselines_ / "aliases.json",
               text(R"({"schema": "holdfast-aliases/1", "aliases": {)", members, "}",
                    why.empty() ? "" : R"(, "why": {)" + why + "}", "}\n"));
  }

  // Runs git in the test's folder, without sample hooks and background maintenance.
  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"git", "-C", folder_.path().string(), "-c", "user.name=t", "-c",
                      "user.email=t@t", "-c", "init.templateDir=", "-c", "maintenance.auto=false"});
    const Outcome outcome =
        run_task({.program = "/usr/bin/env", .arguments = std::move(arguments)});
    ASSERT_EQ(outcome.code, 0) << outcome.complaints;
  }

  // Commits the baselines as the state that a change starts from.
  void commit_baselines() const {
    git({"init", "-q", "-b", "main"});
    git({"add", "baselines"});
    git({"commit", "-q", "-m", "base"});
  }

  std::filesystem::path baseline(const Results& results) const {
    return baselines_ / "devices" / results.env.device_class / "toy.json";
  }

  // Its baseline in the format before, in which each entry repeated its origin.
  void store_older_baseline(const Results& of) const {
    nlohmann::json file = nlohmann::json::parse(read_file(baseline(of)));
    file["schema"] = "holdfast-baseline/1";
    for (auto& [key, entry] : file["entries"].items()) {
      entry["accepted"] = file["acceptances"][entry["by"].get<std::string>()];
      entry["accepted"]["previous"] = nullptr;
      entry.erase("by");
    }
    for (const char* newer : {"acceptances", "bounded", "limits", "metrics"}) file.erase(newer);
    write_file(baseline(of), canonical(file));
  }

  Verdict verdict() const { return read_verdict(results_ / "verdict.json"); }
};

}  // namespace holdfast::gate
