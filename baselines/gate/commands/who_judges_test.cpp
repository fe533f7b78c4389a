// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check --baseline-ref`: a change is judged by the rules that it found, and what
// it does to them is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class WhoJudges : public GateCommand {
 protected:
  void SetUp() override {
    GateCommand::SetUp();
    if (begun_) {
      constexpr auto how = std::filesystem::copy_options::recursive |
                           std::filesystem::copy_options::overwrite_existing;
      std::filesystem::copy(begun_->path(), folder_.path(), how);
      return;
    }
    accepted(toy::dry());
    begin();
    ASSERT_FALSE(HasFailure());
    begun_ = std::make_unique<TemporaryFolder>("who-judges-test");
    std::filesystem::copy(folder_.path(), begun_->path(), std::filesystem::copy_options::recursive);
  }
  static void TearDownTestSuite() { begun_.reset(); }

  // What is there is the state that the change starts from.
  void begin() {
    if (!std::filesystem::exists(folder_.path() / ".git")) git({"init", "--quiet"});
    git({"add", "--all", "baselines"});
    git({"commit", "--quiet", "--allow-empty", "--message=base"});
  }

  int judge(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"--baseline-ref=HEAD"};
    all.insert(all.end(), more.begin(), more.end());
    return check(all);
  }

  void one_more_launch() {
    Results now = toy::dry();
    toy::metric(now, "optimized", "launches") = toy::exact(5);
    store(now);
  }

  template <class Edit>
  void edit(const Results& of, const Edit& change) {
    Baseline edited = read_baseline(baseline(of));
    change(edited);
    write_file(baseline(of), baseline_text(edited));
  }
  template <class Edit>
  void edit(const Edit& change) {
    edit(toy::dry(), change);
  }

  void policy(const std::string& from, const std::string& to) { spoil(common_policy_, from, to); }

  // What was accepted on the dry device, out of the way of git and behind a link.
  void move_behind_link(const std::filesystem::path& place) {
    const std::filesystem::path there = baselines_ / "stored";
    std::filesystem::rename(place, there);
    std::filesystem::create_symlink(there, place);
  }

  // The toy as a second suite under the name "other": its list, its results, its baseline.
  void add_another_suite() {
    const auto renamed = [](std::string content) {
      for (const auto& [from, to] :
           {std::pair("toy/", "other/"), std::pair("\"toy\"", "\"other\"")})
        for (std::size_t at = content.find(from); at != content.npos; at = content.find(from, at))
          content.replace(at, std::strlen(from), to);
      return content;
    };
    const std::string listed = renamed(toy::list_text());
    Results results = toy::dry();
    results.list_hash = sha256(listed);
    const std::filesystem::path folder = result_path(results).parent_path();
    write_file(lists_ / "other.list.json", listed);
    write_file(folder / "other.list.json", listed);
    write_file(folder / "other.json", renamed(canonical(to_json(results))));
    write_file(baseline(results).parent_path() / "other.json",
               renamed(read_file(baseline(results))));
    begin();
  }

  // With the list as it is measured now, which a build would print so.
  void store_as_listed(Results results, const List& listed) {
    const std::string printed = canonical(to_json(listed));
    results.list_hash = sha256(printed);
    store(results);
    write_file(result_path(results).parent_path() / "toy.list.json", printed);
    write_file(lists_ / "toy.list.json", printed);
  }

 private:
  // What each test of the suite starts from, as the first of them has made it.
  static inline std::unique_ptr<TemporaryFolder> begun_ = {};
};

constexpr const char* launches = "toy/step/n:64/f64|optimized|launches";
constexpr const char* exact_kind = R"("exact": {"gate": "block", "tolerance": 0)";
constexpr const char* no_rules_yet = R"("rules": [)";
constexpr const char* no_waivers = R"("waivers": [])";

TEST_F(WhoJudges, AnUnchangedMeasurementIsWellAndTellsNoChange) {
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("(well)"), Not(HasSubstr("what this change does"))));
}

TEST_F(WhoJudges, AGateThatIsTurnedOffBesideARegressionBlocks) {
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  one_more_launch();
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("rose from 4 to 5"), HasSubstr("gate of launches"),
                             HasSubstr("block -> off"), HasSubstr("LOOSENED")));
}

TEST_F(WhoJudges, AGateThatIsTurnedOffAloneBlocks) {
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("LOOSENED: "));
}

TEST_F(WhoJudges, ALooseningWithItsReasonIsAcceptedAndShown) {
  policy(no_rules_yet,
         R"("rules": [{"match": "toy/step/**", "metric": "launches", "tolerance": 0.5,
                       "why": "the fifth launch reads back"},)");
  one_more_launch();
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the fifth launch reads back"),
                             HasSubstr("0 % -> 50 %")));
  ASSERT_FALSE(verdict().changes.empty());
  EXPECT_FALSE(verdict().changes.front().blocking);
}

TEST_F(WhoJudges, AnOldReasonExcusesNoNewLoosening) {
  policy(
      no_rules_yet,
      R"("rules": [{"match": "toy/step/**", "metric": "launches", "tolerance": 0.1, "why": "known"},)");
  begin();
  policy("0.1", "0.9");
  one_more_launch();
  EXPECT_EQ(judge(), 1);
}

TEST_F(WhoJudges, ABoundThatGoesBlocks) {
  policy(R"("bound": {"max": 64, "source": "a toy's bound"})",
         R"("bound": {"max": 640, "source": "a toy's bound"})");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_,
              AllOf(HasSubstr("bound of launches"), HasSubstr("at most 64 -> at most 640")));
}

TEST_F(WhoJudges, ABoundIsToldInItsUnitAndApartFromTheOneBefore) {
  policy(no_rules_yet,
         R"("rules": [{"match": "toy/**", "metric": "peak_bytes",
                       "bound": {"max": 206569472, "source": "a formula"}},)");
  begin();
  policy("206569472", "406569472");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("at most 206.6 MB -> at most 406.6 MB"));
  policy("406569472", "206569473");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("at most 206.569472 MB -> at most 206.569473 MB"));
}

TEST_F(WhoJudges, ABoundOnASumIsToldInItsUnit) {
  policy(no_rules_yet,
         R"("rules": [{"match": "toy/**", "metric": "launches+peak_bytes",
                       "bound": {"max": 2000000, "source": "a sum's"}},)");
  begin();
  policy("2000000", "3000000");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("bound of launches+peak_bytes"),
                             HasSubstr("at most 2 MB -> at most 3 MB")));
}

TEST_F(WhoJudges, WhatTheRowOfAMetricAllowsIsToldInItsUnit) {
  policy(R"("metrics": {)",
         R"("metrics": {"peak_bytes": {"impossible_above": 2000000, "patch_tolerance": 0.005}, )");
  begin();
  policy("2000000", "3000000");
  policy("0.005", "0.02");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("impossible above of peak_bytes"),
                             HasSubstr(": 2 MB -> 3 MB"), HasSubstr(": 0.5 % -> 2 %")));
}

TEST_F(WhoJudges, ABoundThatIsSplitSaysWhyInItsParts) {
  const std::string whole =
      R"({"match": "toy/step/**", "variant": "optimized", "metric": "launches", )"
      R"("bound": {"max": 64, "source": "a toy's bound"}})";
  const std::string part =
      R"({"match": "toy/step/n:64/*", "variant": "optimized", "metric": "launches", "bound": {"max": 100, "source": "a toy's bound"})";
  policy(whole, part + "}");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("LOOSENED: "));
  policy(part + "}", part + R"(, "why": "the small one launches by itself"})");
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("at most 64 -> at most 100"),
                             HasSubstr("the small one launches by itself")));
}

TEST_F(WhoJudges, ATighterRuleHoldsAtOnce) {
  policy(R"("max": 64)", R"("max": 3)");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("is 4, above the bound of 3"));
}

// Nothing of such a metric is accepted, and no rule need be about it.
TEST_F(WhoJudges, WhatNoHardwareAllowsTheMergeBaseSays) {
  Results now = toy::dry();
  List listed = toy::list();
  for (ListedCase& one : listed.cases) one.devices.at("cuda-dry").push_back("floor_fraction");
  for (CaseResult& result : now.cases)
    result.variants["optimized"].metrics["floor_fraction"] = {.kind = "advisory", .value = 1.5};
  policy(R"("impossible_above": 1.1)", R"("impossible_above": 9)");
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("impossible above of floor_fraction"),
                             HasSubstr("faster than the hardware allows")));
}

TEST_F(WhoJudges, AWaiverIsAcceptedAndShown) {
  policy(
      no_waivers,
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "9999-12-31", "why": "until it is packed"}])");
  one_more_launch();
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("waiver of launches"), HasSubstr("until it is packed")));
}

TEST_F(WhoJudges, AWaiverOfTheMergeBaseThatHasExpiredIsNoError) {
  policy(
      no_waivers,
      R"("waivers": [{"match": "toy/**", "metric": "launches", "until": "2020-01-01", "why": "known"}])");
  begin();
  write_file(common_policy_, toy::policy_text);
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(WhoJudges, AValueThatTheChangeTakesOutBlocksUntilItSaysWhy) {
  Results now = toy::dry();
  List listed = toy::list();
  now.cases.pop_back();
  listed.cases.pop_back();
  Baseline kept = read_baseline(baseline(now));
  std::erase_if(kept.entries, [](const auto& one) { return one.first.starts_with(toy::sum_id); });
  write_file(baseline(now), baseline_text(kept));
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 3);
  EXPECT_THAT(output_, AllOf(HasSubstr("has an accepted value"), HasSubstr("no such case")));
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/sum/**", "metric": "*", "why": "the step does it now"}])");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the step does it now")));
}

TEST_F(WhoJudges, ACaseThatLeavesTheGateTierBlocks) {
  Results now = toy::dry();
  List listed = toy::list();
  now.cases.pop_back();
  listed.cases.back().tier = "full";
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 3);
  EXPECT_THAT(output_, AllOf(HasSubstr("of the tier full, which does not gate"),
                             HasSubstr("its case is of the tier full now")));
  EXPECT_EQ(check(), 3) << "without a merge base the entries are there to tell it";
}

TEST_F(WhoJudges, WhatIsStillListedIsNotRemoved) {
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/sum/**", "metric": "launches", "why": "gone"}])");
  EXPECT_EQ(judge(), 2);
  EXPECT_THAT(complaints_, HasSubstr("'removed' says that launches of toy/sum/n:64/f64 is gone"));
}

TEST_F(WhoJudges, ADirectionThatTurnsBlocksUntilThePolicySaysWhy) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.metrics["launches"].better = Better::higher;
  toy::metric(now, "optimized", "launches") = toy::exact(5);
  Baseline edited = read_baseline(baseline(now));
  edited.metrics["launches"].better = Better::higher;
  write_file(baseline(now), baseline_text(edited));
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 3);
  EXPECT_THAT(output_, AllOf(HasSubstr("rose from 4 to 5"), HasSubstr("says the list")));
}

TEST_F(WhoJudges, AnEditedValueNeedsAReasonOfItsOwn) {
  one_more_launch();
  edit([](Baseline& edited) { edited.entries.at(launches).value = 5.0; });
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("edits the accepted value, and gives no reason of its own"));
}

TEST_F(WhoJudges, NoReasonAndAnOldOneAreNoReason) {
  one_more_launch();
  for (const char* why : {"", " ", "first baseline"}) {
    edit([&](Baseline& edited) {
      Entry& entry = edited.entries.at(launches);
      entry.value = 5.0;
      entry.accepted = {.utc = "2026-11-22T12:00:00Z", .content = "sha256:c1", .why = why};
    });
    EXPECT_EQ(judge(), 1) << why;
    EXPECT_THAT(output_, HasSubstr("gives no reason of its own")) << why;
  }
}

// Change by change: the first edits what nobody measures, the next one profits.
TEST_F(WhoJudges, AWorseValueThatIsMeasuredAsBeforeNeedsAReason) {
  const auto worse = [](const char* why) {
    return [why](Baseline& edited) {
      Entry& entry = edited.entries.at(launches);
      entry.value = 9.0;
      entry.accepted.why = why;
    };
  };
  edit(worse("first baseline"));
  one_more_launch();
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("LOOSENED  accepted value of launches, for toy/step/n:64/f64 "
                                 "optimized on cuda-dry-sm_90: 4 -> 9"));
  edit(worse("it will launch more"));
  EXPECT_EQ(judge(), 1) << "and what is measured is held against what was accepted before";
  store(toy::dry());
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("ACCEPTED  accepted value of launches"));
}

TEST_F(WhoJudges, WhatIsAcceptedForTheBetterNeedsNone) {
  edit([](Baseline& edited) { edited.entries.at(launches).value = 3.0; });
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, Not(HasSubstr("accepted value of launches")));
}

TEST_F(WhoJudges, AWiderSpreadAndALowerAnchorNeedAReason) {
  accepted(toy::host());
  begin();
  const std::string speedup = "toy/step/n:64/f64|case|speedup";
  edit(toy::host(), [&](Baseline& edited) {
    Entry& entry = edited.processors.begin()->second.at(speedup);
    entry.mad_between = 1.2;
    entry.anchor = 3;
  });
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_,
              AllOf(HasSubstr("LOOSENED  accepted anchor of speedup"), HasSubstr("10 -> 3"),
                    HasSubstr("LOOSENED  accepted limit of speedup")));
}

// Each change of those stays below the doubled limit that chance may bring.
TEST_F(WhoJudges, ASpreadThatNoRunShowsNeedsAReason) {
  accepted(toy::host());
  begin();
  const auto widen = [&](const char* why) {
    edit(toy::host(), [&](Baseline& edited) {
      Entry& entry = edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup");
      *entry.mad_between *= 1.9;
      if (why) entry.accepted.why = why;
    });
  };
  widen(nullptr);
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  accepted limit of speedup"));
  begin();
  widen("a noisy neighbour");
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("ACCEPTED  accepted limit of speedup"));
}

// Where runs of several days make the limit, the spread within them still makes that of drift.
TEST_F(WhoJudges, ASpreadThatNoRunShowsNeedsAReasonWhereItIsDriftsAlone) {
  accepted(toy::host());
  const auto edit_speedup = [&](double mad_between) {
    edit(toy::host(), [&](Baseline& edited) {
      Entry& entry = edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup");
      entry.medians = {10, 10.1, 9.9, 10, 10.1};
      entry.accepted.runs = {"2026-11-20T12:00:00Z-0001", "2026-11-20T13:00:00Z-0001",
                             "2026-11-20T14:00:00Z-0001", "2026-11-21T12:00:00Z-0001",
                             "2026-11-21T13:00:00Z-0001"};
      entry.bootstrap = false;
      entry.anchor = 10;
      entry.mad_between = mad_between;
    });
  };
  edit_speedup(0.1);
  begin();
  edit_speedup(5);
  EXPECT_EQ(judge(), 1) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  accepted drift limit of speedup"));
}

TEST_F(WhoJudges, WhatAnotherRunAddsToASpreadNeedsNone) {
  accepted(toy::host());
  begin();
  edit(toy::host(), [&](Baseline& edited) {
    Entry& entry = edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup");
    entry.medians.push_back(10);
    *entry.mad_between *= 1.9;
    entry.accepted.runs.push_back("2026-11-22T12:00:00Z-0001");
  });
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, Not(HasSubstr("LOOSENED")));
}

TEST_F(WhoJudges, ABetterValueLeavesRoomForAWiderLimit) {
  accepted(toy::host());
  begin();
  edit(toy::host(), [&](Baseline& edited) {
    Entry& entry = edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup");
    entry.value = 20.0;
    entry.medians = {20};
    entry.mad_between = 1;
    entry.anchor = 20;
  });
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, Not(HasSubstr("LOOSENED")));
}

TEST_F(WhoJudges, ToolsThatNobodyMeasuredWithExcuseNothing) {
  edit([](Baseline& edited) { edited.fingerprint.nvrtc = "12.9"; });
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, HasSubstr("LOOSENED  tools of devices/cuda-dry-sm_90/toy.json"));
  Results now = toy::dry();
  now.env.nvrtc = "12.9";
  store(now);
  EXPECT_EQ(judge(), 0) << output_;
}

TEST_F(WhoJudges, ARuleThatCoversMoreForAnOldReasonIsALoosening) {
  policy(no_rules_yet, R"("rules": [{"match": "toy/sum/**", "metric": "launches", "tolerance": 0.5,
                                     "why": "the buffer of sum grows"},)");
  begin();
  policy("toy/sum/**", "toy/**");
  one_more_launch();
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  tolerance of launches"));
}

TEST_F(WhoJudges, AnAbsenceThatCoversMoreForAnOldReasonIsALoosening) {
  const std::string absent =
      R"("waivers": [], "absent": [{"metric": "identity", "device": "cuda-dry-*", "reason": "no",
                                    "why": "known"}])";
  policy(no_waivers, absent);
  begin();
  policy(R"("metric": "identity", "device")", R"("metric": "*", "device")");
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  * on cuda-dry-*"));
}

// Screening says the same as before, a comparison in lock step does not.
TEST_F(WhoJudges, WhatAComparisonLetsPassIsPartOfARule) {
  accepted(toy::host());
  begin();
  policy(no_rules_yet, R"("rules": [
  {"match": "toy/**", "metric": "time_s", "gate": "warn"},
  {"match": "toy/**", "device": "host-*", "metric": "speedup", "tolerance": 0.05},)");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("LOOSENED  gate once compared of time_s"),
                             HasSubstr("LOOSENED  tolerance once compared of speedup"),
                             HasSubstr("2 % -> 5 %")));
}

TEST_F(WhoJudges, ReasonsOfWhiteSpaceAreNone) {
  policy(exact_kind, R"("exact": {"why": "  ", "gate": "off", "tolerance": 0)");
  expect_complaint(judge(), 2, HasSubstr("'why' is a reason, and is empty"));
}

TEST_F(WhoJudges, BehindALinkIsNoMergeBase) {
  std::filesystem::rename(baselines_, folder_.path() / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", baselines_);
  expect_complaint(judge(), 2, HasSubstr("is a link, behind which git finds nothing"));
  EXPECT_EQ(check(), 0) << "where no change is judged a link is as good";
}

TEST_F(WhoJudges, BehindALinkBelowIsNoMergeBaseEither) {
  const std::filesystem::path folder = baseline(toy::dry()).parent_path();
  for (const std::filesystem::path& place : {folder.parent_path(), folder, baseline(toy::dry()),
                                             baselines_ / "policy", common_policy_}) {
    move_behind_link(place);
    expect_complaint(judge(), 2, AllOf(HasSubstr(place.string()), HasSubstr("is a link")));
    EXPECT_EQ(check(), 0) << "where no change is judged a link is as good: " << place;
    std::filesystem::remove(place);
    std::filesystem::rename(baselines_ / "stored", place);
  }
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(WhoJudges, ALinkOfTheMergeBaseIsNoneOfItsFiles) {
  const std::filesystem::path folder = baseline(toy::dry()).parent_path();
  for (const std::filesystem::path& place : {folder, baseline(toy::dry()), common_policy_}) {
    move_behind_link(place);
    begin();
    std::filesystem::remove(place);
    std::filesystem::rename(baselines_ / "stored", place);
    expect_complaint(judge(), 2, AllOf(HasSubstr(" at "), HasSubstr("is a link")));
    begin();
  }
  EXPECT_EQ(judge(), 0) << complaints_;
}

TEST_F(WhoJudges, AnotherRepositoryBelowIsNoMergeBase) {
  const std::string folder = baseline(toy::dry()).parent_path();
  git({"init", "--quiet", folder});
  expect_complaint(judge(), 2, AllOf(HasSubstr(folder), HasSubstr("a repository of its own")));
  std::filesystem::remove_all(folder + "/.git");
  const std::string relative = std::filesystem::relative(folder, folder_.path());
  git({"rm", "-r", "--quiet", "--cached", relative});
  git({"update-index", "--add", "--cacheinfo",
       text("160000,", std::string(40, '1'), ',', relative)});
  git({"commit", "--quiet", "--message=a submodule"});
  expect_complaint(judge(), 2, AllOf(HasSubstr(" at "), HasSubstr("a repository of its own")));
}

TEST_F(WhoJudges, ASuiteThatNobodyMeasuresAnyMoreIsMissed) {
  add_another_suite();
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  std::filesystem::remove(results_ / "cuda-dry-sm_90" / "other.json");
  EXPECT_EQ(judge({"--require-baseline"}), 3) << output_;
  EXPECT_THAT(output_, AllOf(HasSubstr("MISSING     other  cuda-dry-sm_90  (blocking)"),
                             HasSubstr("of its class only other suites were measured"),
                             HasSubstr("holdfast run other --device=cuda-dry:sm_90")));
  EXPECT_EQ(judge({"--only=toy"}), 0) << "who asks for one suite knows it: " << output_;
  EXPECT_EQ(judge({"--device=cuda-dry:sm_90"}), 0) << output_;
  EXPECT_EQ(check(), 0) << "nor is it missed where no change is judged: " << output_;
}

TEST_F(WhoJudges, ASuiteWithoutResultsIsGoneWhereThePolicySaysWhy) {
  add_another_suite();
  std::filesystem::remove(results_ / "cuda-dry-sm_90" / "other.json");
  std::filesystem::remove(baseline(toy::dry()).parent_path() / "other.json");
  std::filesystem::remove(lists_ / "other.list.json");
  git({"add", "--all", "baselines"});
  EXPECT_EQ(judge(), 3) << output_;
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "other/**", "metric": "*", "why": "the toy does it now"}])");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the toy does it now")));
}

TEST_F(WhoJudges, AClassThatNobodyMeasuredIsToldAndNotWell) {
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  EXPECT_EQ(judge(), 0) << "another machine has no such processor: " << output_;
  EXPECT_THAT(output_, HasSubstr("(well)"));
  store(toy::host());
  std::filesystem::remove(result_path(toy::dry()));
  EXPECT_EQ(judge(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("passed; toy on cuda-dry-sm_90 not measured here"));
}

TEST_F(WhoJudges, APolicyFileThatIsGoneIsMissedWhoeverNamesTheFolder) {
  write_file(baselines_ / "policy" / "toy.json",
             R"({"schema": "holdfast-policy/1", "rules": [], "waivers": []})");
  begin();
  std::filesystem::remove(baselines_ / "policy" / "toy.json");
  expect_complaint(check(), 3, HasSubstr("toy.json: git's index has the file"));
  expect_complaint(check({"--policy=" + (baselines_ / "policy").string()}), 3,
                   HasSubstr("toy.json: git's index has the file"));
}

TEST_F(WhoJudges, ARepositoryThatGitDoesNotReadHidesNothing) {
  write_file(folder_.path() / ".git" / "HEAD", "junk");
  expect_complaint(check(), 3, AllOf(HasSubstr("git cannot list"), HasSubstr("safe.directory")));
}

TEST_F(WhoJudges, ARuleOfTheMergeBaseThatMatchesNothingIsALoosening) {
  Results now = toy::dry();
  List listed = toy::list();
  for (ListedCase& one : listed.cases) std::erase(one.devices.at("cuda-dry"), "launches");
  for (CaseResult& result : now.cases)
    for (auto& [name, variant] : result.variants) variant.metrics.erase("launches");
  policy(R"(
  {"match": "toy/step/**", "variant": "optimized", "metric": "launches", "bound": {"max": 64, "source": "a toy's bound"}})",
         "");
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 3);
  EXPECT_THAT(output_, HasSubstr("a rule -> matches nothing any more"));
}

TEST_F(WhoJudges, ANewCaseIsJudgedByTheChangesOwnRulesAndListed) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.push_back(listed.cases.front());
  now.cases.push_back(now.cases.front());
  listed.cases.back().id = now.cases.back().id = "toy/new/n:64/f64";
  policy(
      no_rules_yet,
      R"("rules": [{"match": "toy/new/**", "metric": "launches", "bound": {"max": 3, "source": "ours"}},)");
  store_as_listed(now, listed);
  ASSERT_EQ(accept({"--why=a new case"}), 0) << complaints_;
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("toy/new/n:64/f64: none -> judged by this change's own"),
                             HasSubstr("above the bound of 3 (ours)")));
}

TEST_F(WhoJudges, ANewMetricOfAKnownCaseIsJudgedByTheChangesOwnRulesAndListed) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.metrics["barriers"] = {"codegen"};
  listed.metrics["seconds"] = {"advisory"};
  for (ListedCase& one : listed.cases)
    for (const char* metric : {"barriers", "seconds"}) one.devices.at("cuda-dry").push_back(metric);
  for (CaseResult& result : now.cases)
    for (auto& [name, variant] : result.variants) {
      variant.metrics["barriers"] = toy::codegen(2);
      variant.metrics["seconds"] = {.kind = "advisory", .value = 1};
    }
  store_as_listed(now, listed);
  ASSERT_EQ(accept({"--why=barriers are counted"}), 0) << complaints_;
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("barriers, for 2 cases such as toy/step/n:64/f64 on "
                                       "cuda-dry: none -> judged by this change's own rules"),
                             Not(HasSubstr("seconds, for"))));
}

TEST_F(WhoJudges, ARenamedCaseIsHeldToTheRulesOfItsOldName) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = "toy/stride/n:64/f64";
  toy::metric(now, "optimized", "launches") = toy::exact(65);
  write_file(baselines_ / "aliases.json", R"({"schema": "holdfast-aliases/1",
 "aliases": {"toy/step/n:64/f64": "toy/stride/n:64/f64"}})");
  policy("toy/step/**", "toy/stride/**");
  policy("64,", "6400,");
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(output_, AllOf(HasSubstr("alias of toy/step/n:64/f64: none -> toy/stride/n:64/f64"),
                             HasSubstr("above the bound of 64"), Not(HasSubstr("MISSING"))));
}

TEST_F(WhoJudges, ANameOfAnotherSizeIsALooseningUntilItSaysWhy) {
  const std::string small = "toy/step/n:8/f64";
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = small;
  const std::string alias = R"({"schema": "holdfast-aliases/1",
 "aliases": {"toy/step/n:64/f64": "toy/step/n:8/f64"})";
  const auto judge_alias = [&](const std::string& rest) {
    write_file(baselines_ / "aliases.json", alias + rest);
    store_as_listed(now, listed);
    return judge();
  };
  EXPECT_EQ(judge_alias("}"), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  alias of toy/step/n:64/f64: none -> " + small));
  EXPECT_EQ(judge_alias(R"(, "why": {"toy/step/n:64/f64": "n counts rows now"}})"), 0)
      << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("ACCEPTED  alias of toy/step/n:64/f64"),
                             HasSubstr("n counts rows now")));
  expect_complaint(judge_alias(R"(, "why": {"toy/step/n:64/f64": " "}})"), 2,
                   HasSubstr("'why' is a reason, and is empty"));
  expect_complaint(judge_alias(R"(, "why": {"toy/sum/n:64/f64": "none such"}})"), 2,
                   HasSubstr("toy/sum/n:64/f64"));
}

TEST_F(WhoJudges, AnotherSizeInTwoStepsIsOne) {
  write_file(baselines_ / "aliases.json", R"({"schema": "holdfast-aliases/1",
 "aliases": {"toy/stride/n:8/f64": "toy/step/n:64/f64"}})");
  begin();
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.front().id = now.cases.front().id = "toy/hop/n:8/f64";
  write_file(baselines_ / "aliases.json", R"({"schema": "holdfast-aliases/1",
 "aliases": {"toy/stride/n:8/f64": "toy/step/n:64/f64", "toy/step/n:64/f64": "toy/hop/n:8/f64"},
 "why": {"toy/stride/n:8/f64": "a reason that excuses another"}})");
  policy("toy/step/**", "toy/hop/**");
  store_as_listed(now, listed);
  EXPECT_EQ(judge(), 1) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  alias of toy/step/n:64/f64"));
}

// The list is generated by the code that it judges: it says 1e-6 where it said 1e-12.
class LaxerOracle : public WhoJudges {
 protected:
  Results host_ = toy::host();
  List listed_ = toy::list();

  void SetUp() override {
    WhoJudges::SetUp();
    accepted(toy::host());
    begin();
    store(toy::dry());
    listed_.cases.front().limit = 1e-6;
    host_.cases.front().check.limit = 1e-6;
    host_.cases.front().check.error = 1e-7;
  }

  void measure() {
    store_as_listed(toy::dry(), listed_);
    store_as_listed(host_, listed_);
  }
};

TEST_F(LaxerOracle, IsALoosening) {
  measure();
  EXPECT_EQ(judge(), 1) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  limit of the error, for toy/step/n:64/f64: "
                                 "1e-12 -> 1e-06"));
}

TEST_F(LaxerOracle, IsAcceptedWithAReason) {
  measure();
  EXPECT_EQ(accept(), 2) << output_;
  EXPECT_THAT(complaints_, HasSubstr("toy/step/n:64/f64|case|limit"));
  ASSERT_EQ(accept({"--why=the oracle has six digits"}), 0) << complaints_;
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("ACCEPTED  limit of the error"),
                             HasSubstr("the oracle has six digits")));
}

TEST_F(LaxerOracle, IsNotOneThatIsStricter) {
  listed_.cases.front().limit = host_.cases.front().check.limit = 1e-14;
  host_.cases.front().check.error = 1e-15;
  measure();
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  ASSERT_EQ(accept(), 0) << complaints_;
  EXPECT_THAT(output_, HasSubstr("toy/step/n:64/f64|case|limit  1e-12 -> 1e-14\n"));
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, AllOf(HasSubstr("(well)"), Not(HasSubstr("limit of the error"))));
}

TEST_F(LaxerOracle, IsNoneForAReasonOfBefore) {
  measure();
  edit([](Baseline& edited) {
    Entry& limit = edited.limits.at("toy/step/n:64/f64");
    limit.value = 1e-6;
    limit.accepted.why = edited.entries.begin()->second.accepted.why;
  });
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  limit of the error"));
}

// Change by change: the first edits what is accepted, the next one the oracle.
TEST_F(LaxerOracle, IsNotMadeReadyByAChangeBefore) {
  edit([](Baseline& edited) { edited.limits.at("toy/step/n:64/f64").value = 1.; });
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  limit of the error, for toy/step/n:64/f64"));
  for (const Results& of : {toy::dry(), toy::host()})
    edit(of, [](Baseline& edited) { edited.limits.clear(); });
  EXPECT_EQ(judge(), 1) << output_;
  EXPECT_THAT(output_,
              HasSubstr("2 cases such as toy/step/n:64/f64: 1e-12 -> kept in no baseline"));
}

// A class that nobody accepted since keeps a laxer limit of before.
TEST_F(LaxerOracle, IsALooseningWhereAnotherClassWasNeverAcceptedAsStrictly) {
  edit(toy::host(), [](Baseline& edited) {
    Entry& limit = edited.limits.at("toy/step/n:64/f64");
    limit.value = 1e-3;
    limit.accepted.utc = "2020-01-01T00:00:00Z";
  });
  begin();
  measure();
  EXPECT_EQ(judge(), 1) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  limit of the error, for toy/step/n:64/f64: "
                                 "1e-12 -> "));
}

TEST_F(LaxerOracle, OfACaseThatChecksNothingAnyMoreIsALoosening) {
  listed_.cases.front().limit.reset();
  store_as_listed(toy::dry(), listed_);
  std::filesystem::remove(result_path(toy::host()));
  EXPECT_EQ(judge(), 1) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("LOOSENED  limit of the error, for toy/step/n:64/f64: "
                                 "1e-12 -> none"));
}

TEST_F(LaxerOracle, IsToldNotToBeKnownWhereNoBaselineSaysHowStrictItWas) {
  for (const Results& of : {toy::dry(), toy::host()})
    edit(of, [](Baseline& edited) { edited.limits.clear(); });
  begin();
  measure();
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("toy: whether its results may be further from their oracles'"));
}

TEST_F(WhoJudges, AnOlderPolicyAtAnOlderPlaceIsRead) {
  std::string old = toy::policy_text;
  const std::string row = R"("metrics": {)";
  old.insert(old.find(row) + row.size(),
             R"("launches": {"kind": "exact", "better": "lower", "unit": "1"}, )");
  std::filesystem::remove_all(baselines_ / "policy");
  write_file(baselines_ / "policy.json", old);
  begin();
  std::filesystem::remove(baselines_ / "policy.json");
  std::filesystem::create_directories(baselines_ / "policy");
  write_file(common_policy_, toy::policy_text);
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  policy(exact_kind, R"("exact": {"gate": "off", "tolerance": 0)");
  EXPECT_EQ(judge(), 1);
}

TEST_F(WhoJudges, AMergeBaseWithoutAPolicyLeavesTheChangesOwn) {
  std::filesystem::rename(baselines_ / "policy", folder_.path() / "policy");
  begin();
  std::filesystem::rename(folder_.path() / "policy", baselines_ / "policy");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, HasSubstr("the merge base has no policy"));
}

TEST_F(WhoJudges, TheTableStandsInTheVerdictForPeople) {
  policy(exact_kind, R"("exact": {"gate": "warn", "tolerance": 0)");
  EXPECT_EQ(judge(), 1);
  EXPECT_THAT(read_file(results_ / "verdict.md"),
              AllOf(HasSubstr("What this change does to what judges it"),
                    HasSubstr("| LOOSENED | gate of launches"), HasSubstr("| block | warn |")));
  EXPECT_THAT(read_file(results_ / "verdict.xml"), HasSubstr("LOOSENED"));
}

}  // namespace
}  // namespace holdfast::gate
