// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check --baseline-ref` on a change that edits accepted values: what lets more
// pass needs a reason of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/who_judges.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EditedBaseline : public WhoJudges {};

TEST_F(EditedBaseline, AValueThatTheChangeTakesOutBlocksUntilItSaysWhy) {
  Results now = toy::dry();
  List listed = toy::list();
  now.cases.pop_back();
  listed.cases.pop_back();
  Baseline kept = read_baseline(baseline(now));
  std::erase_if(kept.entries, [](const auto& one) { return one.first.starts_with(toy::sum_id); });
  write_file(baseline(now), baseline_text(kept));
  store_as_listed(now, listed);
  expect_output(judge(), 3,
                AllOf(HasSubstr("has an accepted value"), HasSubstr("no such case"),
                      HasSubstr("say why in \"removed\" of "), HasSubstr("policy/toy.json"),
                      Not(HasSubstr("baseline accept"))));
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/sum/**", "metric": "*", "why": "the step does it now"}])");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the step does it now")));
}

TEST_F(EditedBaseline, AValueThatIsGoneForAnOldReasonIsMissingThoughItsEntryStays) {
  policy(no_rules_yet, R"("rules": [{"match": "toy/sum/**", "metric": "launches", "tolerance": 0.5,
                                     "why": "the step does it now"},)");
  begin();
  Results now = toy::dry();
  List listed = toy::list();
  std::erase(listed.cases.back().devices["cuda-dry"], "peak_bytes");
  for (auto& [name, variant] : now.cases.back().variants) variant.metrics.erase("peak_bytes");
  store_as_listed(now, listed);
  expect_output(judge(), 3, HasSubstr("say why in \"removed\" of "));
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/sum/**", "device": "cuda-dry-*", "metric": "peak_bytes",
              "why": "the step does it now"}])");
  expect_output(judge(), 3, HasSubstr("was not measured; 'removed' gives an old reason"));
  policy(R"("metric": "peak_bytes",
              "why": "the step does it now")",
         R"("metric": "peak_bytes",
              "why": "a sum needs no work area")");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
}

TEST_F(EditedBaseline, AReferenceThatIsListedNoMoreBlocksUntilThePolicySaysWhy) {
  Results now = toy::dry();
  List listed = toy::list();
  listed.cases.back().reference = false;
  now.cases.back().variants.erase("reference");
  store_as_listed(now, listed);
  expect_output(judge(), 3,
                AllOf(HasSubstr("was not measured"), HasSubstr("say why in \"removed\" of ")));
  policy(no_waivers, R"("waivers": [], "removed": [{"match": "toy/sum/**", "variant": "reference",
                     "metric": "*", "why": "the step is checked by its oracle"}])");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
}

// A part that was not measured does not report it missing.
TEST_F(EditedBaseline, AMetricThatASuiteHasNoMoreIsALooseningForAClassThatNobodyMeasured) {
  List listed = toy::list();
  for (ListedCase& one : listed.cases) std::erase(one.devices["host"], "time_s");
  listed.metrics.erase("time_s");
  accepted(toy::host());
  begin();
  store_as_listed(toy::dry(), listed);
  std::filesystem::remove(result_path(toy::host()));
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/sum/n:64/f64 on host-x86_64-v4-2t of "
                          "AuthenticAMD-26-2: 2 accepted values such as optimized|time_s "
                          "-> no such metric"));
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/**", "metric": "time_s", "why": "nobody waits for a sum"}])");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
}

TEST_F(EditedBaseline, AValueThatIsTakenOutForAClassThatNobodyMeasuredIsALoosening) {
  accepted(toy::host());
  begin();
  store(toy::dry());
  edit(toy::host(),
       [](Baseline& edited) { edited.entries.erase("toy/step/n:64/f64|optimized|peak_bytes"); });
  std::filesystem::remove(result_path(toy::host()));
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/step/n:64/f64 on host-x86_64-v4-2t: 1 accepted "
                          "value such as optimized|peak_bytes -> taken out of the "
                          "baseline"));
}

TEST_F(EditedBaseline, AnEditedValueNeedsAReasonOfItsOwn) {
  one_more_launch();
  edit([](Baseline& edited) { edited.entries.at(launches).value = 5.0; });
  expect_output(judge(), 1,
                AllOf(HasSubstr("edits the accepted value, and gives no reason of its own"),
                      HasSubstr("of the merge base, and accept with --why")));
}

TEST_F(EditedBaseline, NoReasonAndAnOldOneAreNoReason) {
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

TEST_F(EditedBaseline, AReasonThatAProcessorsValuesHadBeforeIsAnOldOne) {
  accepted(toy::host());
  edit(toy::host(), [](Baseline& edited) {
    edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup").accepted.why =
        "a slower host";
  });
  begin();
  edit(toy::host(), [](Baseline& edited) {
    Entry& entry = edited.entries.at("toy/step/n:64/f64|optimized|peak_bytes");
    entry.value = 5000.0;
    entry.accepted.why = "a slower host";
  });
  expect_output(judge(), 1, HasSubstr("LOOSENED  accepted value of peak_bytes"));
}

// In two changes: the first edits what nobody measures, the next one profits.
TEST_F(EditedBaseline, AWorseValueThatIsMeasuredAsBeforeNeedsAReason) {
  const auto worse = [](const char* why) {
    return [why](Baseline& edited) {
      Entry& entry = edited.entries.at(launches);
      entry.value = 9.0;
      entry.accepted.why = why;
    };
  };
  edit(worse("first baseline"));
  one_more_launch();
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  accepted value of launches, for toy/step/n:64/f64 "
                          "optimized on cuda-dry-sm_90: 4 -> 9"));
  edit(worse("it will launch more"));
  EXPECT_EQ(judge(), 1) << "and what is measured is held against what was accepted before";
  store(toy::dry());
  expect_output(judge(), 0, HasSubstr("ACCEPTED  accepted value of launches"));
}

// A value that every change raises by less than its tolerance ends far from the first.
TEST_F(EditedBaseline, AWorseCountIsALooseningWithinItsToleranceToo) {
  policy(exact_kind, R"("exact": {"gate": "block", "tolerance": 0.5)");
  begin();
  edit([](Baseline& edited) { edited.entries.at(launches).value = 5.0; });
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  accepted value of launches, for toy/step/n:64/f64 "
                          "optimized on cuda-dry-sm_90: 4 -> 5"));
}

// `baseline accept` asks for none either: the compiler moved it, not the code.
TEST_F(EditedBaseline, AWorseCountOfAnotherPatchLevelNeedsAReasonBeyondThePatchToleranceAlone) {
  policy(R"("metrics": {)", R"("metrics": {"launches": {"patch_tolerance": 0.3}, )");
  edit([](Baseline& edited) {
    edited.entries.at(launches).accepted.why = "changed for the better";
  });
  begin();
  one_more_launch("g++ 12.3.0");
  ASSERT_EQ(accept(), 0) << output_ << complaints_;
  expect_output(judge(), 0, Not(HasSubstr("accepted value of launches")));
  edit([](Baseline& edited) { edited.entries.at(launches).value = 6.0; });
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  accepted value of launches, for toy/step/n:64/f64 "
                          "optimized on cuda-dry-sm_90: 4 -> 6"));
}

// In two changes: after the first, nothing tells that a list turns what a metric is.
TEST_F(EditedBaseline, AFileOfAnOlderFormatIsALoosening) {
  store_older_baseline(toy::dry());
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  what the metrics are, in "
                          "devices/cuda-dry-sm_90/toy.json: told -> a file of an older "
                          "format, which does not tell"));
}

TEST_F(EditedBaseline, WhatIsAcceptedForTheBetterNeedsNone) {
  edit([](Baseline& edited) { edited.entries.at(launches).value = 3.0; });
  expect_output(judge(), 0, Not(HasSubstr("accepted value of launches")));
}

TEST_F(EditedBaseline, WhatIsAcceptedForTheBetterAgainIsAcceptedAsTheFirstWas) {
  for (const char* why :
       {"changed for the better", "proposed by holdfast check: better for good"}) {
    edit([&](Baseline& edited) {
      edited.entries.at(launches).value = 4.0;
      edited.entries.at("toy/sum/n:64/f64|optimized|launches").accepted.why = why;
    });
    begin();
    store(toy::dry(),
          [](Results& now) { toy::metric(now, "optimized", "launches") = toy::exact(3); });
    ASSERT_EQ(accept(), 0) << output_ << complaints_;
    edit([&](Baseline& edited) { edited.entries.at(launches).accepted.why = why; });
    expect_output(judge(), 0, AllOf(HasSubstr("1 ACCEPTED"), Not(HasSubstr("IMPROVED"))));
  }
}

// `baseline accept` takes the value for a new one, of which it asks no reason.
TEST_F(EditedBaseline, AWorseValueWhoseEntryWasTakenOutBeforeIsNotAcceptedWithoutAReason) {
  one_more_launch();
  edit([](Baseline& edited) { edited.entries.erase(launches); });
  ASSERT_EQ(accept(), 0) << output_ << complaints_;
  expect_output(judge(), 1, HasSubstr("gives no reason of its own"));
}

TEST_F(EditedBaseline, AWiderSpreadAndALowerAnchorNeedAReason) {
  accepted(toy::host());
  begin();
  const std::string speedup = "toy/step/n:64/f64|case|speedup";
  edit(toy::host(), [&](Baseline& edited) {
    Entry& entry = edited.processors.begin()->second.at(speedup);
    entry.mad_between = 1.2;
    entry.anchor = 3;
  });
  expect_output(judge(), 1,
                AllOf(HasSubstr("LOOSENED  accepted anchor of speedup"), HasSubstr("10 -> 3"),
                      HasSubstr("LOOSENED  accepted limit of speedup")));
}

// Each change stays below the doubled limit that chance may cause.
TEST_F(EditedBaseline, ASpreadThatNoRunShowsNeedsAReason) {
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
  expect_output(judge(), 1, HasSubstr("LOOSENED  accepted limit of speedup"));
  begin();
  widen("a noisy neighbour");
  expect_output(judge(), 0, HasSubstr("ACCEPTED  accepted limit of speedup"));
}

// Where runs of several days make the limit, the spread within them still makes that of drift.
TEST_F(EditedBaseline, ASpreadThatNoRunShowsNeedsAReasonWhereItIsDriftsAlone) {
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
  expect_output(judge(), 1, HasSubstr("LOOSENED  accepted drift limit of speedup"));
}

TEST_F(EditedBaseline, WhatAnotherRunAddsToASpreadNeedsNone) {
  accepted(toy::host());
  begin();
  edit(toy::host(), [&](Baseline& edited) {
    Entry& entry = edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup");
    entry.medians.push_back(10);
    *entry.mad_between *= 1.9;
    entry.accepted.runs.push_back("2026-11-22T12:00:00Z-0001");
  });
  expect_output(judge(), 0, Not(HasSubstr("LOOSENED")));
}

TEST_F(EditedBaseline, ABetterValueLeavesRoomForAWiderLimit) {
  accepted(toy::host());
  begin();
  edit(toy::host(), [&](Baseline& edited) {
    Entry& entry = edited.processors.begin()->second.at("toy/step/n:64/f64|case|speedup");
    entry.value = 20.0;
    entry.medians = {20};
    entry.mad_between = 1;
    entry.anchor = 20;
  });
  expect_output(judge(), 0, Not(HasSubstr("LOOSENED")));
}

TEST_F(EditedBaseline, ToolsThatNobodyMeasuredWithExcuseNothing) {
  edit([](Baseline& edited) { edited.fingerprint.nvrtc = "12.9"; });
  expect_output(judge(), 1, HasSubstr("LOOSENED  tools of devices/cuda-dry-sm_90/toy.json"));
  store(toy::dry(), [](Results& now) { now.env.nvrtc = "12.9"; });
  EXPECT_EQ(judge(), 0) << output_;
}

TEST_F(EditedBaseline, AFallThatCanBeALossNeedsAReasonWhereNobodyMeasuredItToo) {
  policy(R"("metrics": {)", R"("metrics": {"peak_bytes": {"fall_is_change": ["*"]}, )");
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  const auto fall = [&](const std::string& why) {
    edit(toy::host(), [&](Baseline& edited) {
      Entry& entry = edited.entries.at("toy/step/n:64/f64|optimized|peak_bytes");
      entry.value = 2048.0;
      if (!why.empty()) entry.accepted.why = why;
    });
  };
  fall("");
  expect_output(judge(), 1, HasSubstr("LOOSENED  accepted value of peak_bytes"));
  fall("the work area is shared");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the work area is shared")));
}

// Evidence that a later loss by other arguments of the same machine code is none of the machine's.
class EditedKernels : public WhoJudges {
 protected:
  static constexpr const char* table = "toy/step/n:64/f64|optimized|kernels";
  static constexpr const char* identity = "toy/step/n:64/f64|optimized|identity";

  void SetUp() override {
    WhoJudges::SetUp();
    accepted(toy::host());
    edit([](Baseline& edited) {
      edited.entries.at(table).value = "edge 20/0/0/argument_sum=7 2b; stage 40/0/1024 1a";
    });
    begin();
    std::filesystem::remove(result_path(toy::dry()));
  }
  void write_table(const std::string& content, const char* why = nullptr) {
    edit([&](Baseline& edited) {
      edited.entries.at(table).value = content;
      if (why) edited.entries.at(table).accepted.why = why;
    });
  }
};

TEST_F(EditedKernels, ThatAreTakenOutBesideTheSameCodeAreALoosening) {
  edit([](Baseline& edited) { edited.entries.erase(table); });
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/step/n:64/f64 on cuda-dry-sm_90: 1 accepted value such as "
                          "optimized|kernels -> taken out of the baseline"));
  policy(no_waivers, R"("waivers": [],
 "removed": [{"match": "toy/step/**", "metric": "kernels", "why": "its kernels take no arguments"}])");
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
}

TEST_F(EditedKernels, ThatGiveOtherArgumentsToTheSameCodeAreALooseningWhereNobodyMeasuredThem) {
  for (const char* other : {"edge 20/0/0/argument_sum=8 2b; stage 40/0/1024 1a",
                            "edge 20/0/0 2b; stage 40/0/1024 1a", "stage 40/0/1024 1a"}) {
    write_table(other);
    expect_output(judge(), 1,
                  HasSubstr("LOOSENED  accepted table of kernels, for toy/step/n:64/f64 optimized "
                            "on cuda-dry-sm_90"));
  }
  write_table("edge 20/0/0/argument_sum=8 2b; stage 40/0/1024 1a", "changed for the better");
  EXPECT_EQ(judge(), 1) << "which accepting says of what needs no reason";
  write_table("edge 20/0/0/argument_sum=8 2b; stage 40/0/1024 1a", "one more halo");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("one more halo")));
  write_table("edge 20/0/0/argument_sum=7 2b; stage 40/0/1024/argument_sum=3 1a");
  expect_output(judge(), 0, Not(HasSubstr("table of kernels")));
}

TEST_F(EditedKernels, ThatGiveOtherArgumentsThanTheRunTellsAreALooseningWhereItIsMeasured) {
  const auto store_sum = [&](double sum) {
    store(toy::dry(), [&](Results& now) {
      now.cases.front().variants["optimized"].kernels.back().evidence["argument_sum"] = sum;
    });
  };
  store_sum(7);
  for (const char* other : {"edge 20/0/0/argument_sum=8 2b; stage 40/0/1024 1a",
                            "edge 20/0/0 2b; stage 40/0/1024 1a"}) {
    write_table(other);
    expect_output(judge(), 1,
                  HasSubstr("LOOSENED  accepted table of kernels, for toy/step/n:64/f64 optimized "
                            "on cuda-dry-sm_90"));
  }
  store_sum(8);
  write_table("edge 20/0/0/argument_sum=8 2b; stage 40/0/1024 1a");
  expect_output(judge(), 0, Not(HasSubstr("table of kernels")));
}

TEST_F(EditedKernels, OfOtherCodeAreEvidenceNoMore) {
  edit([](Baseline& edited) {
    edited.entries.at(identity).value = "sha256:cc";
    edited.entries.at(identity).accepted.why = "another way";
    edited.entries.erase(table);
  });
  expect_output(judge(), 0, Not(HasSubstr("kernels")));
}

TEST_F(EditedBaseline, ValuesOfAMachineThatNothingWasAcceptedOfAreListed) {
  accepted(toy::host());
  expect_output(judge(), 0,
                HasSubstr("changed   devices/host-x86_64-v4-2t/toy.json: none -> 10 accepted "
                          "values, judged by this change's own rules"));
  begin();
  Results now = toy::host();
  now.env.processor = "GenuineIntel-6-85";
  accepted(now);
  expect_output(judge(), 0,
                HasSubstr("changed   GenuineIntel-6-85 in devices/host-x86_64-v4-2t/toy.json: "
                          "none -> 6 accepted values"));
}

// With the list and its baselines alike, a later measurement would judge by what was edited.
TEST_F(EditedBaseline, WhatAMetricIsOnAMachineThatMeasuredNothingHereNeedsAReason) {
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  List listed = toy::list();
  listed.metrics["speedup"].kind = "advisory";
  store_as_listed(toy::dry(), listed);
  EXPECT_EQ(judge(), 0) << "the host's next run misses it: " << output_;
  edit(toy::host(), [](Baseline& edited) { edited.metrics["speedup"].kind = "advisory"; });
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  what speedup is, in devices/host-x86_64-v4-2t/toy.json: ratio "
                          "in 1, higher is better -> advisory in 1, higher is better"));
  policy(R"("metrics": {)", R"("metrics": {"speedup": {"why": "no reference"}, )");
  expect_output(judge(), 0,
                AllOf(HasSubstr("ACCEPTED  what speedup is"), HasSubstr("no reference")));
}

TEST_F(EditedBaseline, ToolsOfAMachineThatMeasuredNothingHereAreToldAndItsReadersBusiness) {
  accepted(toy::host());
  begin();
  std::filesystem::remove(result_path(toy::host()));
  edit(toy::host(), [](Baseline& edited) { edited.fingerprint.compiler = "g++ 99.0"; });
  expect_output(judge(), 0,
                HasSubstr("changed   tools of devices/host-x86_64-v4-2t/toy.json: "
                          "compiler g++ 12.2.0 -> compiler g++ 99.0, with which nobody "
                          "measured here"));
}

}  // namespace
}  // namespace holdfast::gate
