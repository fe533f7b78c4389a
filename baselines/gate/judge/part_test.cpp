// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/part.hpp"

#include <gmock/gmock.h>

#include <tuple>

#include "gate/accept/accept.hpp"
#include "gate/documents/kernel_table.hpp"
#include "gate/testing/judged_rows.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::ThrowsMessage;

using toy::judge;
using toy::part;
using toy::policy;
using toy::row;
using toy::verdicts;

TEST(JudgePart, WhatIsAsAcceptedPasses) {
  const PartVerdict verdict = judge(part(toy::dry(), toy::dry()));
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_THAT(verdicts(verdict, "PASS"), SizeIs(verdict.rows.size()));
}

TEST(JudgePart, AnotherIdentityIsToldAndDoesNotBlock) {
  Results now = toy::dry();
  now.cases.front().variants["optimized"].identity = "sha256:cc";
  const PartVerdict verdict = judge(part(now, toy::dry()));
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_EQ(row(verdict, "identity").verdict, "DRIFT");
}

TEST(JudgePart, ACaseThatOnlyTheBaselineHasIsMissing) {
  Part judged = part(toy::dry(), toy::dry());
  judged.results.cases.pop_back();
  judged.list.cases.pop_back();
  const PartVerdict verdict = judge(judged);
  EXPECT_EQ(verdict.exit, 3);
  EXPECT_THAT(verdicts(verdict, "MISSING"), testing::Contains("toy/sum/n:64/f64 launches"));
}

TEST(JudgePart, ACaseOfAnotherListIsAnError) {
  Part judged = part(toy::dry(), toy::dry());
  judged.list.cases.pop_back();
  EXPECT_THAT([&] { (void)judge(judged); },
              ThrowsMessage<Error>(HasSubstr("holds the case toy/sum/n:64/f64")));
}

TEST(JudgePart, AReferenceThatWasNotMeasuredIsMissing) {
  Results now = toy::dry();
  now.cases.front().variants.erase("reference");
  const PartVerdict verdict = judge({.results = now, .list = toy::list()});
  EXPECT_EQ(verdict.exit, 3);
}

TEST(JudgePart, ACaseOfAHigherTierIsNotExpected) {
  Part judged = part(toy::dry(), toy::dry());
  judged.list.cases.push_back(
      {.id = "toy/all/n:9999/f64", .tier = "full", .devices = {{"cuda-dry", {"launches"}}}});
  EXPECT_EQ(judge(judged).exit, 0);
}

TEST(JudgePart, MetricsOfTheFullTierNeedNoBaseline) {
  Part judged = part(toy::dry(), toy::dry());
  judged.results.tier = "full";
  judged.results.cases.push_back(judged.results.cases.front());
  judged.results.cases.back().id = "toy/all/n:9999/f64";
  judged.results.cases.back().tier = "full";
  judged.list.cases.push_back(
      {.id = "toy/all/n:9999/f64", .tier = "full", .devices = {{"cuda-dry", {"launches"}}}});
  EXPECT_EQ(judge(judged).exit, 0);
}

TEST(JudgePart, ACustomRunIsRefused) {
  Part judged = part(toy::dry(), toy::dry());
  judged.results.run.custom = {"--size=384"};
  EXPECT_THAT([&] { (void)judge(judged); },
              ThrowsMessage<Error>(HasSubstr("is a custom run (--size=384)")));
}

TEST(JudgePart, TimesOfAnInvalidMeasurementAreTheMachinesAndItsCountsAreJudged) {
  Results now = toy::host();
  now.quality = {.valid = false, .reasons = {"throttled"}};
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 5);
  const PartVerdict verdict = judge(part(now, toy::host()));
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "ENV");
  EXPECT_GT(verdict.times.all, 0);
  EXPECT_EQ(verdict.times.unheld, verdict.times.all);
  EXPECT_EQ(judge_part(part(now, toy::host()), policy(), true, true).exit, 3);
  toy::metric(now, "optimized", "peak_bytes").value = 1e9;
  EXPECT_EQ(judge(part(now, toy::host())).exit, 1);
}

// A speedup that no process measured undisturbed.
Results with_disturbed_speedup() {
  Results now = toy::host();
  for (CaseResult& result : now.cases)
    result.metrics["speedup"] = {.kind = "ratio", .median = 102, .samples = 400};
  return now;
}

TEST(JudgePart, ARatioOfNoUndisturbedProcessIsUndecidedAndNotNew) {
  Part judged = part(with_disturbed_speedup(), toy::host());
  const PartVerdict held = judge(judged);
  EXPECT_EQ(held.exit, 4);
  EXPECT_THAT(row(held, "speedup", "case").sentence, HasSubstr("measured in 0 of the 5 processes"));

  judged.baseline.reset();
  const PartVerdict verdict = judge(judged);
  EXPECT_EQ(verdict.exit, 0) << "nothing is held against anything there";
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "NOISY");
  EXPECT_THAT(row(verdict, "speedup", "case").sentence,
              HasSubstr("nothing is accepted yet for this device class; other work disturbed every "
                        "process of it"));
  EXPECT_THAT(*row(verdict, "speedup", "case").next, HasSubstr("holdfast run"));
  EXPECT_EQ(verdict.times.unheld, verdict.times.all);

  judged = part(with_disturbed_speedup(), toy::host());
  judged.baseline->entries.erase(entry_key(toy::step_id, case_variant, "speedup"));
  EXPECT_EQ(row(judge(judged), "speedup", "case").verdict, "NOISY");
  EXPECT_EQ(judge(judged).exit, 4);
  EXPECT_EQ(judge_part(judged, policy(), false, false).exit, 3) << "undecided or not, it is lost";
}

// Notes on the step's case that call it blind.
std::vector<std::string> told_blind(const PartVerdict& verdict) {
  std::vector<std::string> found;
  for (const std::string& line : verdict.not_checked)
    if (line.starts_with(toy::step_id) && line.find("blind: ") != std::string::npos)
      found.push_back(line);
  return found;
}

TEST(JudgePart, ARatioThatCouldShowNoLossIsBlind) {
  EXPECT_THAT(told_blind(judge(part(toy::host(), toy::host()))), IsEmpty());
  Results few = toy::host();
  toy::metric(few, "case", "speedup") = {
      .kind = "ratio", .processes = {10, 10}, .median = 10, .mad_between = 0};
  EXPECT_THAT(told_blind(judge(part(few, toy::host()))),
              testing::ElementsAre(HasSubstr("blind: no loss of speedup would have failed")));

  Part wide = part(toy::host(), toy::host());
  wide.baseline->entries.at(entry_key(toy::step_id, case_variant, "speedup")).mad_between = 2;
  EXPECT_THAT(told_blind(judge(wide)),
              testing::ElementsAre(HasSubstr("blind: no loss of speedup would have failed")));

  Results noisy = toy::host();
  toy::metric(noisy, "case", "speedup") = {
      .kind = "ratio", .processes = {7, 8, 10, 12, 13}, .median = 10, .mad_between = 2};
  EXPECT_THAT(told_blind(judge(part(noisy, toy::host()))),
              testing::ElementsAre(HasSubstr("blind: only a loss of ")));
}

TEST(JudgePart, ARatioOfWhichAFifthCouldBeLostIsBlind) {
  Results unsteady = toy::host();
  toy::metric(unsteady, "case", "speedup") = {.kind = "ratio",
                                              .processes = {9.4, 9.65, 10, 10.35, 10.6},
                                              .median = 10,
                                              .mad_between = 0.35};
  EXPECT_THAT(told_blind(judge(part(unsteady, toy::host()))),
              testing::ElementsAre(HasSubstr("blind: only a loss of 17")));
}

TEST(JudgePart, ABoundResolvesWhatNoAcceptedValueDoes) {
  const std::string rules =
      toy::policy_with(toy::launches_bound, R"("metric": "speedup", "bound": {"min": 3)");
  Part judged = part(toy::host(), toy::host());
  judged.baseline->entries.at(entry_key(toy::step_id, case_variant, "speedup")).mad_between = 2;
  const PartVerdict verdict = judge_part(judged, policy(rules), false, true);
  const Row& told = row(verdict, "speedup", "case");
  EXPECT_NEAR(told.resolution.value(), 10.1 / 3 - 1, 1e-9) << "until the best process is beyond it";
  EXPECT_EQ(told.resolved_by, held_against::bound);
}

TEST(JudgePart, WhatNoHardwareAllowsIsToldOfAnInvalidMeasurementToo) {
  const std::string limited =
      toy::policy_with(R"("metrics": {)", R"("metrics": {"speedup": {"impossible_above": 50}, )");
  Results now = toy::host();
  now.quality = {.valid = false, .reasons = {"throttled"}};
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 60);
  const PartVerdict verdict = judge_part(part(now, toy::host()), policy(limited), false, true);
  EXPECT_EQ(row(verdict, "speedup", "case").verdict, "SUSPECT-FAST");
  EXPECT_EQ(verdict.exit, 1);
}

TEST(JudgePart, AnIdentityThatThePolicyLetsBlockBlocks) {
  const std::string blocks =
      toy::policy_with(R"("identity": {"gate": "warn"})", R"("identity": {"gate": "block"})");
  Results now = toy::dry();
  now.cases.front().variants["optimized"].identity = "sha256:cc";
  EXPECT_EQ(judge_part(part(now, toy::dry()), policy(blocks), false, true).exit, 1);
}

TEST(JudgePart, ARatioThatGatesNothingIsNotBlind) {
  Results few = toy::host();
  toy::metric(few, "case", "speedup") = {
      .kind = "ratio", .processes = {10, 10}, .median = 10, .mad_between = 0};
  const std::string warns =
      toy::policy_with(R"("ratio": {"gate": "block")", R"("ratio": {"gate": "warn")");
  EXPECT_THAT(told_blind(judge_part(part(few, toy::host()), policy(warns), false, true)),
              IsEmpty());
}

TEST(JudgePart, AReferenceWithoutATimeIsNoControl) {
  Results before = toy::host();
  for (CaseResult& result : before.cases) result.variants["optimized"].identity = "sha256:aa";
  Results now = before;
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 5);
  toy::metric(now, "reference", "time_s") = toy::timed("time", 0);
  EXPECT_EQ(row(judge(part(now, before)), "speedup", "case").verdict, "REGRESSION");
  Part judged = part(now, before);
  judged.baseline->entries.at(entry_key(toy::step_id, "reference", "time_s")).value = "sha256:aa";
  EXPECT_EQ(row(judge(judged), "speedup", "case").verdict, "REGRESSION");
}

TEST(JudgePart, WhatIsCountedInMachineCodeIsOfOneDisassembler) {
  const std::string counting = toy::policy_with(
      R"("metrics": {)", R"("metrics": {"registers_max": {"same": ["nvrtc", "nvdisasm"]}, )");
  const auto judged = [&](const char* before, const char* now) {
    Results then = toy::dry(), more = toy::dry();
    if (before) then.env.nvdisasm = before;
    if (now) more.env.nvdisasm = now;
    toy::metric(more, "optimized", "registers_max").value = 1000;
    return row(judge_part(part(more, then), policy(counting), false, true), "registers_max");
  };
  EXPECT_EQ(judged("13.2.51", "13.2.51").verdict, "REGRESSION");
  const Row other = judged("13.2.51", "13.3.9");
  EXPECT_EQ(other.verdict, "ENV");
  EXPECT_THAT(other.sentence, HasSubstr("environment changed: nvdisasm 13.2.51 -> 13.3.9"));
  EXPECT_EQ(judged(nullptr, "13.3.9").verdict, "REGRESSION") << "accepted before it was told";
  EXPECT_EQ(judged("13.2.51", nullptr).verdict, "REGRESSION") << "measured before it was told";
}

TEST(JudgePart, AResultThatWasFoundWrongIsWrongWhereNothingElseIsExecutedToo) {
  Results now = toy::dry();
  now.cases.front().check = {.status = "failed", .error = 1, .limit = 1e-12};
  const PartVerdict verdict = judge(part(now, toy::dry()));
  EXPECT_THAT(verdicts(verdict, "WRONG"), SizeIs(1));
  EXPECT_EQ(verdict.exit, 1);
}

TEST(JudgePart, AnErrorIsToldApartFromItsLimit) {
  Results now = toy::host();
  now.cases.front().check.error = 1.00000001e-12;
  EXPECT_THAT(row(judge(part(now, toy::host())), "check_error", "case").sentence,
              HasSubstr(" is 1.00000001e-12 and may be at most 1e-12 "));
}

TEST(JudgePart, WhatTheReferenceLostIsMissing) {
  Results now = toy::dry();
  now.cases.front().variants["reference"].metrics.erase("registers_max");
  const PartVerdict without_count = judge(part(now, toy::dry()));
  EXPECT_EQ(row(without_count, "registers_max", "reference").verdict, "MISSING");
  EXPECT_EQ(without_count.exit, 3);

  now = toy::dry();
  now.cases.front().variants["reference"].identity.reset();
  const PartVerdict without_code = judge(part(now, toy::dry()));
  EXPECT_EQ(row(without_code, "identity", "reference").verdict, "MISSING");
  EXPECT_EQ(without_code.exit, 3);
}

TEST(JudgePart, WhatTheChangeItselfAcceptsMustBeThere) {
  Results now = toy::dry();
  toy::metric(now, "optimized", "syncs") = {.kind = "exact", .reason = "nobody looked"};
  Part judged = part(now, toy::dry());
  judged.list.metrics["syncs"] = {"exact"};
  judged.proposed = judged.baseline;
  const Policy known = policy().with(judged.list.metrics);
  EXPECT_EQ(judge_part(judged, known, false, true).exit, 0) << "nobody waits for it";
  judged.proposed->entries[entry_key(toy::step_id, "optimized", "syncs")].value = 2.;
  const PartVerdict verdict = judge_part(judged, known, false, true);
  EXPECT_EQ(row(verdict, "syncs").verdict, "MISSING");
  EXPECT_EQ(verdict.exit, 3);
}

// The processor had no accepted value before the change.
TEST(JudgePart, WhatTheChangeLeavesOutOfTheTimesThatItAcceptsIsMissing) {
  Part judged = part(toy::host(), toy::host());
  judged.proposed = judged.baseline;
  judged.proposed->entries.erase(entry_key(toy::step_id, case_variant, "speedup"));
  std::erase_if(judged.baseline->entries, [](const auto& held) {
    return metric_of(held.first) == "speedup" || metric_of(held.first) == "time_s";
  });
  ASSERT_FALSE(has_times(*judged.baseline));
  const PartVerdict verdict = judge(judged);
  EXPECT_TRUE(row(verdict, "speedup", "case").blocking);
  EXPECT_EQ(verdict.exit, 3);
}

// A run of a host with a speedup of 10 beside a base whose processes had these.
Part below_a_bound_beside(std::vector<double> base) {
  Part judged = part(toy::host(), toy::host());
  const std::size_t processes = base.size();
  judged.beside = Beside{.values = {{entry_key(toy::step_id, case_variant, "speedup"),
                                     {.value = base.front(),
                                      .mad_between = 0,
                                      .processes = processes,
                                      .values = std::move(base)}}}};
  return judged;
}

TEST(JudgePart, AViolatedBoundIsExcusedByABaseOfEnoughProcessesThatViolatedItToo) {
  const std::string rules =
      toy::policy_with(toy::launches_bound, R"("metric": "speedup", "bound": {"min": 12)");
  const auto judged = [&](const std::vector<double>& base) {
    return row(judge_part(below_a_bound_beside(base), policy(rules), false, true), "speedup",
               "case");
  };
  EXPECT_FALSE(judged(std::vector<double>(5, 10)).blocking);
  EXPECT_EQ(judged(std::vector<double>(4, 10)).verdict, "REGRESSION") << "too few to know";
  EXPECT_TRUE(judged(std::vector<double>(5, 13)).blocking);
}

TEST(JudgePart, OtherToolsThanTheAcceptedOnesExcuseNothingBesideABase) {
  const std::string rules = toy::policy_with(R"("ratio": {"gate": "block",)",
                                             R"("ratio": {"gate": "block", "same": ["driver"],)");
  Part judged = below_a_bound_beside(std::vector<double>(4, 10));
  judged.results.env.driver = "590.1";
  for (const bool accepted : {true, false}) {
    if (!accepted) judged.baseline.reset();
    const Row told = row(judge_part(judged, policy(rules), false, true), "speedup", "case");
    EXPECT_EQ(told.verdict, "NOISY") << accepted;
    EXPECT_TRUE(told.blocking) << accepted;
  }
}

// The toy's policy with one more rule before its own.
std::string with_rule(const std::string& rule) {
  return toy::policy_with(R"("rules": [)", R"("rules": [)" + rule + ",");
}

// A dry run whose registers and launches, 44 in sum, have bounds of their own, and the waivers.
PartVerdict bounded(const std::string& rules, const std::string& waivers = "") {
  const std::string waived =
      toy::replaced(with_rule(rules), R"("waivers": [)", R"("waivers": [)" + waivers);
  return judge_part(part(toy::dry(), toy::dry()), policy(waived), false, true);
}

std::string at_most(double most, const std::string& gate,
                    const std::string& metric = "launches+registers_max") {
  return text(R"({"match": "toy/step/**", "variant": "optimized", "metric": ")", metric,
              R"(", "gate": ")", gate, R"(", "bound": {"max": )", most,
              R"(, "source": "a toy's"}})");
}

std::string bounded_compile() {
  return with_rule(at_most(5, "block", "compile_s"));
}

TEST(JudgePart, SecondsBeyondABoundSayHowBusyTheMachineWas) {
  for (const double load : {27., 2.4}) {
    Results now = toy::dry();
    now.quality.load = load;
    now.env.threads = 2;
    toy::metric(now, "optimized", "compile_s") = {.kind = "advisory", .value = 9};
    Part judged = part(now, toy::dry());
    judged.list.metrics["compile_s"] = {"advisory", Better::lower, "s"};
    const PartVerdict found = judge_part(judged, policy(bounded_compile()), false, true);
    const Row& told = row(found, "compile_s");
    EXPECT_EQ(told.verdict, "REGRESSION");
    EXPECT_EQ(told.evidence.contains("load"), load > 3);
  }
}

TEST(JudgePart, OneProcessWhoseReadingIsBeyondABoundLeavesADoubt) {
  const std::string drifting =
      toy::replaced(with_rule(at_most(5, "block", "mass_drift")), R"("advisory": {)",
                    R"("bound": {"gate": "off"}, "advisory": {)");
  const auto judged = [&](double middle, const std::vector<double>& processes) {
    Results now = toy::dry();
    toy::metric(now, "optimized", "mass_drift") = {
        .kind = "bound", .value = middle, .processes = processes};
    Part one = part(now, toy::dry());
    one.list.metrics["mass_drift"] = {"bound"};
    return row(judge_part(one, policy(drifting), false, true), "mass_drift");
  };
  EXPECT_EQ(judged(1, {1, 2, 1}).verdict, "PASS");
  const Row doubtful = judged(1, {1, 50, 1, 50, 1});
  EXPECT_EQ(doubtful.verdict, "NOISY");
  EXPECT_TRUE(doubtful.blocking);
  EXPECT_THAT(doubtful.sentence, HasSubstr("undecided: 2 of 5 processes are beyond it"));
  EXPECT_EQ(judged(50, {1, 50, 50}).verdict, "REGRESSION");
}

TEST(JudgePart, ARegressionIsToBeExplainedAndOfAFilteredRunNothingIsToBeAccepted) {
  Results now = toy::dry();
  toy::metric(now, "optimized", "peak_bytes") = toy::exact(2e6);
  EXPECT_EQ(*row(judge(part(now, toy::dry())), "peak_bytes").next,
            "holdfast explain toy/step/n:64/f64 results --device=cuda-dry:sm_90");
  toy::metric(now, "optimized", "peak_bytes") = toy::exact(1e6);
  EXPECT_THAT(*row(judge(part(now, toy::dry())), "peak_bytes").next,
              HasSubstr("holdfast baseline accept"));
  Part refused = part(now, toy::dry());
  refused.may_be_accepted = [] { return false; };
  EXPECT_THAT(*row(judge(refused), "peak_bytes").next, StartsWith("holdfast run toy"));
}

TEST(Proposed, CommandsKeepWhatTheCallerGave) {
  Part made = part(toy::dry(), toy::dry());
  made.given = {.baselines = "b", .policy = "p q", .lists = "old/bin", .base = "old"};
  made.is_alone = false;
  made.results.tier = "full";
  made.results.run.processes = 3;
  EXPECT_EQ(made.run_again(),
            "holdfast run toy --device=cuda-dry:sm_90 --tier=full --processes=3 --bin-dir=old/bin "
            "--beside=old --baselines=b --out=results");
  EXPECT_EQ(made.explain_command(toy::step_id),
            "holdfast explain toy/step/n:64/f64 results --device=cuda-dry:sm_90 --baselines=b "
            "--policy='p q' --lists=old/bin");
  EXPECT_EQ(made.accept_command(" --new-anchor"),
            "holdfast baseline accept results --only=toy --device=cuda-dry:sm_90 --baselines=b "
            "--policy='p q' --lists=old/bin --new-anchor --why=\"...\"");
}

TEST(Proposed, ARunFiltersAndCountsAsTheOneBefore) {
  Part made = part(toy::host(), toy::host());
  made.results.run.filter = "step|wrap";
  made.results.cases[0].variants["optimized"].metrics[instructions_metric] = toy::exact(1000);
  EXPECT_EQ(made.run_again(),
            "holdfast run toy --device=host --filter='step|wrap' --count-instructions "
            "--out=results");
}

TEST(Proposed, ForAPartThatWouldBeRefusedIsARunOfTheGateTier) {
  Part made = part(toy::dry(), toy::dry());
  made.results.tier = "smoke";
  made.may_be_accepted = [] { return false; };
  EXPECT_EQ(made.accept_command(" --new-anchor"),
            "holdfast run toy --device=cuda-dry:sm_90 --out=results");
  EXPECT_THAT(made.run_again(), HasSubstr("--tier=smoke"));
}

TEST(JudgePart, ALostValueIsToldWithItsUnit) {
  Results now = toy::dry();
  now.cases[0].variants["optimized"].metrics.erase("peak_bytes");
  Part judged = part(now, toy::dry());
  for (ListedCase& listed : judged.list.cases) std::erase(listed.devices["cuda-dry"], "peak_bytes");
  EXPECT_THAT(row(judge(judged), "peak_bytes").sentence,
              HasSubstr("has an accepted value, 1.178 MB, and"));
}

TEST(JudgePart, ALoadIsHeldAgainstTheMachinesProcessorsAndWhatKeptThemAwake) {
  const std::tuple<std::int64_t, bool, bool> seen[] = {
      {64, false, false}, {2, false, true}, {2, true, false}};
  for (const auto& [cpus, awake, busy] : seen) {
    Results now = toy::dry();
    now.quality.load = 3;
    now.env.threads = 2;
    now.env.cpus = cpus;
    now.env.awake = awake;
    toy::metric(now, "optimized", "compile_s") = {.kind = "advisory", .value = 9};
    Part judged = part(now, toy::dry());
    judged.list.metrics["compile_s"] = {"advisory", Better::lower, "s"};
    const Row told = row(judge_part(judged, policy(bounded_compile()), false, true), "compile_s");
    ASSERT_EQ(told.verdict, "REGRESSION");
    EXPECT_EQ(told.evidence.contains("load"), busy) << cpus;
    if (busy) {
      EXPECT_THAT(told.evidence.at("load"), StartsWith("3 on 2 CPUs when it was measured"));
    }
  }
}

TEST(JudgePart, OfTwoBoundsOnASumTheOneThatBlocksIsTold) {
  const std::string sum = "launches+registers_max";
  const PartVerdict warned = bounded(at_most(43, "warn") + "," + at_most(90, "block"));
  EXPECT_EQ(warned.exit, 0);
  EXPECT_EQ(row(warned, sum).verdict, "WARN");
  const PartVerdict blocked = bounded(at_most(43, "warn") + "," + at_most(43.5, "block"));
  EXPECT_EQ(blocked.exit, 1);
  EXPECT_EQ(row(blocked, sum).limit, 43.5);
  EXPECT_EQ(std::count_if(blocked.rows.begin(), blocked.rows.end(),
                          [&](const Row& one) { return one.metric == sum; }),
            1);
  const std::string alone = "registers_max";
  EXPECT_EQ(bounded(at_most(30, "warn", alone) + "," + at_most(35, "block", alone)).exit, 1);
}

TEST(JudgePart, ASumOfTheReferenceIsBounded) {
  std::string of_the_reference = at_most(900, "block");
  const std::string optimized = "optimized";
  of_the_reference.replace(of_the_reference.find(optimized), optimized.size(), "reference");
  const PartVerdict verdict = bounded(of_the_reference);
  EXPECT_EQ(row(verdict, "launches+registers_max", "reference").verdict, "REGRESSION");
  EXPECT_EQ(verdict.exit, 1);
}

// A host run whose cases as a whole spent 9 s in two stages, of which a rule allows them 5.
PartVerdict spent(const std::string& metric) {
  Part judged = part(toy::host(), toy::host());
  for (const char* stage : {"trace_s", "lower_s"}) {
    judged.list.metrics[stage] = {"advisory", Better::lower, "s"};
    judged.list.cases.front().devices["host"].push_back(stage);
    judged.results.cases.front().metrics[stage] = {.kind = "advisory", .value = 4.5};
  }
  const std::string rule = text(R"({"match": "toy/step/**", "device": "host-*", "metric": ")",
                                metric, R"(", "bound": {"max": 5, "source": "a toy's"}})");
  return judge_part(judged, policy(with_rule(rule)), false, true);
}

TEST(JudgePart, ASumOfTheWholeCaseIsBounded) {
  const PartVerdict verdict = spent("trace_s+lower_s");
  EXPECT_EQ(row(verdict, "trace_s+lower_s", "case").verdict, "REGRESSION");
  EXPECT_EQ(verdict.exit, 1);
}

TEST(JudgePart, ASumThatNoVariantHasWholeIsToldToHoldForNothing) {
  EXPECT_THAT(
      spent("trace_s+peak_bytes").not_checked,
      testing::Contains(HasSubstr("holds for nothing on host-x86_64-v4-2t, where no variant of "
                                  "toy/step/** has trace_s+peak_bytes")));
}

TEST(JudgePart, AWaiverExcusesASum) {
  const PartVerdict verdict = bounded(
      at_most(43, "block"),
      R"({"match": "toy/step/**", "metric": "launches+registers_max", "until": "2027-03-01", "why": "known"})");
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_EQ(row(verdict, "launches+registers_max").verdict, "WAIVED");
  const PartVerdict of_another = bounded(
      at_most(43, "block"),
      R"({"match": "toy/step/**", "metric": "registers_max+peak_bytes", "until": "2027-03-01", "why": "known"})");
  EXPECT_EQ(of_another.exit, 1) << "that waiver is of another sum";
}

TEST(JudgePart, AFirstBaselineThatAChangeCarriesIsAccepted) {
  Part judged = part(toy::dry(), toy::dry());
  std::swap(judged.baseline, judged.proposed);
  const PartVerdict verdict = judge(judged);
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_EQ(row(verdict, "launches").verdict, "ACCEPTED");
  EXPECT_THAT(verdict.notes, IsEmpty());
}

TEST(JudgePart, AChangeIsHeldAgainstTheBaselineThatItCarries) {
  Part judged = part(toy::dry(), toy::dry());
  std::swap(judged.baseline, judged.proposed);
  toy::metric(judged.results, "optimized", "launches") = toy::exact(5);
  EXPECT_EQ(judge(judged).exit, 1);
}

TEST(JudgePart, AValueThatIsBetterThanTheOneThatAChangeCarriesIsNotTheAcceptedOne) {
  Part judged = part(toy::dry(), toy::dry());
  std::swap(judged.baseline, judged.proposed);
  toy::metric(judged.results, "optimized", "launches") = toy::exact(3);
  EXPECT_EQ(row(judge(judged), "launches").verdict, "IMPROVED");
}

// A speedup of 10 that was accepted, of which this change accepts what `edit` makes of it.
Part with_edited_speedup(const Metric& now, const std::function<void(Entry&)>& edit) {
  Results measured = toy::host();
  toy::metric(measured, "case", "speedup") = now;
  Part judged = part(measured, toy::host());
  judged.proposed = judged.baseline;
  Entry& entry = judged.proposed->entries.at(entry_key(toy::step_id, case_variant, "speedup"));
  entry.accepted.why = "it brings accuracy";
  edit(entry);
  return judged;
}

TEST(JudgePart, ALossIsAcceptedWhereTheChangeCarriesItsValueAndTheMeasurementAgrees) {
  const auto carries = [](double value) {
    return [value](Entry& entry) { entry.value = entry.anchor.emplace(value); };
  };
  const auto verdict_of = [](const Part& judged) {
    return row(judge(judged), "speedup", "case").verdict;
  };
  const Metric half = toy::timed("ratio", 5);
  EXPECT_EQ(verdict_of(with_edited_speedup(half, carries(5))), "ACCEPTED");
  EXPECT_EQ(verdict_of(with_edited_speedup(half, carries(7))), "REGRESSION");
  const Metric few{.kind = "ratio", .processes = {5, 5, 5, 5}, .median = 5, .mad_between = 0};
  EXPECT_EQ(verdict_of(with_edited_speedup(few, carries(5))), "NOISY") << "it cannot agree";
  EXPECT_EQ(verdict_of(with_edited_speedup(toy::timed("ratio", 6),
                                           [](Entry& entry) { entry.mad_between = 1; })),
            "REGRESSION")
      << "a wider limit for the same value";
}

// Once it is merged, the same run would fail.
TEST(JudgePart, AFirstBaselineThatAChangeCarriesHoldsAllThatIsMeasured) {
  Part judged = part(toy::dry(), toy::dry());
  std::swap(judged.baseline, judged.proposed);
  judged.proposed->entries.erase(entry_key(toy::step_id, "optimized", "launches"));
  const PartVerdict verdict = judge(judged);
  EXPECT_EQ(verdict.exit, 3);
  EXPECT_THAT(row(verdict, "launches").sentence, HasSubstr("has no entry in"));
}

TEST(JudgePart, ABaselineThatAChangeCarriesHoldsNothingThatIsNotMeasured) {
  Part judged = part(toy::dry(), toy::dry());
  judged.proposed = judged.baseline;
  const Entry launches =
      judged.baseline->entries.at(entry_key(toy::step_id, "optimized", "launches"));
  judged.proposed->entries[entry_key(toy::step_id, "optimized", "syncs")] = launches;
  EXPECT_EQ(judge(judged).exit, 3);
  std::swap(judged.baseline, judged.proposed);
  EXPECT_EQ(judge(judged).exit, 3) << "that the change takes it out excuses nothing";
}

// The list changes the kind of launches, which were accepted as exact.
Part part_of_another_kind() {
  Part judged = part(toy::dry(), toy::dry());
  judged.list.metrics["launches"] = {"advisory"};
  return judged;
}

const Row& row_of_the_suite(const PartVerdict& verdict) {
  const auto at = std::find_if(verdict.rows.begin(), verdict.rows.end(),
                               [](const Row& one) { return one.case_id == "toy"; });
  if (at == verdict.rows.end()) throw std::runtime_error("no row about a metric");
  return *at;
}

TEST(ChangedMeanings, OfAMetricMustBeAccepted) {
  const PartVerdict verdict = judge(part_of_another_kind());
  EXPECT_EQ(verdict.exit, 3);
  EXPECT_EQ(row_of_the_suite(verdict).verdict, "NEW");
  EXPECT_EQ(row_of_the_suite(verdict).sentence,
            "toy on cuda-dry-sm_90: launches is advisory in 1, lower is better, says the list, and "
            "was accepted as exact in 1, lower is better");
  EXPECT_THAT(*row_of_the_suite(verdict).next, HasSubstr("holdfast baseline accept"));
}

TEST(ChangedMeanings, ExcuseNothingUntilTheyAreAccepted) {
  Part judged = part_of_another_kind();
  toy::metric(judged.results, "optimized", "launches") = toy::exact(5);
  EXPECT_EQ(row(judge(judged), "launches").verdict, "REGRESSION");
  judged.list.metrics["launches"] = {"exact", Better::higher};
  EXPECT_EQ(row(judge(judged), "launches").verdict, "REGRESSION");
}

TEST(ChangedMeanings, ThatTheChangeAcceptsAreAccepted) {
  Part judged = part_of_another_kind();
  judged.proposed =
      accept(judged.results, judged.baseline, policy().with(judged.list.metrics)).baseline;
  EXPECT_EQ(judge(judged).exit, 3) << "the policy does not say why";
  judged.reasoned = {"launches"};
  const PartVerdict verdict = judge(judged);
  EXPECT_EQ(verdict.exit, 0);
  EXPECT_EQ(row_of_the_suite(verdict).verdict, "ACCEPTED");
  EXPECT_THAT(row_of_the_suite(verdict).sentence, HasSubstr("; accepted with this change"));
}

TEST(ChangedMeanings, OfOtherMetricsAreNoNews) {
  Part judged = part(toy::dry(), toy::dry());
  judged.list.metrics["time_s"] = {"advisory"};
  EXPECT_EQ(judge(judged).exit, 0) << "no entry here is of it";
}

TEST(KernelTables, NameWhatChangedAndCountTheRest) {
  EXPECT_EQ(compare_kernels("a<f64, 4> 64/0/1024 1a; b 20/0/0 2b",
                            "a<f64, 4> 96/48/1024 3c; b 20/0/0 2b"),
            "a<f64, 4>: registers 64 -> 96, spills 0 B -> 48 B, cubin changed; 1 other kernel "
            "identical");
  EXPECT_EQ(compare_kernels("a 1/0/0 x; b 2/0/0 x; c 3/0/0 x", "a 9/0/0 x; b 2/0/0 x; c 3/0/0 x"),
            "a: registers 1 -> 9; 2 other kernels identical");
  EXPECT_EQ(compare_kernels("a 1/0/0 x", "b 1/0/0 x"), "kernel b is new; kernel a is gone");
}

TEST(KernelTables, NameWhatAKernelDoesOtherwiseWhereBothSidesKnow) {
  EXPECT_EQ(compare_kernels("a 64/0/0/blocks=16,f64=2 x; b 20/0/0 x",
                            "a 64/0/0/barrier=2,blocks=16 y; b 20/0/0 y"),
            "a: barrier 0 -> 2, f64 2 -> 0, cubin changed; b: cubin changed");
  EXPECT_EQ(compare_kernels("a 64/0/0 x", "a 64/0/0/blocks=16 x"), "all 1 kernels identical");
  EXPECT_EQ(compare_kernels("a 64/0/0/blocks=16 x", "a 64/0/0 x"), "all 1 kernels identical");
  EXPECT_EQ(compare_kernels("a 64/0/0/blocks=16 x", "a 64/0/0/blocks=32 x"), "a: blocks 16 -> 32");
  // Tables that were accepted before arguments were counted do not know them.
  EXPECT_EQ(compare_kernels("a 1/0/0/blocks=16 x", "a 1/0/0/argument_sum=5,blocks=16 x"),
            "all 1 kernels identical");
  EXPECT_EQ(compare_kernels("a 1/0/0/argument_sum=0 x", "a 1/0/0/argument_sum=5 x"),
            "a: argument_sum 0 -> 5");
}

TEST(KernelTables, HoldWhatIsKnownOfAKernelAndTheStartOfItsHash) {
  const KernelRow known = {.name = "a<f64, 4>",
                           .registers = 40,
                           .spill_bytes = 0,
                           .shared_bytes = 1024,
                           .cubin = "sha256:1a2b3c4d5e6f",
                           .evidence = {{"argument_sum", 0}, {"blocks", 42}, {"f64", 0}}};
  EXPECT_EQ(kernel_table({known, {.name = "b"}}),
            "a<f64, 4> 40/0/1024/argument_sum=0,blocks=42 1a2b3c4d; b -/-/- -");
}

TEST(KernelTables, HoldEachDigitOfASum) {
  const auto table = [](double sum) {
    return kernel_table({{.name = "a", .evidence = {{"argument_sum", sum}, {"waves", 0.25}}}});
  };
  EXPECT_EQ(table(1099511627775), "a -/-/-/argument_sum=1099511627775,waves=0.25 -");
  EXPECT_FALSE(same_arguments(table(270596761), table(270596762)));
}

TEST(KernelTables, TellKernelsOfOneNameApart) {
  const std::string before = "a 1/0/0/argument_sum=5 x; a 2/0/0/argument_sum=6 y";
  EXPECT_FALSE(same_arguments(before, "a 1/0/0/argument_sum=7 x; a 2/0/0/argument_sum=6 y"));
  EXPECT_EQ(compare_kernels(before, "a 1/0/0/argument_sum=5 x; a 3/0/0/argument_sum=6 y"),
            "a #2: registers 2 -> 3; 1 other kernel identical");
  EXPECT_EQ(compare_kernels(before, "a 1/0/0/argument_sum=5 x"),
            "kernel a #2 is gone; 1 other kernel identical");
  EXPECT_EQ(facts_by_name({{.name = "a", .registers = 1}, {.name = "a", .registers = 2}})
                .at("a #2")
                .registers,
            2);
}

TEST(KernelTables, AreReadWithoutWhatIsNoRowAndNoEvidence) {
  const auto kernels = parse_kernel_table("x;  y; a 1/0/0/blocks x");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_TRUE(kernels.at("a").evidence.empty());
}

TEST(KernelTables, TellBytesWithTheirUnit) {
  EXPECT_EQ(compare_kernels("a 1/0/1024/local_bytes=256 x", "a 1/0/26624/local_bytes=20480 x"),
            "a: shared 1024 B -> 26.62 kB, local_bytes 256 B -> 20.48 kB");
}

TEST(KernelTables, HaveTheSameArgumentsUnlessBothSidesKnowOthers) {
  const std::string known = "a 1/0/0/argument_sum=5 x";
  EXPECT_TRUE(same_arguments(known, "a 1/0/0/blocks=16 x"));
  EXPECT_TRUE(same_arguments(known, known + "; b 1/0/0/argument_sum=6 x"));
  EXPECT_FALSE(same_arguments(known, "a 1/0/0/argument_sum=6 x"));
}

TEST(KernelTables, CountThoseThatOnlyShareANewCubin) {
  EXPECT_EQ(
      compare_kernels("a 64/0/0 x; b 20/0/0 x; c 8/0/0 x", "a 96/0/0 y; b 20/0/0 y; c 8/0/0 y"),
      "a: registers 64 -> 96, cubin changed; 2 others: cubin changed, resources did not");
  EXPECT_EQ(compare_kernels("a 64/0/0 x; b 20/0/0 x", "a 64/0/0 y; b 20/0/0 y"),
            "2 kernels: cubin changed, resources did not");
  EXPECT_EQ(compare_kernels("a 64/0/0 x", "a 64/0/0 y"), "a: cubin changed");
}

}  // namespace
}  // namespace holdfast::gate
