// SPDX-License-Identifier: Apache-2.0
// Hosts of one device class with different processors: counts are common, times and ratios are not.
#include <gmock/gmock.h>

#include "gate/accept/accept.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* other = "GenuineIntel-6-207";
constexpr const char* speedup_key = "toy/step/n:64/f64|case|speedup";
constexpr const char* bytes_key = "toy/step/n:64/f64|optimized|peak_bytes";

Entry entry_of(double value, bool timed) {
  Entry entry{.value = value, .accepted = {.utc = "u", .content = "c", .why = "w"}};
  if (timed) {
    entry.medians = {value};
    entry.mad_between = 0;
    entry.anchor = value;
  }
  return entry;
}

Baseline of_two() {
  Baseline made{.device_class = "host-x86_64-v4-2t"};
  made.entries[bytes_key] = entry_of(4096, false);
  made.processors[toy::processor][speedup_key] = entry_of(10, true);
  made.processors[other][speedup_key] = entry_of(7, true);
  return made;
}

std::string complaint(const Baseline& baseline) {
  return toy::complaint(
      [&] { return parse_baseline(Document("b.json", baseline_text(baseline))); });
}

TEST(Processors, EachSeesTheCountsOfAllAndItsOwnTimes) {
  const Baseline seen = seen_on(other, of_two());
  EXPECT_EQ(seen.entries.at(bytes_key).value, Value(4096.));
  EXPECT_EQ(seen.entries.at(speedup_key).value, Value(7.));
  EXPECT_TRUE(has_times(seen));
  EXPECT_FALSE(has_times(seen_on("GenuineIntel-6-143", of_two())));
}

TEST(Processors, AViewIsStoredAsItWas) {
  EXPECT_EQ(baseline_text(stored_from(other, seen_on(other, of_two()))), baseline_text(of_two()));
}

TEST(Processors, AGpusTimesAreItsClasss) {
  Baseline gpu{.device_class = "nvidia-h200"};
  gpu.entries[speedup_key] = entry_of(10, true);
  EXPECT_EQ(baseline_text(stored_from(other, seen_on(other, gpu))), baseline_text(gpu));
  gpu.processors[other] = gpu.entries;
  EXPECT_THAT(complaint(gpu), HasSubstr("only classes of hosts have several"));
}

TEST(Processors, ATimeWithoutOneIsAnErrorAndSoIsACountOfOne) {
  Baseline misplaced = of_two();
  misplaced.entries[speedup_key] = entry_of(10, true);
  EXPECT_THAT(complaint(misplaced), HasSubstr("stand under 'processors'"));
  misplaced = of_two();
  misplaced.processors[other][bytes_key] = entry_of(4096, false);
  EXPECT_THAT(complaint(misplaced), HasSubstr("stand times and ratios alone"));
}

TEST(Processors, AnEntryOfAllAndOfOneIsAnError) {
  Baseline twice = of_two();
  twice.entries[speedup_key] = entry_of(1, false);
  EXPECT_THAT(complaint(twice), HasSubstr("stands in 'entries' as well"));
}

class OtherProcessor : public GateCommand {
 protected:
  static Results on(const char* processor, double speedup) {
    Results made = toy::host();
    made.env.processor = processor;
    for (CaseResult& result : made.cases) result.metrics["speedup"] = toy::timed("ratio", speedup);
    return made;
  }
};

TEST_F(OtherProcessor, OfWhichNothingIsAcceptedIsToldAndHeldToNoTime) {
  accepted(on(toy::processor, 10));
  store(on(other, 6));
  expect_output(check(), 0,
                AllOf(HasSubstr("NO BASELINE for the processor GenuineIntel-6-207"),
                      HasSubstr("accepted are those of AuthenticAMD-26-2"), HasSubstr("NEW"),
                      Not(HasSubstr("REGRESSION"))));
}

TEST_F(OtherProcessor, OfWhichNothingIsAcceptedIsNotSaidToBeNoSlower) {
  accepted(on(toy::processor, 10));
  store(on(other, 6));
  expect_output(holdfast(toy::joined({"explain", toy::step_id, results_.string()}, stores())), 0,
                AllOf(HasSubstr("no accepted time of this processor: counts are the same, whether "
                                "it is slower is unknown\n"),
                      HasSubstr("next           holdfast ab BASE/bin/toy "),
                      Not(HasSubstr("nothing got worse"))));
}

TEST_F(OtherProcessor, OfWhichNothingIsAcceptedIsHeldToTheCounts) {
  accepted(on(toy::processor, 10));
  Results now = on(other, 6);
  toy::metric(now, "optimized", "peak_bytes") = toy::exact(8192);
  store(now);
  expect_output(check(), 1, HasSubstr("rose from 4096 B to 8192 B"));
}

class DroppedTime : public OtherProcessor {
 protected:
  List listed_ = toy::list();
  Results now_ = on(other, 10);

  void SetUp() override {
    OtherProcessor::SetUp();
    accepted(on(toy::processor, 10));
    std::erase(listed_.cases.back().devices["host"], "speedup");
    now_.cases.back().metrics.erase("speedup");
    store_as_listed(now_, listed_);
  }
};

TEST_F(DroppedTime, IsMissingThoughNothingIsAcceptedOfTheProcessor) {
  expect_output(check(), 3,
                AllOf(HasSubstr("MISSING"), HasSubstr(toy::sum_id),
                      HasSubstr("has an accepted value, 10 on AuthenticAMD-26-2, and was not")));
}

TEST_F(DroppedTime, IsAcceptedWhereThePolicySaysWhyItIsGone) {
  spoil(common_policy_, "\"waivers\": []", R"("waivers": [],
 "removed": [{"match": "toy/sum/**", "metric": "speedup", "why": "a sum has nothing beside it"}])");
  expect_output(check(), 0, HasSubstr("a sum has nothing beside it"));
}

TEST_F(DroppedTime, IsNotMissingBesidesWhereItsCaseFailed) {
  now_.cases.back().status = "failed";
  store_as_listed(now_, listed_);
  expect_output(check(), 1, Not(HasSubstr("MISSING")));
}

TEST_F(OtherProcessor, OfWhichNothingIsAcceptedFailsWhereABaselineIsRequired) {
  accepted(on(toy::processor, 10));
  store(on(other, 6));
  EXPECT_EQ(check({"--require-baseline"}), 3);
}

TEST_F(OtherProcessor, IsAcceptedBesideTheFirst) {
  accepted(on(toy::processor, 10));
  accepted(on(other, 6));
  const Baseline kept = read_baseline(baseline(toy::host()));
  EXPECT_EQ(kept.processors.at(toy::processor).at(speedup_key).value, Value(10.));
  EXPECT_EQ(kept.processors.at(other).at(speedup_key).value, Value(6.));
  EXPECT_EQ(check({"--require-baseline"}), 0) << output_;
  store(on(toy::processor, 6));
  expect_output(check(), 1, HasSubstr("fell from 10 to 6"));
}

// A CPU that was halted wakes its thread later than one that was kept awake.
TEST_F(OtherProcessor, IsTheSameOneWithItsCpusKeptAwake) {
  const auto awake = [](double speedup) {
    Results made = on(toy::processor, speedup);
    made.env.awake = true;
    return made;
  };
  Results halted = on(toy::processor, 10);
  halted.env.awake = false;
  accepted(on(toy::processor, 10));  // as older results, which do not say
  store(halted);
  EXPECT_EQ(check({"--require-baseline"}), 0) << output_;
  store(awake(6));
  expect_output(
      check(), 0,
      AllOf(HasSubstr("NO BASELINE for the processor AuthenticAMD-26-2 kept awake"),
            HasSubstr("(accepted are those of AuthenticAMD-26-2)"), Not(HasSubstr("REGRESSION"))));
  EXPECT_EQ(check({"--require-baseline"}), 3);
  accepted(awake(6));
  EXPECT_EQ(check({"--require-baseline"}), 0) << output_;
  store(awake(3));
  expect_output(check(), 1, HasSubstr("fell from 6 to 3"));
  store(on(toy::processor, 6));
  expect_output(check(), 1, HasSubstr("fell from 10 to 6"));
}

// As where a hypervisor has moved one of two to another cache.
TEST_F(OtherProcessor, IsTheSameOneWhoseThreadsStandApart) {
  const auto apart = [](double seconds, double speedup) {
    Results made = on(toy::processor, speedup);
    for (CaseResult& one : made.cases) one.metrics["handover_s"] = toy::timed("time", seconds);
    return made;
  };
  accepted(apart(55e-9, 10));
  store(apart(350e-9, 6));
  expect_output(check(), 4, HasSubstr("took 55 ns and takes 350 ns -> the machine"));
  EXPECT_THAT(output_, Not(HasSubstr("REGRESSION")));
  store(apart(350e-9, 10));
  EXPECT_EQ(check({"--require-baseline"}), 0) << output_;
  accepted(apart(350e-9, 6));
  EXPECT_EQ(check({"--require-baseline"}), 0) << output_;
  store(apart(350e-9, 3));
  expect_output(check(), 1, HasSubstr("fell from 6 to 3"));
  store(apart(55e-9, 6));
  expect_output(check(), 1, HasSubstr("fell from 10 to 6"));
}

// The hand-over time moved across the border of the two states, and too little to explain a loss.
TEST_F(OtherProcessor, ALossAtTheBorderOfItsTwoStatesNeedsAReason) {
  const auto handing_over = [](double seconds, double speedup) {
    Results made = on(toy::processor, speedup);
    for (CaseResult& one : made.cases) one.metrics["handover_s"] = toy::timed("time", seconds);
    return made;
  };
  accepted(handing_over(140e-9, 10));
  commit_baselines();
  store(handing_over(160e-9, 5));
  expect_output(check({"--baseline-ref=HEAD"}), 1, HasSubstr("fell from 10 to 5"));
  expect_complaint(accept(), 2, HasSubstr("speedup (worse than 10, accepted where threads stood "));
  EXPECT_EQ(check({"--baseline-ref=HEAD"}), 1);
  EXPECT_EQ(accept({"--why=half of it is a price"}), 0) << complaints_;
  expect_output(check({"--baseline-ref=HEAD"}), 0, HasSubstr("half of it is a price"));
}

TEST_F(OtherProcessor, IsAcceptedWithoutAReasonWhereNoCountGotWorse) {
  accepted(on(toy::processor, 10));
  store(on(other, 6));
  EXPECT_EQ(accept(), 0) << complaints_;
}

TEST_F(OtherProcessor, IsShownWithItsTimes) {
  accepted(on(toy::processor, 10));
  accepted(on(other, 6));
  expect_output(
      holdfast({"baseline", "show", "--baselines=" + baselines_.string()}), 0,
      AllOf(HasSubstr("host-x86_64-v4-2t AuthenticAMD-26-2  " + std::string(speedup_key) + "  10"),
            HasSubstr("host-x86_64-v4-2t GenuineIntel-6-207  " + std::string(speedup_key) + "  6"),
            HasSubstr("host-x86_64-v4-2t  " + std::string(bytes_key))));
}

TEST_F(OtherProcessor, LosesTheTimesOfACaseThatIsGoneWhenPruned) {
  accepted(on(toy::processor, 10));
  accepted(on(other, 6));
  Baseline kept = read_baseline(baseline(toy::host()));
  auto& entries = kept.processors.at(other);
  entries["toy/gone/n:64/f64|case|speedup"] = entries.at(speedup_key);
  write_file(baseline(toy::host()), baseline_text(kept));
  expect_output(holdfast({"baseline", "prune", "--yes", "--baselines=" + baselines_.string(),
                          "--lists=" + lists_.string()}),
                0,
                HasSubstr("toy/gone/n:64/f64|case|speedup  6  (no such case, on "
                          "GenuineIntel-6-207)"));
  kept.processors.at(other).erase("toy/gone/n:64/f64|case|speedup");
  EXPECT_EQ(read_file(baseline(toy::host())), baseline_text(kept));
}

TEST_F(OtherProcessor, ConfirmsNoGain) {
  accepted(on(toy::processor, 10));
  const auto stored_in = [&](const char* name, Results run) {
    run.run.id = text("2026-11-22T12:00:00Z-", name);
    store_in(folder_.path() / name, run);
    return "--again=" + (folder_.path() / name).string();
  };
  Results better = on(toy::processor, 13);
  better.run.id = "2026-11-22T12:00:00Z-0";
  store(better);
  Results elsewhere = on(other, 13);
  elsewhere.env.fingerprint = "sha256:f1";
  expect_complaint(check({stored_in("elsewhere", elsewhere)}), 2,
                   HasSubstr("of another processor, compiler or driver"));
  Results invalid = better;
  invalid.quality.valid = false;
  EXPECT_EQ(check({stored_in("invalid", invalid)}), 2);
  EXPECT_EQ(check({stored_in("here", better)}), 0) << complaints_;
}

TEST_F(OtherProcessor, IsToldWhereAnotherRunHoldsNothingOfIt) {
  accepted(on(toy::processor, 10));
  const std::filesystem::path elsewhere = folder_.path() / "elsewhere";
  store_in(elsewhere, toy::dry());
  EXPECT_EQ(check({"--again=" + elsewhere.string()}), 0) << complaints_;
  EXPECT_THAT(verdict().not_checked, testing::Contains("toy on host-x86_64-v4-2t: --again=" +
                                                       elsewhere.string() + " has no run of it"));
}

// If a pull request accepts its first times, the gate judges them as after its merge.
TEST_F(OtherProcessor, WhoseFirstTimesAChangeCarriesIsHeldToThem) {
  accepted(on(toy::processor, 10));
  commit_baselines();
  accepted(on(other, 6));
  store(on(other, 6));
  EXPECT_EQ(check({"--baseline-ref=main"}), 0) << output_;
  EXPECT_EQ(verdict().counts.at("ACCEPTED"), 6);
  store(on(other, 5.6));
  EXPECT_EQ(check({"--baseline-ref=main"}), 4) << output_;
  EXPECT_EQ(check({"--baseline-ref=main", "--undecided=warn"}), 0) << output_;
  store(on(other, 3));
  EXPECT_EQ(check({"--baseline-ref=main"}), 1) << output_;
}

// The patch changes what got worse and leaves each processor's lines alone.
TEST_F(OtherProcessor, KeepsItsLinesInTheProposedPatch) {
  accepted(on(toy::processor, 10));
  accepted(on(other, 6));
  commit_baselines();
  store(on(other, 6), "optimized", "peak_bytes", toy::exact(8192));
  EXPECT_EQ(check(), 1);
  const std::string patch = read_file(results_ / "proposed-baseline.patch");
  EXPECT_THAT(patch, Not(HasSubstr("AuthenticAMD")));
  git({"apply", (results_ / "proposed-baseline.patch").string()});
  const Baseline kept = read_baseline(baseline(toy::host()));
  EXPECT_EQ(kept.processors.at(toy::processor).at(speedup_key).value, Value(10.));
  EXPECT_EQ(kept.processors.at(other).at(speedup_key).value, Value(6.));
  EXPECT_EQ(kept.entries.at(bytes_key).value, Value(8192.));
}

// A state that judges a run, because nothing is accepted of the run's own, stays another state.
TEST_F(OtherProcessor, KeepsTheLinesOfItsOtherStateInTheProposedPatch) {
  constexpr const char *near = "AuthenticAMD-26-2 kept awake",
                       *apart = "AuthenticAMD-26-2 kept awake apart";
  const auto handing_over = [](double seconds) {
    Results made = on(toy::processor, 10);
    made.env.awake = true;
    for (CaseResult& one : made.cases) one.metrics["handover_s"] = toy::timed("time", seconds);
    return made;
  };
  accepted(handing_over(55e-9));
  commit_baselines();
  const std::string before = read_file(baseline(toy::host()));
  const auto applied = [&] {
    write_file(baseline(toy::host()), before);
    git({"apply", (results_ / "proposed-baseline.patch").string()});
    return read_baseline(baseline(toy::host()));
  };

  store(handing_over(350e-9), "optimized", "peak_bytes", toy::exact(4097));
  EXPECT_EQ(check(), 1);
  const Baseline worse = applied();
  EXPECT_EQ(worse.processors.at(near).at(speedup_key).value, Value(10.));
  EXPECT_TRUE(worse.processors.contains(apart));
  EXPECT_EQ(worse.entries.at(bytes_key).value, Value(4097.));

  store(handing_over(350e-9), "optimized", "peak_bytes", toy::exact(4095));
  write_file(baseline(toy::host()), before);
  EXPECT_EQ(check(), 0) << output_;
  const Baseline better = applied();
  EXPECT_EQ(better.processors.at(near).at(speedup_key).value, Value(10.));
  EXPECT_FALSE(better.processors.contains(apart)) << "a gain of a count accepts no times";
  EXPECT_EQ(better.entries.at(bytes_key).value, Value(4095.));
}

}  // namespace
}  // namespace holdfast::gate
