// SPDX-License-Identifier: Apache-2.0
// What all verbs of the real `holdfast` have in common: --quiet, and whether they print colors.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>

#include "gate/testing/fake_build.hpp"
#include "gate/testing/gate_command.hpp"
#include "gate/testing/typed_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A call of each verb, on what leads to colored words wherever the verb has any.
class EveryVerb : public GateCommand {
 protected:
  struct Call {
    std::vector<std::string> arguments = {};
    int code = 0;
    bool colored = false;
  };

  void SetUp() override {
    GateCommand::SetUp();
    // Three runs at either level are the fewest that make a drift.
    for (int day = 1; day <= 6; ++day) {
      Results now = toy::dry();
      now.run.utc = text("2026-11-1", day, "T12:00:00Z");
      now.run.content = text("sha256:", day);
      store(now, "optimized", "launches", toy::exact(day <= 3 ? 4 : 8));
      ASSERT_EQ(holdfast({"history", "append", results_.string(), "--store=" + in("history")}), 0)
          << complaints_;
    }
    std::filesystem::rename(results_, in("before"));
    measured_anew(toy::dry(), "optimized", "launches", toy::exact(5));
    toy::fake_build(in("base"), 1e-3);
    toy::fake_build(in("head"), 1.1e-3);
    std::set<std::string> verbs;
    for (const auto& [verb, made] : calls_) verbs.insert(verb);
    ASSERT_EQ(verbs, verbs_of_help()) << "a new verb has a row here, too";
  }

  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }

  std::set<std::string> verbs_of_help() {
    EXPECT_EQ(holdfast({"--help"}), 0);
    const std::string heading = "\ncommands:\n";
    std::istringstream lines(output_.substr(output_.find(heading) + heading.size()));
    std::set<std::string> verbs;
    for (std::string line; std::getline(lines, line) && !line.empty();) {
      std::string verb;
      std::istringstream(line) >> verb;
      verbs.insert(verb);
    }
    return verbs;
  }

  Outcome called(const std::string& verb, const std::vector<std::string>& options) const {
    return run_task({.program = HOLDFAST_BINARY,
                     .arguments = toy::joined({verb}, calls_.at(verb).arguments, options),
                     .environment = environment_,
                     .timeout_seconds = 60});
  }
  std::string seen(const std::string& verb, const std::string& no_color) const {
    const std::vector<std::string> quiet = {"--quiet"};  // progress rewrites its line
    return toy::on_a_terminal(toy::joined({verb}, calls_.at(verb).arguments, quiet), no_color,
                              environment_);
  }
  static bool is_colored(const std::string& output) {
    return output.find("\033[0m") != std::string::npos;
  }

  // A case that fails, for `run`, and a finding of `doctor` that is not well.
  const std::map<std::string, std::string> environment_ = {{"FAKE_SUITE", "wrong"},
                                                           {"HOLDFAST_PRECEDENCE", "none"},
                                                           {"HOLDFAST_REQUIRE", ""},
                                                           {"HOLDFAST_SOURCES", ""}};
  const std::string baselines_option_ = "--baselines=" + baselines_.string();
  const std::map<std::string, Call> calls_ = {
      {"ab",
       {.arguments = {in("base/fake_suite"), in("head/fake_suite"), "--filter=add", "--unit=0.001",
                      "--real-time", "--budget=0.000001"},
        .code = 4,
        .colored = true}},
      {"baseline", {.arguments = {"show", baselines_option_}}},
      {"check",
       {.arguments = toy::joined({results_.string()}, stores()), .code = 1, .colored = true}},
      {"diff", {.arguments = {in("before"), results_.string()}, .code = 1, .colored = true}},
      {"doctor", {.arguments = {baselines_option_}, .colored = true}},
      {"explain",
       {.arguments = toy::joined({toy::step_id, results_.string()}, stores()), .colored = true}},
      {"export", {.arguments = {results_.string(), "--format=bmf"}}},
      {"history", {.arguments = {"append", results_.string(), "--store=" + in("appended")}}},
      {"list", {.arguments = {"--bin-dir=" + lists_.string()}}},
      {"policy", {.arguments = toy::joined({toy::step_id}, stores())}},
      {"profile",
       {.arguments = {FAKE_SUITE_BINARY, "fake_suite/add/n:8/f64", "--device=host",
                      "--out=" + in("profile")}}},
      {"run",
       {.arguments = {FAKE_SUITE_BINARY, "--device=host", "--processes=1", "--out=" + in("run")},
        .colored = true}},
      {"trend",  // where nothing is accepted, so that it tells a drift from the first run
       {.arguments = {"--store=" + in("history"), "--baselines=" + in("none")}, .colored = true}}};
};

TEST_F(EveryVerb, TakesQuietAndPrintsNoEscapeSequenceWhereNoColorIsWanted) {
  for (const auto& [verb, made] : calls_) {
    const Outcome outcome = called(verb, {"--quiet", "--color=never"});
    EXPECT_EQ(outcome.code, made.code) << verb << ": " << outcome.complaints;
    EXPECT_THAT(outcome.output + outcome.complaints, Not(HasSubstr("\033"))) << verb;
  }
}

TEST_F(EveryVerb, HasItsColorsWhereTheyAreAlwaysWanted) {
  for (const auto& [verb, made] : calls_) {
    const Outcome outcome = called(verb, {"--color=always"});
    EXPECT_EQ(outcome.code, made.code) << verb << ": " << outcome.complaints;
    EXPECT_EQ(is_colored(outcome.output), made.colored) << verb << ": " << outcome.output;
  }
}

TEST_F(EveryVerb, HasItsColorsOnATerminalUnlessNoColorIsSet) {
  for (const auto& [verb, made] : calls_) {
    EXPECT_EQ(is_colored(seen(verb, "")), made.colored) << verb;
    EXPECT_THAT(seen(verb, "1"), Not(HasSubstr("\033"))) << verb;
  }
}

TEST_F(EveryVerb, TellsBothOptionsInItsHelpAndRefusesAColorThatIsNone) {
  for (const auto& [verb, made] : calls_) {
    EXPECT_THAT(called(verb, {"--help"}).output,
                AllOf(HasSubstr("\n  --quiet "), HasSubstr("\n  --color=WHEN ")))
        << verb;
    const Outcome outcome = called(verb, {"--color=red"});
    EXPECT_EQ(outcome.code, 2) << verb;
    EXPECT_THAT(outcome.complaints, HasSubstr("--color=red: give auto, always or never")) << verb;
  }
}

class EveryReader : public GateCommand {
 protected:
  // The calls of the verbs that read results without judging them.
  std::vector<std::vector<std::string>> reading(const std::string& root) const {
    return {{"diff", root, whole_},
            {"diff", whole_, root},
            {"export", root, "--format=bmf"},
            {"explain", toy::step_id, root, "--against=" + whole_},
            {"explain", toy::step_id, whole_, "--against=" + root},
            {"history", "append", root, "--store=" + (folder_.path() / "history").string()},
            toy::joined({"check", whole_, "--again=" + root}, stores())};
  }
  const std::string whole_ = (folder_.path() / "whole").string();
};

// Else the copy would stand for the class that it is a copy of.
TEST_F(EveryReader, RefusesACopyBesideItsClass) {
  accepted(toy::dry());
  store_in(whole_, toy::dry());
  std::filesystem::copy(results_ / "cuda-dry-sm_90", results_ / "old");
  for (const auto& call : reading(results_.string()))
    expect_complaint(holdfast(call), 2, HasSubstr("and its folder says 'old'"));
  EXPECT_EQ(check(), 2);
}

TEST_F(EveryReader, NamesTheRootAboveTheFolderOfADeviceClass) {
  accepted(toy::dry());
  store_in(whole_, toy::dry());
  for (const auto& call : reading((results_ / "cuda-dry-sm_90").string()))
    expect_complaint(holdfast(call), 3, HasSubstr("give the one above it: " + results_.string()));
}

}  // namespace
}  // namespace holdfast::gate
