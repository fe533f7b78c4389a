// SPDX-License-Identifier: Apache-2.0
// The real `holdfast run --beside` and `check --confirm` on two builds of the fake suite: what a
// change is compared with if no times were ever accepted.
#include <gmock/gmock.h>

#include <csignal>
#include <set>
#include <sstream>

#include "gate/commands/check/allowance.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/testing/fake_build.hpp"
#include "gate/testing/fake_suite_command.hpp"
#include "gate/testing/toy_root.hpp"
#include "gate/testing/typed_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

constexpr const char* plain_policy = R"({"schema": "holdfast-policy/1",
 "kinds": {"exact": {"gate": "block", "tolerance": 0},
           "ratio": {"gate": "block", "tolerance": 0.05},
           "time": {"gate": "warn", "tolerance": 0.05},
           "advisory": {"gate": "off"}},
 "metrics": {}, "rules": [], "waivers": []}
)";

class Beside : public FakeSuiteCommand {
 protected:
  const fs::path base_ = folder_.path() / "base", head_ = folder_.path() / "a longer name";
  const fs::path baselines_ = folder_.path() / "baselines";
  const fs::path head_side_ = kept_ / "fake_suite.json", side_ = kept_ / "base" / "fake_suite.json";
  using Change = std::function<void(Results&)>;

  void SetUp() override {
    fs::create_directories(baselines_ / "policy");
    write_file(baselines_ / "policy" / "common.json", plain_policy);
  }
  static void build(const fs::path& folder, double step_seconds, const std::string& content,
                    const std::string& first_case = "") {
    const fs::path binary = toy::fake_build(folder / "bin", step_seconds, first_case);
    const Outcome listed = run_task({.program = binary, .arguments = {"--list=json"}});
    write_file(folder / "bin" / "fake_suite.list.json", listed.output);
    write_file(
        folder / "bin" / "content.json",
        text(R"({"content": "sha256:)", content, R"(", "git": {"dirty": false, "sha": null}})"));
  }
  void builds(double head_seconds) const {
    build(base_, 1e-3, "ba5e");
    build(head_, head_seconds, "4ead");
  }
  Outcome measure(const std::string& behaviour = "ok",
                  const std::vector<std::string>& more = {}) const {
    const Outcome outcome =
        holdfast(behaviour,
                 toy::joined({"run", "fake_suite", "--device=host",
                              "--bin-dir=" + (head_ / "bin").string(), "--beside=" + base_.string(),
                              "--baselines=" + baselines_.string(), "--out=" + results_.string()},
                             more));
    for (const fs::path& side : {head_side_, side_})
      if (fs::exists(side)) change(side, calm);
    return outcome;
  }
  void measured(double head_seconds) const {
    builds(head_seconds);
    ASSERT_EQ(measure().code, 0);
  }
  // Changes what was measured.
  static void change(const fs::path& file, const Change& how) {
    Results results = read_results(file);
    how(results);
    write_file(file, canonical(to_json(results)));
  }
  // A run of some milliseconds is invalid where a hypervisor kept a CPU for a few of them.
  static void calm(Results& results) {
    Quality& quality = results.quality;
    std::erase_if(quality.reasons,
                  [](const std::string& why) { return why.find(" % of the run, ") != why.npos; });
    quality.valid = quality.reasons.empty();
  }
  static void crash(Results& results) {
    results.cases[0].status = "crashed";
    results.cases[0].reason = "it fell";
  }
  Outcome check(const std::vector<std::string>& more = {}) const {
    return holdfast("one_clock",
                    toy::joined({"check", results_.string(), "--lists=" + (head_ / "bin").string(),
                                 "--baselines=" + baselines_.string()},
                                more));
  }
  // The suite answers at once, whatever it is given.
  Outcome confirm() const {
    return check({"--confirm=" + base_.string(), "--budget=20", "--unit=0.001"});
  }
  Outcome accept() const {
    return holdfast("ok",
                    {"baseline", "accept", results_.string(), "--lists=" + (head_ / "bin").string(),
                     "--baselines=" + baselines_.string()});
  }
  void policy_with(const std::string& from, const std::string& to) const {
    write_file(baselines_ / "policy" / "common.json", toy::replaced(plain_policy, from, to));
  }
  void bound_of_launches() const {
    policy_with(R"("rules": [])", R"("rules": [{"match": "fake_suite/add/**", "metric": "launches",
                                                "bound": {"max": 1, "source": "a target"}}])");
  }
  Row row(const std::string& metric = "time_s") const {
    for (const Row& row : read_verdict(results_ / "verdict.json").rows)
      if (row.metric == metric) return row;
    throw Error(Fault::bad_input, "no such row");
  }
};

TEST_F(Beside, BothSidesAreKept) {
  measured(2e-3);
  const Results head = read_results(head_side_), base = read_results(side_);
  EXPECT_EQ(base.run.id, head.run.id);
  EXPECT_EQ(base.run.content, "sha256:ba5e");
  EXPECT_EQ(head.run.content, "sha256:4ead");
  EXPECT_EQ(head.run.binary, sha256(read_file(head_ / "bin" / "fake_suite")));
  EXPECT_EQ(base.run.binary, sha256(read_file(base_ / "bin" / "fake_suite")));
  EXPECT_EQ(base.list_hash, sha256(read_file(kept_ / "base" / "fake_suite.list.json")));
  const auto times = [](const Results& results) {
    return results.cases[0].variants.at("optimized").metrics.at("time_s").processes;
  };
  EXPECT_THAT(times(base), testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(times(head), testing::ElementsAre(2, 4, 6, 8, 10));
}

TEST_F(Beside, BothSidesTellOfTheMachine) {
  builds(1e-3);
  ASSERT_EQ(measure("ok", {"--processes=1"}).code, 0);
  for (const fs::path& side : {head_side_, side_}) {
    const Quality quality = read_results(side).quality;
    EXPECT_TRUE(quality.load.has_value()) << side;
    EXPECT_TRUE(quality.others_fraction.has_value()) << side;
  }
}

TEST_F(Beside, ProcessesRunInPairsFromPathsOfOneLengthAndEitherBuildBeginsSome) {
  builds(2e-3);
  const fs::path log = folder_.path() / "log";
  ::setenv("FAKE_LOG", log.c_str(), 1);
  const int code = measure("ok", {"--processes=30"}).code;
  ::unsetenv("FAKE_LOG");
  ASSERT_EQ(code, 0);
  std::istringstream lines(read_file(log));
  std::set<std::string> began;
  for (int pair = 0; pair < 30; ++pair) {
    std::string one, other;
    std::getline(lines, one);
    std::getline(lines, other);
    EXPECT_NE(one, other);
    EXPECT_EQ(one.size(), other.size());
    began.insert(one);
  }
  EXPECT_EQ(began.size(), 2u);
}

TEST_F(Beside, ARunThatWasStoppedGoesOnWithBothSides) {
  builds(2e-3);
  EXPECT_EQ(measure("stop_in_case_later").signal, SIGTERM);
  EXPECT_FALSE(fs::exists(side_)) << "of half a run";
  expect_complaint(measure("ok", {"--resume"}), 0,
                   HasSubstr("goes on with what an interrupted run left"));
  for (const fs::path& file : {head_side_, side_})
    for (const CaseResult& one : read_results(file).cases) {
      EXPECT_EQ(one.status, "ok") << file << one.reason.value_or("");
      EXPECT_THAT(one.variants.at("optimized").metrics.at("time_s").processes, testing::SizeIs(5));
    }
}

TEST_F(Beside, AProcessOfTheBaseThatTookItsDeviceCodeFromElsewhereIsTold) {
  builds(1e-3);
  EXPECT_EQ(measure("stop_in_case_later").signal, SIGTERM);
  const fs::path left = results_ / ".unfinished/fake_suite.host/base/process-1.json";
  write_file(left,
             toy::replaced(read_file(left), R"("run": {)", R"("run": {"sources": "/elsewhere", )"));
  EXPECT_EQ(measure("ok", {"--resume"}).code, 0);
  EXPECT_EQ(read_results(side_).run.sources, "/elsewhere");
  EXPECT_TRUE(read_results(side_).run.git_dirty);
}

TEST_F(Beside, ABaseThatFallsLeavesTheHeadItsResults) {
  builds(1e-3);
  expect_complaint(measure("falls_as_base"), 0, HasSubstr("no values of the base are kept"));
  EXPECT_EQ(read_results(head_side_).cases[0].status, "ok");
  EXPECT_FALSE(fs::exists(side_));
}

TEST_F(Beside, WhatABaseLostIsToldAndNotCalledWell) {
  builds(1e-3);
  ASSERT_EQ(measure("falls_as_base").code, 0);
  expect_output(
      confirm(), 0,
      AllOf(HasSubstr("fake_suite on host-fake-1t: beside the base, which brought no result"),
            HasSubstr("passed; not all was held against the base")));
  ASSERT_EQ(measure().code, 0);
  change(side_, crash);
  ASSERT_EQ(accept().code, 0);
  EXPECT_THAT(
      confirm().output,
      AllOf(HasSubstr("fake_suite/add/n:8/f64 on host-fake-1t: beside the "
                      "base, which lost it (crashed): it fell"),
            HasSubstr("passed; not all was held against the base"), Not(HasSubstr("(well)"))));
}

TEST_F(Beside, WhatABaseHadWrongIsToldAndHoldsNothing) {
  measured(1e-3);
  change(side_, [](Results& side) { side.cases[0].check.error = 1; });
  ASSERT_EQ(accept().code, 0);
  const Outcome checked = confirm();
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("beside the base, which was wrong or was not verified"),
                    HasSubstr("passed; not all was held against the base")));
  for (const Row& row : read_verdict(results_ / "verdict.json").rows)
    EXPECT_FALSE(row.case_id == "fake_suite/add/n:8/f64" && row.standard == held_against::beside)
        << row.sentence;
}

TEST_F(Beside, ABaseThatWasMeasuredInVainIsNothingToBeHeldAgainst) {
  builds(1.5e-3);
  ASSERT_EQ(measure("shared_as_base").code, 0);
  EXPECT_FALSE(read_results(side_).quality.valid);
  EXPECT_TRUE(read_results(head_side_).quality.valid);
  expect_output(
      confirm(), 0,
      AllOf(HasSubstr("in the base beside it is invalid (other processes computed"),
            HasSubstr("4 of 4 values not gated here"), HasSubstr("--beside=" + base_.string())));
  EXPECT_EQ(check({"--confirm=" + base_.string(), "--require-baseline"}).code, 3);
  EXPECT_EQ(row().verdict, verdict::environment);
  EXPECT_EQ(row("launches").verdict, verdict::fresh);
}

TEST_F(Beside, ARunAloneLeavesNoSideOfAnOlderOne) {
  measured(1e-3);
  ASSERT_TRUE(fs::exists(side_));
  ASSERT_EQ(holdfast("ok", {"run", (head_ / "bin" / "fake_suite").string(), "--device=host",
                            "--out=" + results_.string()})
                .code,
            0);
  EXPECT_FALSE(fs::exists(side_));
}

TEST_F(Beside, ASlowerBuildFailsWhereNoTimeWasEverAccepted) {
  measured(1.06e-3);
  expect_output(confirm(), 1,
                AllOf(HasSubstr("REGRESSION  fake_suite/add/n:8/f64"), HasSubstr("confirmed)"),
                      HasSubstr("the base beside it")));
  EXPECT_EQ(row().standard, held_against::beside);
  EXPECT_THAT(row().evidence, Contains(Key("A/B")));
}

TEST_F(Beside, AnUnchangedBuildPassesAndItsTimesAreHeld) {
  measured(1e-3);
  expect_output(confirm(), 0,
                AllOf(HasSubstr("2 of 4 values not gated here"),
                      HasSubstr("compared with: 2 values of the base")));
  EXPECT_EQ(row().verdict, verdict::pass);
  EXPECT_EQ(row("launches").verdict, verdict::fresh);
}

// The build, the base and the stores that the caller gave.
TEST_F(Beside, WhatIsProposedMeasuresBothSidesAnew) {
  measured(1e-3);
  bound_of_launches();
  ASSERT_EQ(check({"--confirm=" + base_.string()}).code, 1);
  const std::string told = toy::proposed(row("launches").next.value_or(""), "holdfast policy");
  const Outcome policy = toy::typed(told);
  EXPECT_EQ(policy.code, 0) << told << policy.complaints;
  change(head_side_, crash);
  ASSERT_EQ(check({"--confirm=" + base_.string()}).code, 3);
  const std::string again = toy::proposed(row("").next.value_or(""), "holdfast run");
  const Outcome outcome = toy::typed(again);
  EXPECT_EQ(outcome.code, 0) << again << outcome.complaints;
  EXPECT_TRUE(fs::exists(side_)) << again;
  EXPECT_EQ(read_results(head_side_).cases[0].status, "ok");
}

TEST_F(Beside, WhatIsProposedOfAConfirmedLossExplainsIt) {
  measured(1.3e-3);
  ASSERT_EQ(confirm().code, 1);
  const std::string command = toy::proposed(row().next.value_or(""), "holdfast explain");
  const Outcome told = toy::typed(command);
  EXPECT_EQ(told.code, 0) << command << told.complaints;
  EXPECT_THAT(told.output,
              AllOf(HasSubstr("against the base beside it"), HasSubstr("confirmed: A/B of"),
                    HasSubstr("a step takes 3.9 s instead of 3 s (+30 %)"),
                    Not(HasSubstr("nothing got worse"))));

  measured(1e-3);
  EXPECT_THAT(toy::typed(command).output, Not(HasSubstr("confirmed: A/B of")))
      << "that verdict is on earlier results";
}

TEST_F(Beside, WhatIsProposedAfterAJudgementWithoutTheBaseMeasuresBothAnew) {
  builds(1e-3);
  ASSERT_EQ(measure("ok", {"--filter=add"}).code, 0);
  change(head_side_, crash);
  ASSERT_EQ(check().code, 3);
  const std::string again = toy::proposed(row("").next.value_or(""), "holdfast run");
  const Outcome outcome = toy::typed(again);
  EXPECT_EQ(outcome.code, 0) << again << outcome.complaints;
  EXPECT_EQ(read_results(head_side_).run.filter, "add") << again;
  EXPECT_TRUE(fs::exists(side_)) << again;
}

TEST_F(Beside, TheDoctorTellsTheSmallestLossThatWouldHaveFailed) {
  measured(1e-3);
  ASSERT_EQ(holdfast("ok", {"doctor", "--resolution=" + results_.string()}).code, 3);
  ASSERT_EQ(confirm().code, 0);
  expect_output(holdfast("ok", {"doctor", "--resolution=" + results_.string()}), 0,
                testing::ContainsRegex("5 % +fake_suite/add/n:8/f64 .*against the base"));
  ASSERT_EQ(check().code, 0);
  EXPECT_THAT(holdfast("ok", {"doctor", "--resolution=" + results_.string()}).output,
              HasSubstr("2 cases of 2: no loss of speed fails here"));
}

TEST_F(Beside, TheDoctorListsOnceWhatWasNotMeasuredAndCountsIt) {
  measured(1e-3);
  const std::string id = "fake_suite/add/n:8/f64";
  const std::map<std::string, std::string> words = {{"crashed", "crashed"},
                                                    {"timeout", "timed out"},
                                                    {"missing", "missing"},
                                                    {"skipped", "skipped"},
                                                    {"failed", "wrong"}};
  for (const auto& [status, word] : words) {
    change(head_side_, [&](Results& lost) {
      lost.cases[0].status = status;
      lost.cases[0].reason = "it fell: twice";
    });
    ASSERT_EQ(check().code, status == "failed" ? 1 : 3) << status;
    const std::string told = holdfast("ok", {"doctor", "--resolution=" + results_.string()}).output;
    EXPECT_THAT(told, testing::ContainsRegex(
                          text("none +", id, " +host-fake-1t +- +not measured: ", word)));
    EXPECT_THAT(told, HasSubstr("2 cases of 2: no loss of speed fails here"));
    EXPECT_EQ(told.find(id), told.rfind(id)) << told;
  }
}

TEST_F(Beside, TheDoctorListsACaseThatIsNotInTheResultsBesideOneThatWasHeld) {
  measured(1e-3);
  change(head_side_, [](Results& lost) { lost.cases.erase(lost.cases.begin()); });
  ASSERT_EQ(confirm().code, 3);
  EXPECT_THAT(holdfast("ok", {"doctor", "--resolution=" + results_.string()}).output,
              AllOf(testing::ContainsRegex("none +fake_suite/add/.* not measured: missing"),
                    testing::ContainsRegex("5 % +fake_suite/scale/.* against the base"),
                    HasSubstr("1 case of 2: no loss of speed fails here")));
}

TEST_F(Beside, OfMoreSuspectsThanThePolicyHasComparedTheRestIsTold) {
  policy_with(R"("kinds")", R"("most_suspects": 1, "kinds")");
  measured(1.06e-3);
  expect_output(confirm(), 1,
                AllOf(HasSubstr("not compared: 1 value of fake_suite on "),
                      HasSubstr("1 time beside the base is undecided")));
  std::size_t compared = 0;
  for (const Row& one : read_verdict(results_ / "verdict.json").rows)
    if (one.metric == "time_s") {
      const bool looked_at = one.evidence.contains(confirmation_evidence);
      compared += looked_at;
      EXPECT_EQ(one.verdict, looked_at ? verdict::regression : verdict::noisy);
      EXPECT_TRUE(one.blocking) << one.sentence;
      EXPECT_EQ(one.resolution.has_value(), looked_at) << "a time alone fails nothing";
    }
  EXPECT_EQ(compared, 1u);
}

TEST(Shares, AreAlikeAndWhatOneDoesNotWantTheOthersHave) {
  using testing::ElementsAre;
  EXPECT_THAT(shares(12, {40, 0, 0, 0, 0}), ElementsAre(12, 0, 0, 0, 0));
  EXPECT_THAT(shares(12, {0, 1, 40, 2, 40}), ElementsAre(0, 1, 5, 2, 4));
  EXPECT_THAT(shares(12, {1, 2, 3}), ElementsAre(1, 2, 3));
  EXPECT_THAT(shares(0, {1}), ElementsAre(0));
}

TEST_F(Beside, ALossBelowTheLimitIsComparedAndFound) {
  measured(1.04e-3);
  EXPECT_EQ(confirm().code, 1);
  EXPECT_THAT(row().sentence, HasSubstr("confirmed: A/B of"));
}

// The first case has another name in the base, and its alias leads to the present one.
class BesideARenamedCase : public Beside {
 protected:
  const std::string former_ = "fake_suite/plus/n:8/f64", now_ = "fake_suite/add/n:8/f64";

  void renamed_builds(double head_seconds) const {
    build(base_, 1e-3, "ba5e", former_);
    build(head_, head_seconds, "4ead");
  }
  void alias() const {
    write_file(baselines_ / "aliases.json",
               canonical({{"schema", "holdfast-aliases/1"}, {"aliases", {{former_, now_}}}}));
  }
  static std::vector<std::string> ids(const std::vector<CaseResult>& cases) {
    std::vector<std::string> ids;
    for (const CaseResult& one : cases) ids.push_back(one.id);
    return ids;
  }
};

TEST(FormerNames, AreOfCasesThatTheOtherBuildCallsOtherwiseAndHasNoOtherOfThatName) {
  const Aliases aliases = Aliases::parse(Document("aliases.json",
                                                  R"({"schema": "holdfast-aliases/1",
          "aliases": {"toy/a/n:1": "toy/b/n:1", "toy/b/n:1": "toy/c/n:1", "toy/d/n:1": "toy/e/n:1"}})"));
  List list{.suite = "toy"};
  for (const char* id : {"toy/a/n:1", "toy/d/n:1", "toy/e/n:1", "toy/f/n:1"})
    list.cases.push_back({.id = id, .tier = "gate"});
  const FormerNames names = former_names(list, aliases);
  EXPECT_EQ(names, (FormerNames{{"toy/c/n:1", "toy/a/n:1"}})) << "through all of its renamings";
  EXPECT_EQ(former_name(names, "toy/c/n:1"), "toy/a/n:1");
  EXPECT_EQ(former_name(names, "toy/e/n:1"), "toy/e/n:1");
  EXPECT_EQ(renamed(list, names).cases[0].id, "toy/c/n:1");
  EXPECT_EQ(renamed(list, names).cases[1].id, "toy/d/n:1");
}

TEST_F(BesideARenamedCase, TheBaseMeasuresItByTheNameThatItKnows) {
  alias();
  renamed_builds(2e-3);
  const Outcome outcome = measure("ok", {"--filter=add"});
  ASSERT_EQ(outcome.code, 0) << outcome.complaints;
  const Results base = read_results(side_);
  EXPECT_THAT(ids(base.cases), testing::ElementsAre(now_));
  EXPECT_THAT(base.cases[0].variants.at("optimized").metrics.at("time_s").processes,
              testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(base.list_hash, sha256(read_file(base_ / "bin" / "fake_suite.list.json")));
}

TEST_F(BesideARenamedCase, ALossFails) {
  alias();
  renamed_builds(1.06e-3);
  ASSERT_EQ(measure().code, 0);
  EXPECT_EQ(confirm().code, 1);
  EXPECT_EQ(row().case_id, now_);
  EXPECT_EQ(row().standard, held_against::beside);
  EXPECT_EQ(row().verdict, verdict::regression);
  EXPECT_THAT(row().evidence, Contains(Key("A/B")));
}

TEST_F(BesideARenamedCase, WithoutItsAliasItIsNew) {
  renamed_builds(1e-3);
  ASSERT_EQ(measure().code, 0);
  ASSERT_EQ(confirm().code, 0);
  EXPECT_EQ(row().case_id, now_);
  EXPECT_EQ(row().verdict, verdict::fresh);
  EXPECT_THAT(ids(read_results(side_).cases), Not(Contains(now_)));
}

TEST_F(BesideARenamedCase, WhatIsProposedTellsWhereItsAliasIs) {
  alias();
  renamed_builds(1e-3);
  ASSERT_EQ(measure().code, 0);
  change(head_side_, crash);
  ASSERT_EQ(confirm().code, 3);
  const std::string again = toy::proposed(row("").next.value_or(""), "holdfast run");
  EXPECT_EQ(toy::typed(again).code, 0) << again;
  EXPECT_THAT(ids(read_results(side_).cases), Contains(now_)) << again;
}

TEST_F(Beside, ABaseThatWasCompiledOtherwiseIsToldAndExcusesNothing) {
  measured(1.06e-3);
  EXPECT_THAT(confirm().output, Not(HasSubstr("was compiled otherwise")));
  change(side_, [](Results& side) {
    side.env.flags = "sha256:0f";
    side.env.compiler = "g++ 11";
  });
  expect_output(
      confirm(), 1,
      HasSubstr("was compiled otherwise: by g++ 11, and this build by an unknown one, and "
                "with other flags; what that makes of its times counts as this change's"));
}

// The processes of a build whose step takes 1 ms report 1 s, 2 s, up to 5 s.
class BesideABound : public Beside {
 protected:
  void bound(double most_seconds) const {
    policy_with(R"("rules": [])",
                text(R"("rules": [{"match": "fake_suite/add/**", "variant": "optimized", )",
                     R"("metric": "time_s", "gate": "block", "bound": {"max": )", most_seconds,
                     R"(, "source": "a target"}}])"));
  }
};

TEST_F(BesideABound, WhatProcessesDisagreeAboutIsHeldAgainstTheComparison) {
  bound(4.5);
  measured(1e-3);
  EXPECT_EQ(check().code, 4);
  EXPECT_EQ(confirm().code, 0);
  EXPECT_EQ(row().standard, held_against::bound);
  EXPECT_THAT(row().sentence,
              AllOf(HasSubstr("1 of 5 processes is beyond it"), HasSubstr("refuted by A/B of")));
}

TEST_F(BesideABound, AComparisonThatFindsALossFails) {
  bound(4.9);
  measured(1.06e-3);
  EXPECT_EQ(confirm().code, 1);
}

TEST_F(BesideABound, AComparisonThatFindsALossFailsThoughOtherLossesOnlyWarn) {
  policy_with(R"("rules": [])", R"("rules": [
    {"match": "fake_suite/add/**", "metric": "time_s", "gate": "warn"},
    {"match": "fake_suite/add/**", "variant": "optimized", "metric": "time_s", "gate": "block",
     "bound": {"max": 4.9, "source": "a target"}}])");
  measured(1.06e-3);
  EXPECT_EQ(confirm().code, 1);
}

TEST_F(BesideABound, AComparisonThatClearsALossLeavesTheBoundUndecided) {
  bound(2.5);
  measured(1e-3);
  change(side_, [](Results& side) {
    Metric& time = side.cases[0].variants.at("optimized").metrics.at("time_s");
    for (double& seconds : time.processes) seconds /= 2;
    time.median = *time.median / 2;
    time.mad_between = *time.mad_between / 2;
  });
  EXPECT_EQ(
      check({"--confirm=" + base_.string(), "--budget=20", "--unit=0.001", "--undecided=warn"})
          .code,
      0);
  EXPECT_EQ(row().verdict, verdict::noisy);
  EXPECT_EQ(row().standard, held_against::bound);
  EXPECT_THAT(row().sentence, HasSubstr("3 of 5 processes are beyond it"));
  EXPECT_THAT(row().evidence, Contains(Key(confirmation_evidence)));
}

TEST_F(BesideABound, AValueBeyondItIsExcusedByNoComparison) {
  bound(3.03);
  measured(1.02e-3);
  EXPECT_EQ(confirm().code, 4);
}

TEST_F(BesideABound, WhereTheBaseIsBeyondItTooItWarns) {
  bound(2.5);
  measured(1e-3);
  EXPECT_EQ(check().code, 4) << "nothing stands beside it";
  EXPECT_EQ(confirm().code, 0);
  EXPECT_EQ(row().standard, held_against::bound);
  EXPECT_THAT(row().sentence, HasSubstr("and 3 s in the base beside it, beyond it too"));
}

TEST_F(BesideABound, AnInvalidBaseThatIsBeyondItTooExcusesNothing) {
  bound(2.5);
  measured(1e-3);
  change(side_, [](Results& side) { side.quality.valid = false; });
  EXPECT_EQ(confirm().code, 4);
}

TEST_F(BesideABound, ALossOfWhatIsBeyondItAnywayFails) {
  bound(0.5);
  measured(1.3e-3);
  EXPECT_EQ(confirm().code, 1);
  EXPECT_THAT(row().sentence, HasSubstr("confirmed: A/B of"));
}

TEST_F(Beside, CountsAreHeldAgainstWhatWasAccepted) {
  measured(1e-3);
  ASSERT_EQ(accept().code, 0);
  ASSERT_EQ(confirm().code, 0);
  EXPECT_EQ(row("launches").standard, held_against::accepted);
  EXPECT_EQ(row("time_s").standard, held_against::beside);
  ASSERT_EQ(check().code, 0);
  EXPECT_EQ(row("time_s").standard, held_against::accepted);
}

TEST_F(Beside, ACaseThatTheBaseLacksIsHeldAgainstWhatWasAccepted) {
  measured(1e-3);
  ASSERT_EQ(accept().code, 0);
  change(side_, [](Results& side) { side.cases.erase(side.cases.begin()); });
  EXPECT_EQ(confirm().code, 0);
  std::map<std::string, std::string> standards;
  for (const Row& row : read_verdict(results_ / "verdict.json").rows)
    if (row.metric == "time_s") standards[row.case_id] = row.standard;
  EXPECT_EQ(standards["fake_suite/add/n:8/f64"], held_against::accepted);
  EXPECT_EQ(standards["fake_suite/scale/n:8/f64"], held_against::beside);
}

TEST_F(Beside, WhatWasAcceptedRemainsForTheDistanceFromItsAnchor) {
  measured(1e-3);
  ASSERT_EQ(accept().code, 0);
  build(base_, 1e-2, "ba5e");
  build(head_, 1e-2, "4ead");
  ASSERT_EQ(measure().code, 0);
  EXPECT_EQ(confirm().code, 0);
  EXPECT_EQ(row().standard, held_against::beside);
  EXPECT_EQ(row().verdict, verdict::drift);
  EXPECT_THAT(row().sentence,
              AllOf(HasSubstr("has drifted from its first accepted value, 3 s, to 30 s"),
                    HasSubstr("the base beside it took 30 s")));
}

TEST_F(Beside, ASideOfAnotherRunIsRefused) {
  measured(1e-3);
  const std::string old = read_file(side_);
  ASSERT_EQ(measure().code, 0);
  write_file(side_, old);
  expect_complaint(confirm(), 3,
                   AllOf(HasSubstr("the base's side is of another run"),
                         HasSubstr("--beside=" + base_.string())));
}

TEST_F(Beside, ASideOfAnotherTierClassOrProcessorIsRefused) {
  measured(1e-3);
  const std::string side = read_file(side_);
  const auto expect_refused = [&](const char* because, const Change& spoil) {
    write_file(side_, side);
    change(side_, spoil);
    expect_complaint(confirm(), 3, HasSubstr(because));
  };
  expect_refused("of another tier", [](Results& other) { other.tier = "full"; });
  expect_refused("of another device class",
                 [](Results& other) { other.env.device_class = "host-other"; });
  expect_refused("of another processor",
                 [](Results& other) { other.env.processor = "GenuineIntel-6-207"; });
}

TEST_F(Beside, ASideThatIsGoneIsMissingAndNothingElseTakesItsPlace) {
  measured(1.5e-3);
  const std::string side = read_file(side_);
  fs::remove(side_);
  expect_complaint(
      confirm(), 3,
      AllOf(HasSubstr("whose side is missing"), HasSubstr("--beside=" + base_.string())));

  write_file(side_, side);
  const fs::path list = kept_ / "base" / "fake_suite.list.json";
  write_file(list, read_file(list) + ' ');
  expect_complaint(confirm(), 3, HasSubstr("the base's list is missing, or not the one"));
}

TEST_F(Beside, ASideThatTheResultsDoNotTellOfIsRefused) {
  measured(1.5e-3);
  EXPECT_EQ(read_results(head_side_).run.beside, "sha256:ba5e");
  EXPECT_EQ(read_results(side_).run.beside, std::nullopt);
  change(head_side_, [](Results& head) { head.run.beside = "sha256:0ther"; });
  expect_complaint(confirm(), 3, HasSubstr("of another base than the results tell of"));
}

TEST_F(Beside, ASideOfAnotherBuildThanTheOneThatConfirmsIsRefused) {
  measured(1e-3);
  build(base_, 1e-3, "0ther");
  expect_complaint(confirm(), 3, HasSubstr("measured from other content than"));
}

TEST_F(Beside, ABaseThatWasBuiltByOtherFlagsSinceItWasMeasuredIsRefused) {
  measured(1e-3);
  build(base_, 1.5e-3, "ba5e");
  expect_complaint(confirm(), 3, HasSubstr("measured from another build of its content than"));
}

TEST_F(Beside, AHeadThatWasBuiltByOtherFlagsSinceItWasMeasuredClearsNoSuspect) {
  measured(1.5e-3);
  EXPECT_EQ(confirm().code, 1);
  build(head_, 1e-3, "4ead");
  const Outcome outcome = confirm();
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(row().verdict, verdict::noisy);
  EXPECT_THAT(outcome.output, HasSubstr("measured from another build of its content than"));
}

TEST_F(Beside, ASuiteThatTheBaseDoesNotHaveRunsAlone) {
  builds(1e-3);
  fs::remove(base_ / "bin" / "fake_suite");
  expect_complaint(measure(), 0, HasSubstr("has no suite fake_suite: it runs alone"));
}

TEST_F(Beside, ASuiteWhoseBaseListsInAnotherFormatRunsAlone) {
  builds(1e-3);
  fs::remove(base_ / "bin" / "fake_suite.list.json");
  std::ofstream(base_ / "bin" / "fake_suite")
      << "#!/bin/sh\necho '{\"schema\": \"holdfast-list/0\"}'\n";
  expect_complaint(measure(), 0, HasSubstr("runs alone, and is held against what was accepted"));
  EXPECT_EQ(read_results(head_side_).run.beside, std::nullopt);
}

TEST_F(Beside, ABaseThatCannotListItsCasesIsRefused) {
  builds(1e-3);
  fs::remove(base_ / "bin" / "fake_suite.list.json");
  std::ofstream(base_ / "bin" / "fake_suite") << "#!/bin/sh\nexit 9\n";
  EXPECT_NE(measure().code, 0);
}

TEST_F(Beside, WhatIsMeasuredBesideThisBaseIsNotMeasuredAgain) {
  measured(1e-3);
  EXPECT_THAT(measure("ok", {"--resume"}).complaints, HasSubstr("is measured already"));
  fs::remove(side_);
  EXPECT_THAT(measure("ok", {"--resume"}).complaints, Not(HasSubstr("is measured already")));
  build(base_, 1e-3, "0ther");
  EXPECT_THAT(measure("ok", {"--resume"}).complaints, Not(HasSubstr("is measured already")));
  EXPECT_EQ(read_results(side_).run.content, "sha256:0ther");
}

TEST_F(Beside, ABuildThatIsNotThereIsBadInput) {
  builds(1e-3);
  fs::remove_all(base_);
  expect_complaint(measure(), 2, HasSubstr("--beside="));
}

}  // namespace
}  // namespace holdfast::gate
