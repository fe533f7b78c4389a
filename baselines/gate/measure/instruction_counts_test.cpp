// SPDX-License-Identifier: Apache-2.0
// Counts of instructions: what is read of callgrind, and the real `holdfast run` on a suite whose
// steps execute a known number of them.
#include "gate/measure/instruction_counts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "base/machine.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/measure/suite_run.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* spin = "counted_suite/spin/n:1/f64";
constexpr double instructions_of_a_round = 2;
constexpr double rounds = 200'000;

// Of dumps with these instructions; -1 where a step has no count.
double instructions_of_a_step(const std::vector<double>& instructions, std::string& why) {
  std::vector<Executed> dumps;
  for (const double one : instructions) dumps.push_back({.instructions = one});
  const auto step = count_of_a_step(dumps, why);
  return step ? step->instructions : -1;
}

TEST(InstructionCounts, AStepIsWhatItAddsToNone) {
  std::string why;
  EXPECT_EQ(instructions_of_a_step({10, 110, 110, 110}, why), 100);
  EXPECT_EQ(instructions_of_a_step({10, 110, 110}, why), 100);
}

TEST(InstructionCounts, TheCyclesOfAStepAreThoseOfTheSecondWhereBothDumpsHave) {
  std::string why;
  EXPECT_EQ(count_of_a_step({{10, 50}, {110, 900}, {110, 250}}, why).value().cycles, 200);
  EXPECT_LT(count_of_a_step({{10, 50}, {110, 900}, {110, -1}}, why).value().cycles, 0);
  EXPECT_LT(count_of_a_step({{10, -1}, {110, 900}, {110, 250}}, why).value().cycles, 0);
}

TEST(InstructionCounts, AStateThatIsNotSteadyHasNone) {
  std::string why;
  EXPECT_EQ(instructions_of_a_step({10, 110'010, 110'010, 112'000}, why), -1);
  EXPECT_THAT(why, HasSubstr("one step executes 110"));
  EXPECT_EQ(instructions_of_a_step({110, 110, 110}, why), -1) << "a step as much as none";
}

TEST(InstructionCounts, WhatAnAllocatorFindsMayDiffer) {
  std::string why;
  EXPECT_EQ(instructions_of_a_step({0, 1'000'000, 1'000'050, 1'000'990}, why), 1'000'050);
  EXPECT_EQ(instructions_of_a_step({0, 100'000, 100'050, 100'390}, why), 100'050);
}

TEST(InstructionCounts, AMissingDumpIsToldApart) {
  std::string why;
  EXPECT_EQ(instructions_of_a_step({10, -1, 110}, why), -1);
  EXPECT_THAT(why, HasSubstr("left no dump"));
  EXPECT_EQ(instructions_of_a_step({-1, 110, 110}, why), -1);
  EXPECT_EQ(instructions_of_a_step({10, 110, 110, -1, 110}, why), -1);
  EXPECT_EQ(instructions_of_a_step({10, 110}, why), -1);
  EXPECT_EQ(instructions_of_a_step({}, why), -1);
}

TEST(InstructionCounts, AnyOfTheStepsThatDoesLessIsFound) {
  for (std::size_t lazy = 1; lazy <= 8; ++lazy) {
    std::vector<double> dumps(9, 110'000);
    dumps[0] = 100;
    std::string why;
    EXPECT_EQ(instructions_of_a_step(dumps, why), 109'900);
    dumps[lazy] = 10'000;
    EXPECT_EQ(instructions_of_a_step(dumps, why), -1) << lazy;
    EXPECT_THAT(why, HasSubstr(lazy == 1 ? "one step executes 9900" : "a later one 9900"));
  }
}

TEST(InstructionCounts, DumpsAreReadByTheirNames) {
  const TemporaryFolder folder("dumps");
  const auto dump = [&](const char* file, const char* name, int total) {
    write_file(folder.path() / file,
               text("version: 1\n\ndesc: Trigger: Client Request: ", name,
                    "\n\nevents: Ir Dr\n\nsummary: ", total, " 3\n\ntotals: ", total, " 3\n"));
  };
  dump("counts.1", "toy/a/f64|optimized|0", 10);
  dump("counts.2", "toy/a/f64|optimized|1", 20);
  dump("counts.3", "toy/a/f64|optimized|2", 10);
  write_file(folder.path() / "counts", "desc: Trigger: Program termination\n\ntotals: 7\n");
  const Dumps dumps = read_dumps(folder.path());
  ASSERT_EQ(dumps.size(), 1u);
  std::vector<double> instructions;
  for (const Executed& one : dumps.at("toy/a/f64|optimized")) {
    instructions.push_back(one.instructions);
    EXPECT_LT(one.cycles, 0);
  }
  EXPECT_THAT(instructions, testing::ElementsAre(10, 20, 10));
}

TEST(InstructionCounts, ADumpOfANumberThatNoSuiteWritesTakesNoMemory) {
  const TemporaryFolder folder("dumps");
  write_file(folder.path() / "counts.1",
             "desc: Trigger: Client Request: toy/a/f64|optimized|1000000000000000\n"
             "events: Ir\ntotals: 1000\n");
  EXPECT_TRUE(read_dumps(folder.path()).at("toy/a/f64|optimized").empty());
}

TEST(InstructionCounts, CyclesWeighInstructionsAndMissesOfData) {
  const TemporaryFolder folder("dumps");
  write_file(folder.path() / "counts.1",
             "desc: Trigger: Client Request: toy/a/f64|optimized|0\n"
             "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\ntotals: 1000 9 9 7 5 3 7 2 1\n");
  write_file(folder.path() / "counts.2",
             "desc: Trigger: Client Request: toy/a/f64|optimized|1\n"
             "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\ntotals: 2000 9 9 7 5\n");
  const auto dumps = read_dumps(folder.path()).at("toy/a/f64|optimized");
  EXPECT_EQ(dumps.at(0).instructions, 1000);
  EXPECT_EQ(dumps.at(0).cycles, 1000 + 10 * (5 + 3) + 100 * (2 + 1));
  EXPECT_EQ(dumps.at(1).cycles, 2000 + 10 * 5) << "zeros at the end are left out";
}

// A valgrind that leaves the dumps of each case, 100 instructions a step, and notes it in `begun`;
// for toy/bad it does `bad`.
class CountingProcesses : public testing::Test {
 protected:
  TemporaryFolder folder_{"counting"};
  std::vector<std::string> complaints_ = {};
  std::vector<std::string> promised_ = {instructions_metric};
  std::string first_ = "true";  // done before any case

  Results count(const std::string& bad, double timeout_seconds = 60) {
    const fs::path valgrind = folder_.path() / "valgrind";
    write_file(valgrind, text(R"(#!/bin/sh
for word; do
  case $word in
    --callgrind-out-file=*) out=${word#*=} ;;
    --filter=*) ids=$(echo "${word#*=}" | tr -d '^()$' | tr '|' ' ') ;;
  esac
done
)",
                              first_, R"(
for id in $ids; do
  echo "[1/1] $id" >&2
  echo $id >> ${0%/*}/begun
  [ $id != toy/bad ] || { echo "about to fall" >&2; )",
                              bad, R"(; }
  for step in 0:5 1:105 2:105; do
    printf 'desc: Trigger: Client Request: %s|optimized|%s\nevents: Ir\ntotals: %s\n' \
      $id ${step%:*} ${step#*:} > $out.$(echo $id | tr / .).${step%:*}
  done
done
exit ${failed:-0}
)"));
    fs::remove(folder_.path() / "begun");
    fs::permissions(valgrind, fs::perms::owner_all);
    Results results{.suite = "toy", .tier = "gate"};
    for (const char* id : {"toy/a", "toy/b", "toy/bad", "toy/c", "toy/d", "toy/e"}) {
      results.cases.push_back({.id = id, .tier = "gate", .status = "ok"});
      for (const std::string& name : promised_)
        results.cases.back().variants["optimized"].metrics[name] = {.kind = "exact"};
    }
    complaints_ = count_instructions(
        {.valgrind = valgrind, .binary = "toy", .timeout_seconds = timeout_seconds}, results);
    return results;
  }
  std::vector<std::string> begun() const {
    std::vector<std::string> ids;
    std::istringstream lines(read_file(folder_.path() / "begun"));
    for (std::string id; std::getline(lines, id);) ids.push_back(id);
    return ids;
  }
  static std::set<std::string> uncounted(const Results& results) {
    std::set<std::string> ids;
    for (const CaseResult& result : results.cases)
      if (!result.variants.at("optimized").metrics.contains(instructions_metric))
        ids.insert(result.id);
    return ids;
  }
};

TEST_F(CountingProcesses, ACaseThatEndsOneCostsNoOther) {
  for (const char* bad : {"kill -9 $$", "exit 2", "exit 77"}) {
    EXPECT_THAT(uncounted(count(bad)), testing::ElementsAre("toy/bad")) << bad;
    ASSERT_EQ(complaints_.size(), 1u) << bad;
    EXPECT_THAT(complaints_[0],
                AllOf(HasSubstr("toy/bad: the counting process "), HasSubstr("about to fall")));
    EXPECT_THAT(begun(), SizeIs(6)) << "each is counted once";
  }
}

TEST_F(CountingProcesses, ACaseThatHangsCostsNoOther) {
  if (stretch_of_load(load_of_keepers("host")) > 2)
    GTEST_SKIP() << "on a machine as busy as this it may take the time of all";
  EXPECT_THAT(uncounted(count("exec tail -f /dev/null", 6)), testing::ElementsAre("toy/bad"));
  ASSERT_EQ(complaints_.size(), 1u);
  EXPECT_THAT(complaints_[0], HasSubstr("toy/bad: the counting process "));
}

// As where its result is wrong: the suite goes on, and fails at its end.
TEST_F(CountingProcesses, ACaseThatFailsIsToldAsOneWithoutDumps) {
  EXPECT_THAT(uncounted(count("failed=1; continue")), testing::ElementsAre("toy/bad"));
  EXPECT_THAT(complaints_,
              testing::ElementsAre("toy/bad optimized: callgrind left no dump of its steps"));
}

TEST_F(CountingProcesses, OneThatEndsBeforeItsFirstCaseIsNotBegunAgain) {
  first_ = "kill -9 $$";
  EXPECT_THAT(uncounted(count("true")), SizeIs(6));
  EXPECT_THAT(complaints_, SizeIs(std::min(usable_cpus(), 2))) << "one of each process";
  EXPECT_THAT(complaints_, testing::Each(testing::StartsWith("the counting process ")));
}

TEST_F(CountingProcesses, WithoutCachesKeepTheirInstructions) {
  promised_.push_back(cycles_metric);
  const Results results = count("true");
  EXPECT_THAT(uncounted(results), testing::IsEmpty());
  for (const CaseResult& result : results.cases)
    EXPECT_FALSE(result.variants.at("optimized").metrics.contains(cycles_metric)) << result.id;
  EXPECT_THAT(complaints_,
              AllOf(SizeIs(6), testing::Contains("toy/a optimized: callgrind simulated "
                                                 "no caches")));
}

TEST_F(CountingProcesses, AllAreCountedWhereNoneIsBad) {
  EXPECT_THAT(uncounted(count("true")), testing::IsEmpty());
  EXPECT_TRUE(complaints_.empty());
}

// Times of one short process decide nothing here, so the policy leaves them alone.
const std::string counting_policy = R"({"schema": "holdfast-policy/1",
 "kinds": {"exact": {"gate": "block", "tolerance": 0, "two_sided": ["reference"]},
           "ratio": {"gate": "off"}, "time": {"gate": "off"}, "bound": {"gate": "off"},
           "codegen": {"gate": "off"}, "advisory": {"gate": "off"}},
 "metrics": {"instructions": {"tolerance": 0.005, "patch_tolerance": 0.02, "same": ["compiler"],
                              "on_request": "--count-instructions"},
             "estimated_cycles": {"tolerance": 0.1, "patch_tolerance": 0.15, "same": ["compiler"],
                                  "on_request": "--count-instructions"}},
 "rules": [], "waivers": []})";

class CountedSuite : public GateCommand {
 protected:
  void SetUp() override {
    GateCommand::SetUp();
    write_file(common_policy_, counting_policy);
    const Outcome listed =
        run_task({.program = COUNTED_SUITE_BINARY, .arguments = {"--list=json"}});
    write_file(lists_ / "counted_suite.list.json", listed.output);
    fs::remove(lists_ / "toy.list.json");
    const std::string content = provenance(COUNTED_SUITE_BINARY).content;
    write_file(lists_ / "content.json",
               R"({"content": ")" + content + R"(", "git": {"dirty": true, "sha": null}})");
    try {
      (void)find_valgrind("this test");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Outcome run(std::map<std::string, std::string> environment,
              const std::vector<std::string>& more = {"--count-instructions"}) {
    fs::remove_all(results_);
    return run_on("host", toy::joined({"--processes=1"}, more), std::move(environment));
  }
  Outcome run_on(const std::string& device, const std::vector<std::string>& more,
                 std::map<std::string, std::string> environment = {}) const {
    return run_task({.program = HOLDFAST_BINARY,
                     .arguments = toy::joined({"run", COUNTED_SUITE_BINARY, "--device=" + device,
                                               "--out=" + results_.string()},
                                              more),
                     .environment = std::move(environment),
                     .timeout_seconds = 200});
  }
  Results results() const {
    for (const auto& file : fs::recursive_directory_iterator(results_))
      if (file.path().filename() == "counted_suite.json") return read_results(file.path());
    throw Error(Fault::bad_input, "no result file");
  }
  double count(const std::string& variant = "optimized") const {
    return results().cases.front().variants.at(variant).metrics.at("instructions").value.value();
  }
  fs::path stored() const {
    return baselines_ / "devices" / results().env.device_class / "counted_suite.json";
  }
};

TEST_F(CountedSuite, CallsTheHostWhatTheGateCallsIt) {
  ASSERT_EQ(run({}, {}).code, 0);
  EXPECT_EQ(results().env.device_class, host_class());
  EXPECT_EQ(results().env.processor, processor().id);
  EXPECT_NE(processor().id, "unknown");
}

TEST_F(CountedSuite, CountsRepeatExactlyAndShowAPlantedPercentExactly) {
  ASSERT_EQ(run({}).code, 0);
  const double plain = count();
  const double reference = count("reference");
  EXPECT_GE(plain, instructions_of_a_round * rounds);
  EXPECT_LT(plain, instructions_of_a_round * rounds + 100) << "the harness counts itself";
  EXPECT_EQ(reference - plain, 2 * instructions_of_a_round * rounds);
  ASSERT_EQ(accept({"--counts-only"}), 0) << complaints_;

  const std::string counts_nothing = "--collect-atstart=no";
  ASSERT_EQ(
      run({{"SOME_VARIABLE", std::string(1000, 'x')}, {"VALGRIND_OPTS", counts_nothing}}).code, 0);
  EXPECT_EQ(count(), plain);
  EXPECT_EQ(check(), 0) << output_;

  ASSERT_EQ(run({{"PLANTED_PERCENT", "1"}}).code, 0);
  EXPECT_EQ(count() - plain, 0.01 * instructions_of_a_round * rounds);
  EXPECT_EQ(count("reference"), reference);
  expect_output(check(), 1,
                AllOf(HasSubstr("REGRESSION"), HasSubstr("instructions"),
                      HasSubstr("(+1 %), the limit is +0.5 %")));

  // What was not requested is reported, and neither missing nor lost when a run without it is
  // accepted.
  ASSERT_EQ(run({}, {}).code, 0);
  expect_output(
      check(), 0,
      AllOf(HasSubstr("instructions: this run was not asked for it; measure with "
                      "--count-instructions"),
            HasSubstr("(passed; 4 accepted or bounded values of estimated_cycles and instructions "
                      "not measured here)")));
  ASSERT_EQ(accept({"--counts-only"}), 0) << complaints_;
  EXPECT_EQ(read_baseline(stored()).entries.at(text(spin, "|optimized|instructions")).value,
            Value(plain));
}

TEST_F(CountedSuite, WhatAStepThatAllocatesExecutesDependsOnNothingThatIsHeldBesideIt) {
  std::set<double> counts;
  for (const char* blocks : {"0", "64", "128", "192"}) {
    // Ceilings, which nobody judges here, take as long as all else.
    ASSERT_EQ(
        run({{"PLANTED", "allocates"}, {"PLANTED_BLOCKS", blocks}, {"HOLDFAST_CEILINGS", "none"}})
            .code,
        0);
    counts.insert(count());
  }
  EXPECT_THAT(counts, SizeIs(1));
}

// Only a processor's caches tell the two apart.
TEST_F(CountedSuite, TheSameInstructionsInAnotherOrderOfMemoryAreARegression) {
  ASSERT_EQ(run({{"PLANTED_STRIDE", "1"}}).code, 0);
  const double plain = count();
  ASSERT_EQ(accept({"--counts-only"}), 0) << complaints_;
  ASSERT_EQ(run({{"PLANTED_STRIDE", "1031"}}).code, 0);
  EXPECT_EQ(count(), plain);
  expect_output(check(), 1,
                AllOf(HasSubstr("REGRESSION"), HasSubstr("estimated_cycles rose from "),
                      Not(HasSubstr("instructions rose"))));
}

TEST_F(CountedSuite, StepsThatDifferAreNotCountedAndThenMissing) {
  for (const char* planted : {"unsteady", "remembers", "prepares"}) {
    const Outcome outcome = run({{"PLANTED", planted}});
    ASSERT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.complaints, HasSubstr("every step must do the same work")) << planted;
    expect_output(check(), 3, HasSubstr("MISSING"));
  }
}

TEST_F(CountedSuite, WithoutValgrindNothingIsMeasured) {
  const Outcome outcome = run({{"PATH", "/nonexistent"}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.complaints,
              AllOf(HasSubstr("needs valgrind, and there is none in PATH"),
                    HasSubstr("./cmake/bootstrap.sh"), Not(HasSubstr("process"))));
}

TEST_F(CountedSuite, WithoutValgrindARunThatMayDoWithoutSaysWhy) {
  ASSERT_EQ(run({{"PATH", "/nonexistent"}}, {"--count-instructions-if-possible"}).code, 0);
  expect_output(check(), 0,
                AllOf(HasSubstr("not checked: counted_suite on "),
                      HasSubstr("--count-instructions-if-possible needs valgrind, and there "
                                "is none in PATH; install it"),
                      Not(HasSubstr("measure with"))));
}

// Another program of that name, first in PATH.
TEST_F(CountedSuite, AValgrindThatFailsIsNoValgrindThatIsMissing) {
  const auto run_with = [&](const std::string& script) {
    const fs::path fake = folder_.path() / "fake";
    fs::create_directories(fake);
    write_file(fake / "valgrind", "#!/bin/sh\n" + script);
    fs::permissions(fake / "valgrind", fs::perms::owner_all);
    return run({{"PATH", fake.string() + ":" + std::getenv("PATH")}},
               {"--count-instructions-if-possible"});
  };
  const Outcome refused = run_with("echo 'counted_suite: this case cannot be' >&2\nexit 2\n");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.complaints, HasSubstr("this case cannot be"));
  expect_output(check(), 3, AllOf(HasSubstr("MISSING"), HasSubstr("instructions")));
  // A run that is killed while it counts leaves the same.
  EXPECT_EQ(run_with("kill -9 $PPID\n").ending, Ending::killed);
  EXPECT_EQ(check(), 3) << output_;
}

// As in a case that hangs.
TEST_F(CountedSuite, ACountThatIsKilledLeavesNoFile) {
  const fs::path fake = folder_.path() / "fake", temporary = folder_.path() / "temporary";
  for (const fs::path& folder : {fake, temporary}) fs::create_directories(folder);
  write_file(fake / "valgrind", text("#!/bin/sh\noptions=\nfor word; do\n  case $word in --*) "
                                     "options=\"$options $word\" ;; *) break ;; esac\ndone\nexec ",
                                     find_valgrind("this test").string(),
                                     " $options /bin/sh -c 'env kill -9 $$; sleep 9'\n"));
  fs::permissions(fake / "valgrind", fs::perms::owner_all);
  const Outcome outcome =
      run({{"PATH", fake.string() + ":" + std::getenv("PATH")}, {"TMPDIR", temporary.string()}});
  EXPECT_THAT(outcome.complaints, HasSubstr("SIGKILL"));
  for (const auto& file : fs::directory_iterator(temporary))
    EXPECT_THAT(file.path().filename().string(), Not(HasSubstr("vgdb")));
}

TEST_F(CountedSuite, OnlyTheHostHasInstructionsToCount) {
  const Outcome outcome = run_on("cuda-dry:sm_90", {"--count-instructions"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.complaints, HasSubstr("counts what the host executes"));
  const Outcome possible = run_on("cuda-dry:sm_90", {"--count-instructions-if-possible"});
  EXPECT_EQ(possible.code, 2);
  EXPECT_THAT(
      possible.complaints,
      HasSubstr("holdfast: --count-instructions-if-possible counts what the host executes"));
}

TEST_F(CountedSuite, OutsideValgrindTheSuiteSaysHowToCount) {
  const Outcome outcome = run_task({.program = COUNTED_SUITE_BINARY,
                                    .arguments = {"--count-instructions"},
                                    .environment = {{"GOMP_SPINCOUNT", "1000"}}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.complaints, HasSubstr("holdfast run SUITE --device=host --count-instr"));
}

// Inside a valgrind that counts nothing and that the gate did not set up.
Outcome run_by_hand(const std::string& threads, const std::string& planted = "") {
  return run_task({.program = find_valgrind("this test").string(),
                   .arguments = {"-q", "--tool=none", COUNTED_SUITE_BINARY, "--count-instructions"},
                   .environment = {{"GOMP_SPINCOUNT", "1000"},
                                   {"HOLDFAST_NUM_THREADS", threads},
                                   {"PLANTED", planted}},
                   .timeout_seconds = 100});
}

TEST_F(CountedSuite, IsCountedByHandOnOneThreadAlone) {
  EXPECT_EQ(run_by_hand("1").code, 0);
  const Outcome outcome = run_by_hand("2");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.complaints, HasSubstr(" on 2; set HOLDFAST_NUM_THREADS=1"));
}

TEST_F(CountedSuite, ThatIsWrongIsNotCountedAndFails) {
  const Outcome outcome = run_by_hand("1", "wrong");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.complaints, HasSubstr("what is wrong is not measured"));
}

}  // namespace
}  // namespace holdfast::gate
