// SPDX-License-Identifier: Apache-2.0
// The cause that a difference between two sides leads to. Each difference is planted alone.
#include "gate/explain/explain.hpp"

#include <gmock/gmock.h>

#include "gate/testing/test_profile.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The toy suite measured on a GPU: kernels, counts and times.
Results measured() {
  Results made = toy::dry();
  made.env.device_class = "nvidia-h200";
  made.env.device_name = "cuda";
  for (CaseResult& result : made.cases) {
    result.executed = true;
    result.check.status = "passed";
    for (auto& [variant, content] : result.variants) {
      content.metrics["time_s"] = toy::timed("time", variant == "optimized" ? 6e-4 : 6e-3);
      content.metrics["syncs"] = toy::exact(0);
    }
    result.metrics["speedup"] = toy::timed("ratio", 10);
  }
  return made;
}

Evidence evidence(const Results& before, const Results& now,
                  const std::vector<Profile>& profiles_before = {},
                  const std::vector<Profile>& profiles_now = {}) {
  return {.case_id = now.cases[0].id,
          .device_class = now.env.device_class,
          .device_name = now.env.device_name,
          .profile = "holdfast profile",
          .against = "results.before",
          .before = measured_side(before, before.cases[0], profiles_before),
          .now = measured_side(now, now.cases[0], profiles_now),
          .result = now.cases[0],
          .quality = now.quality};
}

std::string first_cause(const Results& now) {
  return causes(evidence(measured(), now)).front().sentence;
}

Variant& optimized(Results& results) {
  return results.cases[0].variants["optimized"];
}

// On a host, whose steps execute a million instructions.
Results walked(double cycles) {
  Results results = measured();
  results.env.device_class = toy::host().env.device_class;
  optimized(results).metrics[instructions_metric] = toy::exact(1e6);
  optimized(results).metrics[cycles_metric] = toy::exact(cycles);
  return results;
}

TEST(Explain, NamesTheMissesThatTheSameInstructionsHave) {
  const auto said = causes(evidence(walked(1.2e6), walked(3.2e6)));
  EXPECT_THAT(
      said.front().sentence,
      StartsWith("a step waits longer for its data: simulated caches cost it 2200000 cycles "
                 "instead of 200000, by the same instructions"));
  EXPECT_THAT(causes(evidence(walked(1.2e6), walked(1.3e6))).front().sentence,
              Not(HasSubstr("caches")))
      << "within a tenth of all its cycles";
}

TEST(Explain, CallsNoInstructionsTheSameThatChangedBesideTheMisses) {
  Results now = walked(3.2e6);
  for (const auto& [instructions, waits] : {std::pair(0.9e6, 2300000), {1.004e6, 2196000}}) {
    optimized(now).metrics[instructions_metric] = toy::exact(instructions);
    EXPECT_THAT(causes(evidence(walked(1.2e6), now)).front().sentence,
                AllOf(StartsWith(text("a step waits longer for its data: simulated caches cost it ",
                                      waits, " cycles instead of 200000; ")),
                      Not(HasSubstr("the same instructions"))));
  }
}

Results slowed(double optimized_by, double reference_by) {
  Results results = measured();
  CaseResult& result = results.cases[0];
  result.variants["optimized"].metrics["time_s"] = toy::timed("time", 6e-4 * optimized_by);
  result.variants["reference"].metrics["time_s"] = toy::timed("time", 6e-3 * reference_by);
  result.metrics["speedup"] = toy::timed("ratio", 10 * reference_by / optimized_by);
  return results;
}

const Rung& rung(const std::vector<Rung>& all, const std::string& name) {
  for (const Rung& one : all)
    if (one.name == name) return one;
  throw Error(Fault::bad_input, "no rung " + name);
}

TEST(Explain, ClimbsTheLadderInItsOrderAndSaysSomethingOnEachRung) {
  std::vector<std::string> names;
  for (const Rung& one : ladder(evidence(measured(), measured()))) {
    names.push_back(one.name);
    EXPECT_FALSE(one.lines.empty()) << one.name;
  }
  EXPECT_THAT(names, ElementsAre("verdict", "code", "environment", "counts", "control", "kernels",
                                 "ceilings", "detectors"));
}

TEST(Explain, CallsNothingPassedThatWasComparedWithNothing) {
  Evidence made = evidence(measured(), measured());
  made.notes = {"a note"};
  made.rows.resize(2);
  for (Row& row : made.rows) row.verdict = "PASS";
  EXPECT_THAT(rung(ladder(made), "verdict").lines, ElementsAre("a note", "all 2 metrics passed"));
  made.rows.emplace_back().verdict = "NEW";
  EXPECT_THAT(rung(ladder(made), "verdict").lines,
              ElementsAre("a note", "2 metrics passed",
                          "1 metric NEW: nothing is accepted to compare with"));
}

TEST(Explain, SaysThatNothingGotWorse) {
  EXPECT_THAT(first_cause(measured()), StartsWith("nothing got worse against results.before"));
}

TEST(Explain, WhereNoTimeWasKnownBeforeSaysThatNobodyKnowsWhetherItIsSlower) {
  Results before = measured();
  for (auto& [variant, content] : before.cases[0].variants) content.metrics.erase("time_s");
  before.cases[0].metrics.erase("speedup");
  Evidence made = evidence(before, measured());
  made.untimed = "no accepted time of this processor";
  made.compare = "holdfast ab";
  ASSERT_EQ(causes(made).size(), 1u);
  EXPECT_EQ(causes(made)[0].sentence,
            "no accepted time of this processor: counts are the same, whether it is slower is "
            "unknown");
  EXPECT_EQ(causes(made)[0].next, "holdfast ab");
}

TEST(Explain, KnowsOfARatioAloneWhetherItFell) {
  Results before = measured();
  for (auto& [variant, content] : before.cases[0].variants) content.metrics.erase("time_s");
  EXPECT_THAT(causes(evidence(before, measured())).front().sentence,
              StartsWith("nothing got worse"));
}

TEST(Explain, CallsNoCountTheSameThatRoseWhereNoTimeWasKnownBefore) {
  Results before = measured(), now = measured();
  for (auto& [variant, content] : before.cases[0].variants) content.metrics.erase("time_s");
  before.cases[0].metrics.erase("speedup");
  before.cases[0].metrics["passes"] = toy::exact(2);
  now.cases[0].metrics["passes"] = toy::exact(3);
  Evidence made = evidence(before, now);
  made.untimed = "no accepted time";
  EXPECT_EQ(causes(made).at(0).sentence,
            "no accepted time: some counts changed, whether it is slower is unknown");
}

TEST(Explain, TellsEveryCountThatDiffers) {
  Results before = measured(), now = measured();
  before.cases[0].metrics["passes"] = toy::exact(3);
  now.cases[0].metrics["passes"] = toy::exact(2);
  EXPECT_THAT(rung(ladder(evidence(before, now)), "counts").lines,
              ElementsAre(StartsWith("case  passes 3 -> 2")));
}

TEST(Explain, CountsWhatTheMachineCodeHoldsAmongTheCounts) {
  Results now = measured();
  optimized(now).metrics["registers_max"] = toy::codegen(48);
  EXPECT_THAT(rung(ladder(evidence(measured(), now)), "counts").lines,
              ElementsAre(StartsWith("optimized  registers_max 40 -> 48")));
}

TEST(Explain, TellsAShareOfTheValueBeforeUnlessThatIsZero) {
  EXPECT_EQ((ValueChange{"optimized", "syncs", 0, 4}).words(), "syncs 0 -> 4");
  EXPECT_EQ((ValueChange{"optimized", "syncs", 4, 0}).words(), "syncs 4 -> 0 (-100 %)");
}

TEST(Explain, KnowsNoChangeOfAMetricThatOneSideLacks) {
  Results without = measured();
  optimized(without).metrics.erase("time_s");
  EXPECT_FALSE(change_of(evidence(measured(), without), "optimized", "time_s"));
  EXPECT_FALSE(change_of(evidence(without, measured()), "optimized", "time_s"));
}

TEST(Explain, TellsWhichKernelsCameAndWent) {
  Results now = measured();
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[1].name = "corner";
  EXPECT_THAT(rung(ladder(evidence(measured(), now)), "code").lines,
              testing::IsSupersetOf({"optimized  corner is new", "optimized  edge is gone"}));
}

TEST(Explain, CallsNoKernelsTheSameThatHaveNoHashOrDoNotExist) {
  const auto same = [](const Results& results) {
    return same_kernels(evidence(results, results), "optimized");
  };
  EXPECT_TRUE(same(measured()));
  Results hashless = measured(), none = measured();
  for (KernelRow& kernel : optimized(hashless).kernels) kernel.cubin.reset();
  optimized(none).kernels.clear();
  EXPECT_FALSE(same(hashless));
  EXPECT_FALSE(same(none));
}

TEST(Explain, PutsMoreRegistersAndSpillsDownToTheKernel) {
  Results now = slowed(1.5, 1);
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].registers = 96;
  optimized(now).kernels[0].spill_bytes = 48;
  optimized(now).kernels[0].cubin = "sha256:3c";
  EXPECT_THAT(first_cause(now), HasSubstr("stage uses 96 registers instead of 40 and spills 48 B "
                                          "instead of 0 B: spilled values go through memory"));
  const auto rungs = ladder(evidence(measured(), now));
  EXPECT_THAT(
      rung(rungs, "code").lines,
      AllOf(Contains("optimized  the compiled code is not the same"),
            Contains(HasSubstr("stage: registers 40 -> 96, spills 0 B -> 48 B, cubin changed")),
            Contains(HasSubstr("1 other kernel identical")),
            Contains("reference  the compiled code is identical")));
}

TEST(Explain, TellsSpillsAndSharedMemoryInOneSentence) {
  Results now = measured();
  optimized(now).kernels[0].spill_bytes = 48;
  optimized(now).kernels[0].shared_bytes = 2048;
  EXPECT_THAT(first_cause(now), StartsWith("stage spills 48 B instead of 0 B, with 2048 B of "
                                           "shared memory instead of 1024 B: spilled values"));
}

TEST(Explain, PutsNothingDownToAKernelThatNeedsLess) {
  Results before = measured(), now = measured();
  optimized(before).kernels[0].spill_bytes = 48;
  optimized(before).kernels[0].shared_bytes = 2048;
  EXPECT_THAT(causes(evidence(before, now)).front().sentence, StartsWith("nothing got worse"));
}

TEST(Explain, PutsNothingDownToTheKernelsOfTheReference) {
  Results before = measured(), now = measured();
  for (const auto& [side, number] : {std::pair(&before, 2), std::pair(&now, 40)}) {
    KernelRow& kernel = side->cases[0].variants["reference"].kernels[0];
    kernel.registers = number;
    kernel.evidence["barrier"] = number;
  }
  EXPECT_THAT(causes(evidence(before, now)).front().sentence, StartsWith("nothing got worse"));
}

// The causes found for a kernel whose machine code changed.
std::vector<std::string> causes_between(const std::map<std::string, double>& before,
                                        const std::map<std::string, double>& now,
                                        const std::string& case_id = toy::step_id) {
  Results old = measured(), young = measured();
  old.cases[0].id = young.cases[0].id = case_id;
  optimized(young).identity = "sha256:cc";
  optimized(young).kernels[0].cubin = "sha256:3c";
  optimized(old).kernels[0].evidence = before;
  optimized(young).kernels[0].evidence = now;
  std::vector<std::string> sentences;
  for (const Cause& cause : causes(evidence(old, young))) sentences.push_back(cause.sentence);
  return sentences;
}
std::vector<std::string> causes_of_code(const std::string& name, double before, double now,
                                        const std::string& case_id = toy::step_id) {
  return causes_between({{"blocks", 16}, {"global_load_8", 4}, {name, before}},
                        {{"blocks", 16}, {"global_load_8", 4}, {name, now}}, case_id);
}

TEST(Explain, NamesTheKernelThatKeepsMoreInLocalMemory) {
  EXPECT_THAT(causes_of_code("local_bytes", 0, 256),
              ElementsAre(StartsWith("stage keeps 256 B of each thread in local memory instead of "
                                     "0 B: arrays that are indexed")));
}

TEST(Explain, NamesTheKernelThatAsksForMoreDynamicSharedMemory) {
  EXPECT_THAT(causes_of_code("dynamic_shared_bytes", 1024, 20480),
              ElementsAre(StartsWith("stage asks for 20.48 kB of dynamic shared memory instead of "
                                     "1024 B: fewer blocks")));
}

TEST(Explain, NamesTheKernelWithMoreBarriers) {
  EXPECT_THAT(causes_of_code("barrier", 0, 2),
              ElementsAre(StartsWith("stage holds 2 barriers instead of 0: the threads")));
}

TEST(Explain, NamesDoublePrecisionInAKernelOfSinglePrecision) {
  for (const char* id : {"toy/step/n:64/f32", "toy/step/f32/n:64"})
    EXPECT_THAT(causes_of_code("f64", 0, 12, id),
                ElementsAre(StartsWith("stage holds 12 instructions in f64 instead of 0: double")));
  EXPECT_THAT(causes_of_code("f64", 100, 112),
              ElementsAre("other machine code in the optimized variant (stage: f64 100 -> 112), "
                          "which no metric calls a loss"));
}

TEST(Explain, NamesTheKernelThatLostItsTensorInstructions) {
  EXPECT_THAT(causes_of_code("tensor", 32, 0),
              ElementsAre(StartsWith("stage holds 0 tensor instructions instead of 32: products")));
  EXPECT_THAT(causes_of_code("tensor", 0, 32), ElementsAre(StartsWith("other machine code")));
}

TEST(Explain, NamesTheKernelWithMoreAtomics) {
  EXPECT_THAT(causes_of_code("atomic", 0, 2),
              ElementsAre(StartsWith("stage holds 2 atomic instructions instead of 0: threads")));
}

TEST(Explain, NamesTheKernelWhoseAccessesBecameNarrower) {
  for (const char* memory : {"global_load_1", "shared_load_1"})
    EXPECT_THAT(causes_of_code(memory, 0, 12),
                ElementsAre(StartsWith("stage holds 16 loads and stores instead of 4: more"),
                            StartsWith("stage moves 2.75 B in a load or store instead of 8 B: ")));
}

TEST(Explain, NamesNarrowerAccessesOfWhichThereAreAsMany) {
  EXPECT_THAT(causes_between({{"global_load_8", 4}}, {{"global_load_4", 4}}),
              ElementsAre(StartsWith("stage moves 4 B in a load or store instead of 8 B: ")));
}

TEST(Explain, PutsNothingDownToCodeThatOneSideDoesNotKnow) {
  EXPECT_THAT(causes_between({{"occupancy", 0.5}}, {}), ElementsAre(StartsWith("other machine")));
  EXPECT_THAT(causes_between({}, {{"barrier", 2}}), ElementsAre(StartsWith("other machine")));
}

TEST(Explain, CallsTheSameBytesInNarrowerAccessesNoMoreData) {
  EXPECT_THAT(causes_between({{"global_store_8", 1}}, {{"global_store_4", 2}}),
              ElementsAre(StartsWith("stage moves 4 B in a load or store instead of 8 B: ")));
}

TEST(Explain, CallsNoAccessNarrowerWhereOthersWereAddedOrLeftOut) {
  EXPECT_THAT(causes_of_code("global_load_16", 0, 4),
              ElementsAre(StartsWith("stage holds 8 loads and stores instead of 4: more")));
  EXPECT_THAT(causes_of_code("shared_load_16", 4, 0), ElementsAre(StartsWith("other machine")));
}

TEST(Explain, TellsOfOtherToolsBesideWhatAKernelNeedsMoreOf) {
  Results now = measured();
  now.env.nvrtc = "13.1.20";
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].registers = 96;
  EXPECT_THAT(first_cause(now),
              AllOf(StartsWith("stage uses 96 registers instead of 40"),
                    HasSubstr("; other tools compiled it (nvrtc 13.0.88 -> 13.1.20)")));
}

// Between two disassemblers, of which the second counts this one otherwise.
Evidence counted_again(const std::string& name, double before, double now) {
  Results old = measured(), young = measured();
  old.env.nvdisasm = "13.2.51";
  young.env.nvdisasm = "13.3.9";
  optimized(old).kernels[0].evidence = {{"blocks", 16}, {name, before}};
  optimized(young).kernels[0].evidence = {{"blocks", 16}, {name, now}};
  Evidence made = evidence(old, young);
  made.accept = "holdfast baseline accept";
  return made;
}

TEST(Explain, BlamesNoKernelForWhatAnotherDisassemblerCountsInTheSameCode) {
  const auto found = causes(counted_again("barrier", 10, 12));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sentence,
            "the disassembler, not our code: nvdisasm 13.2.51 -> 13.3.9 counts the same machine "
            "code otherwise: stage holds 12 barriers instead of 10");
  EXPECT_EQ(found[0].next, "holdfast baseline accept");
  EXPECT_THAT(causes(counted_again("barrier", 12, 10)).front().sentence,
              StartsWith("nothing got worse"));
}

TEST(Explain, BlamesTheKernelForWhatNoDisassemblerCounts) {
  EXPECT_THAT(causes(counted_again("local_bytes", 0, 256)).front().sentence,
              AllOf(StartsWith("stage keeps 256 B of each thread in local memory"),
                    Not(HasSubstr("disassembler"))));
}

TEST(Explain, TellsOfAnotherDisassemblerBesideWhatOtherCodeHolds) {
  Evidence made = counted_again("barrier", 10, 12);
  made.now.kernels["optimized"]["stage"].cubin = "3c";
  EXPECT_THAT(causes(made).front().sentence,
              AllOf(StartsWith("stage holds 12 barriers instead of 10: the threads"),
                    EndsWith("; another disassembler counted it (nvdisasm 13.2.51 -> 13.3.9)")));
}

TEST(Explain, NamesTheKernelThatFillsLessOfTheDevice) {
  EXPECT_THAT(causes_of_code("occupancy", 0.5, 0.25),
              ElementsAre(StartsWith("stage has an occupancy of 0.25 instead of 0.5: less")));
}

TEST(Explain, PutsALostGraphDownToTheHostsLaunches) {
  Results before = measured(), now = measured();
  optimized(before).metrics["host_launches"] = toy::exact(1);
  optimized(now).metrics["host_launches"] = toy::exact(400);
  optimized(now).metrics["launches"] = toy::exact(3);
  const Evidence made = evidence(before, now);
  EXPECT_THAT(causes(made).front().sentence,
              AllOf(StartsWith("the host makes more launches itself, outside graphs: "
                               "host_launches 1 -> 400"),
                    HasSubstr("the host's control flow")));
  EXPECT_THAT(rung(ladder(made), "counts").lines, Contains(HasSubstr("host_launches 1 -> 400")));
}

TEST(Explain, PutsLargerProblemsDownToTheLibrariesThatGotThem) {
  Results before = measured(), now = measured();
  optimized(before).metrics["library_flops"] = toy::exact(1000);
  optimized(now).metrics["library_flops"] = toy::exact(2000);
  EXPECT_THAT(causes(evidence(before, now)).front().sentence,
              StartsWith("a step asks libraries for more arithmetic: library_flops 1000"));
}

TEST(Explain, TellsOtherThreadsUnlessMoreLaunchesBringThem) {
  Results before = measured(), now = measured();
  optimized(before).metrics["threads"] = toy::exact(1000);
  optimized(now).metrics["threads"] = toy::exact(500);
  const std::string told =
      "a step's kernels are launched in other numbers of threads: threads 1000";
  EXPECT_THAT(causes(evidence(before, now)).front().sentence, StartsWith(told));
  optimized(before).metrics["launches"] = toy::exact(2);
  optimized(now).metrics["launches"] = toy::exact(3);
  for (const Cause& cause : causes(evidence(before, now)))
    EXPECT_THAT(cause.sentence, Not(StartsWith(told)));
}

TEST(Explain, NamesTheKernelThatIsGivenOtherArguments) {
  for (const int sum : {270596760, 270596762}) {
    Results before = measured(), now = measured();
    for (const auto& [side, given] : {std::pair(&before, 270596761), std::pair(&now, sum)}) {
      optimized(*side).metrics["argument_sum"] = toy::exact(given);
      optimized(*side).kernels[0].evidence["argument_sum"] = given;
    }
    EXPECT_THAT(causes(evidence(before, before)).front().sentence, StartsWith("nothing got worse"));
    const std::string change = text("270596761 -> ", sum);
    const Evidence made = evidence(before, now);
    EXPECT_THAT(
        causes(made).front().sentence,
        AllOf(
            StartsWith("a step's kernels are given other arguments: argument_sum " + change),
            HasSubstr("; stage " + change + "; the kernels are the same, so it is what the host")));
    EXPECT_THAT(rung(ladder(made), "code").lines,
                testing::IsSupersetOf<testing::Matcher<std::string>>(
                    {"optimized  the compiled code is identical, and launched otherwise",
                     HasSubstr("stage: argument_sum " + change),
                     "reference  the compiled code is identical"}));
  }
}

TEST(Explain, PutsMoreInstructionsDownToTheCodeAndNothingToAFasterReference) {
  Results before = measured(), now = slowed(1, 0.9);
  optimized(before).metrics["instructions"] = toy::exact(43408);
  const auto told = [&](double instructions) {
    optimized(now).metrics["instructions"] = toy::exact(instructions);
    return causes(evidence(before, now));
  };
  EXPECT_THAT(told(81275),
              ElementsAre(testing::Field(
                  &Cause::sentence,
                  StartsWith("a step executes more instructions: instructions 43408 -> 81275"))));
  EXPECT_THAT(told(43500).front().sentence, StartsWith("the reference became faster"));
}

TEST(Explain, TellsBytesWithTheirUnit) {
  Results before = measured(), now = measured();
  before.ceilings["memory_bytes_per_s"] = now.ceilings["memory_bytes_per_s"] = 1.9e10;
  optimized(now).kernels[0].shared_bytes = 26624;
  Evidence made = evidence(before, now);
  made.ceilings = now.ceilings;
  EXPECT_THAT(rung(ladder(made), "code").lines,
              Contains(HasSubstr("stage: shared 1024 B -> 26.62 kB")));
  EXPECT_THAT(rung(ladder(made), "ceilings").lines,
              Contains(HasSubstr("memory_bytes_per_s 19 GB/s")));
}

TEST(Explain, TellsAKernelLastThatTheCaseDoesNotLaunch) {
  Results now = measured();
  optimized(now).identity = "sha256:cc";
  for (KernelRow& kernel : optimized(now).kernels) kernel.registers = 96;
  optimized(now).kernels[1].launches = 0;
  const std::vector<Cause> found = causes(evidence(measured(), now));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].sentence, StartsWith("stage uses 96 registers instead of 40: fewer blocks"));
  EXPECT_THAT(found[1].sentence, HasSubstr("edge uses 96 registers instead of 20, and is not "
                                           "launched in this case"));
}

TEST(Explain, SharesALineAmongKernelsThatKeptTheirResources) {
  Results now = measured();
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].registers = 48;
  for (KernelRow& kernel : optimized(now).kernels) kernel.cubin = "sha256:3c";
  EXPECT_THAT(rung(ladder(evidence(measured(), now)), "code").lines,
              AllOf(Contains("optimized  stage: registers 40 -> 48, cubin changed"),
                    Contains("optimized  edge: cubin changed, resources did not")));
}

TEST(Explain, CallsNoResourceKeptThatChangedWithTheCubin) {
  const std::pair<std::optional<std::int64_t> KernelRow::*, const char*> resources[] = {
      {&KernelRow::registers, "registers 40 -> 48"},
      {&KernelRow::spill_bytes, "spills 0 B -> 48 B"},
      {&KernelRow::shared_bytes, "shared 1024 B -> 48 B"}};
  for (const auto& [resource, told] : resources) {
    Results now = measured();
    optimized(now).identity = "sha256:cc";
    optimized(now).kernels[0].cubin = "sha256:3c";
    optimized(now).kernels[0].*resource = 48;
    EXPECT_THAT(rung(ladder(evidence(measured(), now)), "code").lines,
                Contains(text("optimized  stage: ", told, ", cubin changed")));
  }
}

// The toy with one more launch of the same kernel. The identity covers launches as well.
Results launched_once_more() {
  Results now = measured();
  optimized(now).identity = "sha256:cc";
  optimized(now).metrics["launches"] = toy::exact(5);
  optimized(now).kernels[1].launches = 2;
  return now;
}

TEST(Explain, PutsOneMoreLaunchOfTheSameKernelsDownToTheHost) {
  EXPECT_THAT(first_cause(launched_once_more()),
              AllOf(HasSubstr("a step makes more launches: launches 4 -> 5 (+25 %); edge 1 -> 2"),
                    HasSubstr("the kernels are the same, so it is the host's control flow")));
}

TEST(Explain, NamesTheKernelsOfTheVariantThatAreLaunchedMoreOftenAndNoOthers) {
  Results now = launched_once_more();
  optimized(now).kernels[0].launches = 3;
  optimized(now).kernels[0].cubin = "sha256:3c";
  now.cases[0].variants["reference"].kernels[0].launches = 9;
  EXPECT_THAT(first_cause(now), EndsWith("launches 4 -> 5 (+25 %); edge 1 -> 2"));
}

TEST(Explain, CallsKernelsThatAreLaunchedMoreOftenTheSameCode) {
  EXPECT_THAT(rung(ladder(evidence(measured(), launched_once_more())), "code").lines,
              ElementsAre("optimized  the compiled code is identical, and launched more often",
                          "reference  the compiled code is identical"));
  Results reshaped = measured();
  optimized(reshaped).identity = "sha256:cc";
  EXPECT_THAT(rung(ladder(evidence(measured(), reshaped)), "code").lines,
              Contains("optimized  the compiled code is identical, and launched otherwise"));
}

TEST(Explain, CallsNoOtherMachineCodeTheSameCodeLaunchedOtherwise) {
  EXPECT_THAT(causes(evidence(launched_once_more(), measured())).front().sentence,
              StartsWith("the same machine code, launched otherwise, in the optimized variant"));
  Results slower = slowed(1.2, 1.0);
  optimized(slower).identity = "sha256:cc";
  EXPECT_THAT(first_cause(slower), AllOf(StartsWith("a step takes 720 us"),
                                         EndsWith(": the same machine code, launched otherwise")));
}

TEST(Explain, CallsCodeWithAKernelMoreNotTheSame) {
  Results now = launched_once_more();
  optimized(now).kernels.push_back(optimized(now).kernels[1]);
  optimized(now).kernels.back().name = "corner";
  EXPECT_THAT(rung(ladder(evidence(measured(), now)), "code").lines,
              Contains("optimized  the compiled code is not the same"));
}

TEST(Explain, PutsATimeThatTheReferenceSharesDownToTheMachine) {
  EXPECT_THAT(first_cause(slowed(1.2, 1.2)),
              AllOf(StartsWith("the machine, not the code: the compiled code is identical and the "
                               "reference variant moved by +20 %"),
                    HasSubstr("a step takes 720 us instead of 600 us (+20 %)")));
}

TEST(Explain, BlamesTheMachineAloneForNoCodeThatNobodyKnows) {
  Results before = measured(), now = slowed(1.2, 1.2);
  for (Results* side : {&before, &now})
    for (auto& [variant, content] : side->cases[0].variants) {
      content.identity.reset();
      content.kernels.clear();
    }
  Evidence made = evidence(before, now);
  made.compare = "holdfast ab";
  EXPECT_THAT(causes(made).front().sentence,
              AllOf(StartsWith("the machine, or code that both variants share: the reference "
                               "variant moved by +20 %"),
                    Not(HasSubstr("not the code"))));
  EXPECT_EQ(causes(made).front().next, "holdfast ab");
}

TEST(Explain, TakesWhatTheVariantsShareFromTheirRatioNotFromTwoTimesOfOtherMoments) {
  Results before = measured(), now = slowed(1.44, 1.32);
  for (Results* side : {&before, &now}) {
    side->env.device_class = toy::host().env.device_class;
    for (auto& [variant, content] : side->cases[0].variants) {
      content.identity.reset();
      content.kernels.clear();
    }
  }
  const auto said = [&](double speedup) {
    now.cases[0].metrics["speedup"] = toy::timed("ratio", speedup);
    return causes(evidence(before, now)).front().sentence;
  };
  EXPECT_THAT(said(9.9), StartsWith("the machine, or code that both variants share"));
  EXPECT_THAT(said(9), HasSubstr("the code of this variant, by what the control did not share"));
}

TEST(Explain, BlamesTheMachineForATimeOfWhichTheReferenceSharesNearlyAll) {
  EXPECT_THAT(first_cause(slowed(1.2, 1.17)), StartsWith("the machine, not the code"));
}

TEST(Explain, SaysNothingOfToolsAndCountsThatTheOtherSideDoesNotTell) {
  Evidence timed = evidence(measured(), measured());
  timed.before->environment.clear();
  std::erase_if(timed.before->values,
                [](const auto& value) { return value.first.second != "time_s"; });
  const std::vector<Rung> all = ladder(timed);
  EXPECT_THAT(rung(all, "environment").lines, ElementsAre("no tools are known of the other side"));
  EXPECT_THAT(rung(all, "counts").lines, ElementsAre("no count is known on both sides"));
}

TEST(Explain, DoesNotBlameTheMachineWhereTheControlStayed) {
  EXPECT_THAT(first_cause(slowed(1.2, 1.01)), AllOf(Not(HasSubstr("the machine, not the code")),
                                                    HasSubstr("the reference moved by only +1 %")));
}

TEST(Explain, DoesNotBlameTheMachineForALossOfWhichTheControlHadAThird) {
  EXPECT_THAT(first_cause(slowed(1.04, 1.012)),
              AllOf(Not(HasSubstr("the machine, not the code")),
                    HasSubstr("the reference moved by only +1.2 %")));
}

TEST(Explain, DoesNotBlameTheMachineWhereTheCodeChanged) {
  Results now = slowed(1.2, 1.2);
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].cubin = "sha256:3c";
  EXPECT_THAT(first_cause(now), StartsWith("other machine code in stage: a step takes"));
}

TEST(Explain, DoesNotBlameTheMachineForWhatTheControlDidNotShare) {
  EXPECT_THAT(first_cause(slowed(1.4, 1.2)),
              AllOf(Not(HasSubstr("the machine, not the code")),
                    HasSubstr("while the reference moved by +20 %")));
}

TEST(Explain, DoesNotGuessWhichVariantMovedWhereOnlyTheSpeedupIsKnown) {
  Results before = measured(), now = slowed(1, 0.5);
  for (Results* side : {&before, &now})
    for (auto& [variant, content] : side->cases[0].variants) content.metrics.erase("time_s");
  EXPECT_THAT(causes(evidence(before, now)).front().sentence,
              AllOf(StartsWith("the speedup fell: speedup 10 -> 5"),
                    Not(HasSubstr("the reference became faster"))));
}

TEST(Explain, LeavesATimeAloneThatTheGateLetPass) {
  Evidence judged = evidence(measured(), slowed(1.2, 1.2));
  judged.rows.push_back({toy::step_id, "nvidia-h200", "optimized", "time_s"});
  judged.rows.front().verdict = "PASS";
  EXPECT_THAT(causes(judged).front().sentence, StartsWith("nothing got worse"));
  judged.rows.front().verdict = "NOISY";
  EXPECT_THAT(causes(judged).front().sentence, StartsWith("the machine, not the code"));
  judged.rows.front().verdict = "NEW";
  judged.rows.front().blocking = true;
  EXPECT_THAT(causes(judged).front().sentence, StartsWith("the machine, not the code"));
}

TEST(Explain, CallsFourPercentMoreTimeALossOnAGpuAndNoneOnAHost) {
  EXPECT_THAT(first_cause(slowed(1.04, 1)), StartsWith("a step takes 624 us"));
  Results before = measured(), now = slowed(1.04, 1);
  before.env.device_class = now.env.device_class = toy::host().env.device_class;
  EXPECT_THAT(causes(evidence(before, now)).front().sentence, StartsWith("nothing got worse"));
}

TEST(Explain, PutsALowerSpeedupDownToAFasterReference) {
  EXPECT_EQ(first_cause(slowed(1, 0.5)),
            "the reference became faster, not the optimized variant slower: time_s 6 ms -> 3 ms "
            "(-50 %)");
}

TEST(Explain, NamesBothVariantsWhereTheReferenceMadeLittleOfTheLoss) {
  Results before = measured(), now = slowed(1.045, 0.99);
  before.env.device_class = now.env.device_class = toy::host().env.device_class;
  EXPECT_EQ(causes(evidence(before, now)).front().sentence,
            "the speedup fell: speedup 10 -> 9.474 (-5.26 %); the compiled code is identical and a "
            "step takes 627 us instead of 600 us (+4.5 %), and the reference moved by -1 %");
  for (Results* side : {&before, &now})
    side->cases[0].variants["reference"].metrics.erase("time_s");
  EXPECT_THAT(causes(evidence(before, now)).front().sentence,
              AllOf(StartsWith("the speedup fell: speedup 10 -> 9.474"),
                    EndsWith(", and no control tells what the reference did")));
}

// The first cause where the machine code changed and the gate fails for this metric.
std::string cause_of_failure(const std::string& metric, const std::string& sentence) {
  Results now = measured();
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].cubin = "sha256:3c";
  Evidence judged = evidence(measured(), now);
  Row& row = judged.rows.emplace_back(Row{toy::step_id, "nvidia-h200", "optimized", metric});
  row.verdict = "REGRESSION";
  row.blocking = true;
  row.sentence = sentence;
  return causes(judged).front().sentence;
}

TEST(Explain, TellsWhatFailsTheGateBeforeOtherMachineCode) {
  EXPECT_THAT(cause_of_failure("estimate_ratio", "estimate_ratio is 1.2, above the bound of 1.01"),
              StartsWith("estimate_ratio is 1.2"));
}

TEST(Explain, SaysOfABlockingIdentityWhatMadeTheOtherCode) {
  EXPECT_THAT(cause_of_failure("identity", "identity is another"),
              StartsWith("other machine code in the optimized variant"));
}

TEST(Explain, PutsOtherCodeOfOtherToolsDownToTheTools) {
  Results now = measured();
  now.env.nvrtc = "13.1.20";
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].cubin = "sha256:3c";
  EXPECT_THAT(first_cause(now),
              StartsWith("the tools, not our code: nvrtc 13.0.88 -> 13.1.20 compiled other"));
  EXPECT_THAT(rung(ladder(evidence(measured(), now)), "environment").lines,
              Contains("nvrtc 13.0.88 -> 13.1.20"));
}

TEST(Explain, PutsKernelsThatAreLaunchedOtherwiseDownToNoTool) {
  Results now = measured();
  now.env.nvrtc = "13.1.20";
  optimized(now).identity = "sha256:cc";
  EXPECT_THAT(first_cause(now), StartsWith("the same machine code, launched otherwise"));
}

TEST(Explain, TellsOfAVariantsOtherCodeItsOwnKernelsAlone) {
  Results before = measured(), now = measured();
  optimized(now).identity = "sha256:cc";
  optimized(now).kernels[0].cubin = "sha256:3c";
  before.cases[0].variants["reference"].kernels[0].evidence["f64"] = 1;
  now.cases[0].variants["reference"].kernels[0].evidence["f64"] = 2;
  EXPECT_EQ(causes(evidence(before, now)).front().sentence,
            "other machine code in the optimized variant, which no metric calls a loss");
}

TEST(Explain, NamesSynchronisationsAndMemory) {
  Results now = measured();
  optimized(now).metrics["syncs"] = toy::exact(1);
  optimized(now).metrics["peak_bytes"] = toy::exact(2 * 1177856);
  std::vector<std::string> sentences;
  for (const Cause& cause : causes(evidence(measured(), now))) sentences.push_back(cause.sentence);
  EXPECT_THAT(sentences, ElementsAre(HasSubstr("waits more often for the device: syncs 0 -> 1"),
                                     HasSubstr("peak_bytes 1.178 MB -> 2.356 MB (+100 %)")));
}

TEST(Explain, SaysThatAWrongResultHasNoSpeed) {
  Results now = slowed(2, 1);
  now.cases[0].status = "failed";
  now.cases[0].check = {.status = "failed", .error = 3e-3, .limit = 1e-12, .oracle = "golden"};
  EXPECT_THAT(first_cause(now),
              HasSubstr("the result is wrong, so its speed says nothing: its error "
                        "is 0.003 and may be at most 1e-12"));
}

TEST(Explain, TellsTheReasonOfAWrongResultWhoseErrorHasNoLimit) {
  Results now = measured();
  now.cases[0].check = {.status = "failed", .error = 3e-3};
  now.cases[0].reason = "the reference is wrong";
  EXPECT_EQ(first_cause(now),
            "the result is wrong, so its speed says nothing: the reference is wrong");
}

TEST(Explain, TellsWhyACaseGaveNoResult) {
  Results now = measured();
  now.cases[0].status = "skipped";
  EXPECT_EQ(first_cause(now), "the case gave no result (skipped): no reason was given");
  now.cases[0].reason = "too little memory";
  EXPECT_EQ(first_cause(now), "the case gave no result (skipped): too little memory");
}

TEST(Explain, SharesTheChangeAmongTheKernelsWhereBothSidesWereProfiled) {
  const std::vector<Profile> before = {toy::parsed(toy::gpu_profile())};
  toy::json slower = toy::gpu_profile();
  slower["ops"][0] = toy::operation("stage", "fused", 40, 9.5e-5);
  slower["ops"][0]["grid"] = {132, 1, 1};
  Results now = slowed(1.2, 1);
  const Evidence all = evidence(measured(), now, before, {toy::parsed(slower)});
  const auto rungs = ladder(all);
  EXPECT_THAT(rung(rungs, "kernels").lines,
              ElementsAre("optimized  stage  260 us -> 380 us per step, 100 % of the change"));
  EXPECT_THAT(
      rung(rungs, "code").lines,
      Contains(HasSubstr("stage: launched as 132x1x1 blocks of 256x1x1 instead of 264x1x1")));
  EXPECT_THAT(causes(all).front().sentence, HasSubstr("most of it in stage (120 us per step)"));
}

// A profile of one kernel, launched in blocks of these numbers.
Profile launched_in(const std::vector<int>& blocks) {
  toy::json made = toy::gpu_profile();
  const toy::json one = made["ops"][0];
  for (const int count : blocks) {
    made["ops"].push_back(one);
    made["ops"].back()["grid"] = {count, 1, 1};
  }
  made["ops"].erase(made["ops"].begin());
  return toy::parsed(made);
}

TEST(Explain, OfSeveralShapesNamesThoseThatChanged) {
  const auto told = [](const std::vector<int>& before, const std::vector<int>& now) {
    const Evidence all =
        evidence(measured(), measured(), {launched_in(before)}, {launched_in(now)});
    const auto rungs = ladder(all);
    for (const std::string& line : rung(rungs, "code").lines)
      if (const auto at = line.find(": "); line.find("launched") != line.npos && at != line.npos)
        return line.substr(at + 2);
    return std::string();
  };
  const std::string of = "x1x1 blocks of 256x1x1";
  EXPECT_EQ(told({100, 264}, {100, 132}), "launched as 132" + of + " instead of 264" + of);
  EXPECT_EQ(told({100}, {100, 132}), "launched as 132" + of + " too");
  EXPECT_EQ(told({100, 264}, {100}), "launched as 264" + of + " no more");
  EXPECT_EQ(told({100, 264}, {264, 100}), "");
}

TEST(Explain, NamesNoKernelThatTookMostWhereNoneLostOrOneSideWasNotTimed) {
  toy::json slower = toy::gpu_profile();
  slower["ops"][0] = toy::operation("stage", "fused", 40, 9.5e-5);
  const Profile timed = toy::parsed(toy::gpu_profile());
  for (const Profile& before : {toy::parsed(slower), toy::parsed(toy::dry_profile())})
    EXPECT_THAT(causes(evidence(measured(), slowed(1.2, 1), {before}, {timed})).front().sentence,
                AllOf(StartsWith("a step takes 720 us"), Not(HasSubstr("most of it"))));
}

TEST(Explain, SharesLaunchesWhereNothingWasExecuted) {
  const std::vector<Profile> before = {toy::parsed(toy::dry_profile())};
  toy::json more = toy::dry_profile();
  more["ops"][1]["count"] = 50;
  EXPECT_THAT(
      rung(ladder(evidence(measured(), measured(), before, {toy::parsed(more)})), "kernels").lines,
      ElementsAre("optimized  edge  4 -> 5 launches per step, 100 % of the change"));
}

TEST(Explain, ReadsTheBaselineAsASide) {
  Baseline baseline{.device_class = "nvidia-h200", .fingerprint = {.nvrtc = "13.0.88"}};
  const std::string id = toy::step_id;
  baseline.entries[id + "|optimized|launches"].value = 3.0;
  baseline.entries[id + "|optimized|kernels"].value =
      std::string("stage 38/0/1024 1a000000; edge 20/0/0 2b000000");
  baseline.entries["toy/step/n:64/f64x|optimized|launches"].value = 7.0;
  const Side side = baseline_side(baseline, id);
  EXPECT_EQ(side.number("optimized", "launches"), 3);
  EXPECT_EQ(side.kernels.at("optimized").at("stage").registers, 38);
  EXPECT_EQ(side.environment.at("nvrtc"), "13.0.88");
}

}  // namespace
}  // namespace holdfast::gate
