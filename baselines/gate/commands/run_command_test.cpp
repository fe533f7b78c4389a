// SPDX-License-Identifier: Apache-2.0
// The real `holdfast run` and `holdfast list` on a suite that behaves, or misbehaves, as FAKE_SUITE
// says.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <latch>
#include <memory>
#include <thread>

#include "base/machine.hpp"
#include "base/testing/sanitizer.hpp"
#include "formats/schema_check.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/measure/unfinished_run.hpp"
#include "gate/testing/fake_build.hpp"
#include "gate/testing/fake_suite_command.hpp"
#include "gate/testing/toy_root.hpp"
#include "gate/testing/traced_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class RunCommand : public FakeSuiteCommand {
 protected:
  const fs::path file_ = kept_ / "fake_suite.json";

  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method): the same, of two processes
  Outcome run(const std::string& behaviour,
              const std::vector<std::string>& more = {"--processes=2"},
              const Variables& environment = {}) const {
    return FakeSuiteCommand::run(behaviour, more, environment);
  }
  // The one result file there is; its folder has another name where no process lived to tell the
  // device class.
  Results results() {
    for (const auto& entry : fs::recursive_directory_iterator(results_))
      if (entry.path().filename() == "fake_suite.json") return read_results(entry.path());
    throw Error(Fault::bad_input, "no result file");
  }
  // How each case ended, of a run that went well.
  std::vector<std::string> statuses(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.complaints;
    std::vector<std::string> all;
    for (const CaseResult& result : results().cases) all.push_back(result.status);
    return all;
  }
  void expect_each_from_two_processes() {
    for (const CaseResult& result : results().cases) {
      EXPECT_EQ(result.status, "ok");
      EXPECT_THAT(result.variants.at("optimized").metrics.at("time_s").processes, SizeIs(2));
    }
  }
  std::size_t files() {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      count += entry.is_regular_file();
    return count;
  }
  void expect_refusal(const Outcome& outcome, const std::string& sentence) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.complaints,
                AllOf(StartsWith("holdfast: "), HasSubstr(sentence), EndsWith("\n")));
    EXPECT_EQ(std::count(outcome.complaints.begin(), outcome.complaints.end(), '\n'), 1)
        << outcome.complaints;
    EXPECT_EQ(files(), 0u);
  }
};

TEST_F(RunCommand, FiveFreshProcessesBecomeOneResult) {
  EXPECT_EQ(run("unpadded", {}).code, 0);  // this one asks for the padding of its environment
  const Results merged = read_results(file_);
  ASSERT_THAT(merged.cases, SizeIs(2));
  EXPECT_EQ(merged.run.processes, 5);
  const Metric& time = merged.cases[0].variants.at("optimized").metrics.at("time_s");
  EXPECT_THAT(time.processes, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(time.median, 3);
}

TEST_F(RunCommand, TheListStandsBesideTheResultThatNamesItsHash) {
  run("ok");
  EXPECT_EQ(read_results(file_).list_hash, sha256(read_file(kept_ / "fake_suite.list.json")));
}

TEST_F(RunCommand, ASelfTestOfTheRunBeforeDoesNotStay) {
  fs::create_directories(kept_);
  const fs::path older = kept_ / "fake_suite.selftest.json", other = kept_ / "toy.selftest.json";
  for (const fs::path& file : {older, other}) std::ofstream(file) << "of another night";
  ASSERT_EQ(run("ok", {"--processes=1"}).code, 0);
  EXPECT_FALSE(fs::exists(older));
  EXPECT_TRUE(fs::exists(other)) << "of a suite that was not measured";
}

TEST_F(RunCommand, ARunWithoutContentFileIsNamedAfterTheBinaryAndDirty) {
  run("ok");
  const Results merged = read_results(file_);
  EXPECT_EQ(merged.run.content, sha256(read_file(FAKE_SUITE_BINARY)));
  EXPECT_TRUE(merged.run.git_dirty);
}

TEST_F(RunCommand, AFailedCheckIsRecordedAndTheRunIsWell) {
  EXPECT_THAT(statuses(run("wrong")), ElementsAre("failed", "ok"));
}

TEST_F(RunCommand, ACrashLeavesEveryCaseCrashedWithTheLastWords) {
  EXPECT_THAT(statuses(run("crash")), ElementsAre("crashed", "crashed"));
  EXPECT_THAT(*results().cases[0].reason, AllOf(HasSubstr("SIGSEGV"), HasSubstr("about to fall")));
}

TEST_F(RunCommand, ACrashOfALaterProcessCountsAsMuch) {
  EXPECT_THAT(statuses(run("crash_later")), ElementsAre("crashed", "crashed"));
}

TEST_F(RunCommand, ASuiteThatHangsIsTimedOut) {
  EXPECT_EQ(run("hang", {"--timeout=1"}).code, 0);
  EXPECT_EQ(results().cases.at(0).status, "timeout");
}

TEST_F(RunCommand, AQuietRunTellsNoProgress) {
  EXPECT_THAT(run("ok").complaints, HasSubstr("2 cases in "));
  EXPECT_EQ(run("ok", {"--quiet"}).complaints, "");
}

TEST_F(RunCommand, ACaseThatCrashesIsLostAndNoOther) {
  EXPECT_THAT(statuses(run("crash_in_case")), ElementsAre("crashed", "ok"));
  const Results merged = results();
  EXPECT_THAT(*merged.cases.at(0).reason, HasSubstr("process 1 of 2 was killed by signal 11"));
  EXPECT_THAT(merged.cases.at(1).variants.at("optimized").metrics.at("time_s").processes,
              SizeIs(2));
}

TEST_F(RunCommand, ACaseThatCrashesInALaterProcessIsLostToo) {
  EXPECT_THAT(statuses(run("crash_in_case_later")), ElementsAre("crashed", "ok"));
}

TEST_F(RunCommand, WhatAProcessDoesBehindItsLastCaseIsThatCases) {
  EXPECT_THAT(statuses(run("crash_at_exit_later")), ElementsAre("ok", "crashed"));
  EXPECT_THAT(*results().cases.at(1).reason, HasSubstr("was killed by signal 11"));
}

TEST_F(RunCommand, WhatEachProcessDoesBehindItsLastCaseCostsOneCaseAndIsTheSuites) {
  EXPECT_THAT(statuses(run("crash_at_exit", {"--processes=3"})), ElementsAre("ok", "crashed"));
  const Results merged = results();
  EXPECT_THAT(merged.cases.at(0).variants.at("optimized").metrics.at("time_s").processes,
              SizeIs(3));
  EXPECT_THAT(*merged.cases.at(1).reason,
              AllOf(HasSubstr("was killed by signal 11"),
                    HasSubstr("so did one before it: the suite, whichever case comes last")));
}

TEST_F(RunCommand, ASuiteThatEndsAsAfterAFailureMustHaveReportedOne) {
  for (const std::string code : {"1", "3"}) {
    ASSERT_THAT(statuses(run("code_" + code)), ElementsAre("ok", "crashed"));
    EXPECT_THAT(*results().cases.at(1).reason,
                HasSubstr(text("exited with code ", code, ", and reported no case as failed")));
  }
}

TEST_F(RunCommand, WhereASuiteAnnouncesNoCaseAProblemCostsAllThatItWasAskedFor) {
  EXPECT_EQ(run("unannounced_code_0").code, 0);
  expect_each_from_two_processes();
  ASSERT_THAT(statuses(run("unannounced_code_5")), ElementsAre("crashed", "crashed"));
  for (const CaseResult& result : results().cases)
    EXPECT_THAT(*result.reason, HasSubstr("process 1 of 2 exited with code 5"));
}

TEST_F(RunCommand, ACaseThatHangsIsLostAndNoOther) {
  EXPECT_THAT(statuses(run("hang_in_case", {"--timeout=1", "--processes=1"})),
              ElementsAre("timeout", "ok"));
}

TEST_F(RunCommand, ACaseThatRefusesIsLostAndNoOther) {
  for (const std::string behaviour : {"refuse_in_case", "refuse_in_case_later"}) {
    EXPECT_THAT(statuses(run(behaviour)), ElementsAre("crashed", "ok")) << behaviour;
    EXPECT_THAT(*results().cases.at(0).reason, HasSubstr("the case's table is not there"));
  }
}

TEST_F(RunCommand, ThreeProcessesTellWhatTheMachineCanDoAtBest) {
  ASSERT_EQ(run("ok", {"--processes=5"}).code, 0);
  EXPECT_EQ(read_results(file_).ceilings.at("memory_bytes_per_s"), 3);  // the best of 1, 2 and 3
}

TEST_F(RunCommand, ACalibrationThatCrashesCostsNoCase) {
  EXPECT_THAT(statuses(run("crash_in_calibration")), ElementsAre("ok", "ok"));
}

TEST_F(RunCommand, TheHighestLoadOfTheRunIsTold) {
  EXPECT_EQ(run("busy").code, 0);
  EXPECT_EQ(results().quality.load, 99);
}

// A load of 1 takes minutes to decay to 0.
TEST_F(RunCommand, TheLoadBeforeTheRunIsToldWhereNoProcessToldOne) {
  const double before = load_average().value_or(0);
  EXPECT_EQ(run("ok", {"--processes=1"}).code, 0);
  const double told = results().quality.load.value();
  EXPECT_TRUE(before < 1 || told > 0) << told << " after " << before;
}

TEST_F(RunCommand, WhoCouldGoBeforeOtherProgramsIsToldSoWhereTheyDisturbACase) {
  const std::string sentence =
      "fake_suite: other programs held up what was timed of 1 case; `holdfast doctor` says how to "
      "give the suite precedence\n";
  ::setenv("HOLDFAST_PRECEDENCE", "none", 1);
  EXPECT_THAT(run("disturbed").complaints, HasSubstr(sentence));
  EXPECT_THAT(run("").complaints, Not(HasSubstr("other programs")));
  ::unsetenv("HOLDFAST_PRECEDENCE");
  if (!precedence().granted) return;
  EXPECT_THAT(run("disturbed").complaints, Not(HasSubstr("other programs")));
}

TEST_F(RunCommand, WhatABrokenDeviceLeavesIsMeasuredByAnotherProcess) {
  EXPECT_THAT(statuses(run("sticky", {"--processes=1"})), ElementsAre("crashed", "ok"));
}

TEST_F(RunCommand, TheLastCaseKeepsTheReasonThatItBrokeOffFor) {
  EXPECT_THAT(statuses(run("sticky", {"--processes=1", "--filter=add"})), ElementsAre("crashed"));
  EXPECT_EQ(results().cases.at(0).reason, "error 0.5 above 1e-12");
}

TEST_F(RunCommand, WhatWasFinishedWhenItIsStoppedStaysAndIsGoneOnFrom) {
  const Outcome stopped = run("stop_in_case");
  EXPECT_EQ(stopped.signal, SIGTERM) << stopped.complaints;
  EXPECT_THAT(stopped.complaints,
              AllOf(HasSubstr("holdfast: interrupted; what was finished is kept in "),
                    HasSubstr("--resume goes on"), Not(HasSubstr("leaves no file"))));
  EXPECT_TRUE(fs::exists(results_ / ".unfinished" / "fake_suite.host" / "machine"));
  EXPECT_EQ(results().cases.at(0).status, "ok");
  EXPECT_EQ(results().cases.at(1).status, "missing");
  EXPECT_THAT(*results().cases.at(1).reason, HasSubstr("--resume"));

  expect_complaint(run("ok", {"--processes=2", "--resume"}), 0,
                   HasSubstr("goes on with what an interrupted run left"));
  expect_each_from_two_processes();
  EXPECT_FALSE(fs::exists(results_ / ".unfinished"));
  EXPECT_THAT(run("crash", {"--processes=2", "--resume"}).complaints,
              HasSubstr("is measured already"));
}

TEST_F(RunCommand, WhatWasFinishedWhenItIsKilledIsGoneOnFrom) {
  EXPECT_EQ(run("kill_in_case_later").signal, SIGKILL);
  expect_complaint(run("ok", {"--processes=2", "--resume"}), 0,
                   HasSubstr("goes on with what an interrupted run left: 2 result"));
  expect_each_from_two_processes();
}

TEST_F(RunCommand, ARunIntoAFolderThatAnotherOneMeasuresIntoWaitsForItWhereverItsOtherLocksAre) {
  Progress progress("test");
  std::latch waits(1);
  std::jthread second;
  {
    const ResultsLock first = lock_results(results_ / "." / "", "fake_suite", "host", progress);
    second = std::jthread([&] {
      bool waited = false;
      const Outcome outcome = run_task(
          {.program = HOLDFAST_BINARY,
           .arguments = {"run", FAKE_SUITE_BINARY, "--device=host", "--processes=1",
                         "--out=" + results_.string()},
           .environment = {{"FAKE_SUITE", "ok"},
                           {"HOLDFAST_SOURCES", ""},
                           {"XDG_RUNTIME_DIR", (folder_.path() / "runtime").string()}},
           .timeout_seconds = 60,
           .on_line = [&](std::string_view line) {
             if (line.find("waiting for another run of fake_suite on host into ") == line.npos ||
                 std::exchange(waited, true))
               return;
             waits.count_down();
           }});
      EXPECT_EQ(outcome.code, 0) << outcome.complaints;
      EXPECT_TRUE(waited) << outcome.complaints;
      if (!waited) waits.count_down();  // so that a run that fails does not hold up this test
    });
    waits.wait();
  }
  second.join();
  EXPECT_FALSE(fs::exists(results_ / ".fake_suite.host.lock"));
}

// As on a Lustre that is mounted without flock.
TEST_F(RunCommand, AFolderWhoseFileSystemCannotLockIsMeasuredInto) {
  const fs::path complaints = folder_.path() / "complaints";
  ASSERT_EQ(::setenv("FAKE_SUITE", "ok", 1), 0);
  const auto traced = toy::run_traced(
      {"run", FAKE_SUITE_BINARY, "--device=host", "--processes=1", "--out=" + results_.string()},
      {.fail = toy::FailingCall{.error = ENOSYS, .only = SYS_flock}, .complaints = complaints});
  ::unsetenv("FAKE_SUITE");
  if (!traced) GTEST_SKIP() << "this machine forbids tracing a child";
  EXPECT_EQ(traced->call, SYS_flock);
  EXPECT_EQ(traced->code, 0) << read_file(complaints);
  EXPECT_THAT(read_file(complaints), Not(HasSubstr("waiting")));
  EXPECT_FALSE(fs::exists(results_ / ".fake_suite.host.lock"));
}

// It may be another machine's, and this one's GPU is free for other suites meanwhile.
TEST_F(RunCommand, ARunThatWaitsForAnotherOneHoldsNoGpu) {
  const fs::path locks = folder_.path() / "runtime";
  Progress progress("test");
  std::unique_ptr<ResultsLock> first(
      new ResultsLock(lock_results(results_, "fake_suite", "cuda", progress)));
  const Outcome outcome = run_task(
      {.program = HOLDFAST_BINARY,
       .arguments = {"run", FAKE_SUITE_BINARY, "--device=cuda", "--out=" + results_.string()},
       .environment = {{"FAKE_SUITE", "ok"},
                       {"HOLDFAST_SOURCES", ""},
                       {"XDG_RUNTIME_DIR", locks.string()}},
       .timeout_seconds = 60,
       .on_line = [&](std::string_view line) {
         if (line.find("waiting for another run") == line.npos || !first) return;
         EXPECT_TRUE(!fs::exists(locks) || fs::is_empty(locks)) << "it locked a GPU";
         first.reset();
       }});
  EXPECT_FALSE(first) << outcome.complaints;
  EXPECT_FALSE(fs::is_empty(locks)) << "and it locks one to measure";
}

TEST_F(RunCommand, WhatIsLeftIsNotGoneOnFromUnasked) {
  EXPECT_EQ(run("stop_in_case").signal, SIGTERM);
  expect_complaint(run("ok"), 0, AllOf(HasSubstr("process 1 of "), Not(HasSubstr("goes on with"))));
}

TEST_F(RunCommand, WhatIsLeftOfAnotherRunIsNotGoneOnFrom) {
  run("stop_in_case");
  const Outcome other = run("ok", {"--processes=2", "--resume", "--filter=scale"});
  EXPECT_THAT(other.complaints, Not(HasSubstr("goes on with")));
  EXPECT_EQ(results().cases.size(), 1u);
}

// What goes on, or is there already, where the same command is given with --resume.
class Resumed : public RunCommand {
 protected:
  const Variables elsewhere_ = {{"HOLDFAST_SOURCES", "/elsewhere"}};

  void expect_measured_anew(const Outcome& outcome) const {
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.complaints, AllOf(HasSubstr("process 1 of "), Not(HasSubstr("goes on")),
                                          Not(HasSubstr("measured already"))));
  }
  // A build of the fake suite whose binary is another wherever `step_seconds` is.
  Outcome run_build(double step_seconds, const std::string& behaviour = "ok",
                    const Variables& environment = {}) const {
    const fs::path folder = folder_.path() / "build";
    const std::string binary = toy::fake_build(folder, step_seconds).string();
    write_file(folder / "content.json",
               R"({"content": "sha256:c0", "git": {"dirty": false, "sha": null}})");
    return holdfast(
        behaviour,
        {"run", binary, "--device=host", "--out=" + results_.string(), "--processes=2", "--resume"},
        environment);
  }
  // A valgrind of 100 instructions a step, first in PATH.
  Variables with_valgrind() const {
    const fs::path valgrind = folder_.path() / "valgrind";
    write_file(valgrind, R"(#!/bin/sh
for word; do
  case $word in --callgrind-out-file=*) out=${word#*=} ;; esac
done
for step in 0:5 1:105 2:105; do
  printf 'desc: Trigger: Client Request: fake_suite/add/n:8/f64|optimized|%s\nevents: Ir\ntotals: %s\n' \
    ${step%:*} ${step#*:} > $out.${step%:*}
done
)");
    fs::permissions(valgrind, fs::perms::owner_all);
    return {{"PATH", text(folder_.path().string(), ':', std::getenv("PATH"))}};
  }
};

TEST_F(Resumed, WhatIsLeftOfOtherDeviceCodeIsNotGoneOnFrom) {
  EXPECT_EQ(run("stop_in_case", {"--processes=2"}, elsewhere_).signal, SIGTERM);
  EXPECT_EQ(results().run.sources, "/elsewhere");
  expect_measured_anew(run("ok", {"--processes=2", "--resume"}));
  EXPECT_EQ(results().run.sources, std::nullopt);
  expect_each_from_two_processes();
}

TEST_F(Resumed, DeviceCodeFromElsewhereDoesNotGoOnWithWhatIsLeftOfTheBuilds) {
  EXPECT_EQ(run("stop_in_case").signal, SIGTERM);
  expect_measured_anew(run("ok", {"--processes=2", "--resume"}, elsewhere_));
  EXPECT_EQ(results().run.sources, "/elsewhere");
}

TEST_F(Resumed, AProcessOfDeviceCodeFromElsewhereIsToldByTheWholeRun) {
  EXPECT_EQ(run("stop_in_case_later").signal, SIGTERM);
  const fs::path left = results_ / ".unfinished" / "fake_suite.host" / "process-1.json";
  write_file(left,
             toy::replaced(read_file(left), R"("run": {)", R"("run": {"sources": "/elsewhere", )"));
  EXPECT_THAT(run("ok", {"--processes=2", "--resume"}).complaints, HasSubstr("goes on"));
  EXPECT_EQ(results().run.sources, "/elsewhere");
  EXPECT_TRUE(results().run.git_dirty);
}

TEST_F(Resumed, WhatWasMeasuredOfOtherDeviceCodeIsNotThere) {
  ASSERT_EQ(run("ok", {"--processes=2"}, elsewhere_).code, 0);
  EXPECT_THAT(run("ok", {"--processes=2", "--resume"}, elsewhere_).complaints,
              HasSubstr("is measured already"));
  expect_measured_anew(run("ok", {"--processes=2", "--resume"}));
  EXPECT_EQ(results().run.sources, std::nullopt);
}

TEST_F(Resumed, WhatIsLeftOfAnotherBinaryOfThisContentIsNotGoneOnFrom) {
  EXPECT_EQ(run_build(1e-3, "stop_in_case").signal, SIGTERM);
  expect_measured_anew(run_build(2e-3));
  expect_each_from_two_processes();
}

TEST_F(Resumed, WhatAnotherBinaryOfThisContentMeasuredIsNotThere) {
  ASSERT_EQ(run_build(1e-3).code, 0);
  EXPECT_THAT(run_build(1e-3).complaints, HasSubstr("is measured already"));
  expect_measured_anew(run_build(2e-3));
  EXPECT_EQ(results().cases.at(1).variants.at("optimized").metrics.at("time_s").median, 20);
  EXPECT_EQ(run_build(1e-3, "kill_in_case").signal, SIGKILL);
  expect_measured_anew(run_build(2e-3));
}

TEST_F(Resumed, WhatWasMeasuredOnOtherThreadsIsNotThere) {
  ASSERT_EQ(run_build(1e-3).code, 0);
  expect_measured_anew(run_build(1e-3, "ok", {{"HOLDFAST_NUM_THREADS", "1"}}));
}

TEST_F(RunCommand, AVerdictOfOlderResultsIsWithdrawn) {
  ASSERT_EQ(run("ok").code, 0);
  const std::vector<fs::path> older = {results_ / "verdict.json", results_ / "verdict.md",
                                       results_ / "verdict.xml",
                                       results_ / "proposed-baseline.patch"};
  for (const fs::path& file : older) write_file(file, "well");
  ASSERT_EQ(run("ok", {"--processes=2", "--resume"}).code, 0);
  for (const fs::path& file : older) EXPECT_TRUE(fs::exists(file)) << "nothing was measured";
  ASSERT_EQ(run("ok").code, 0);
  for (const fs::path& file : older) EXPECT_FALSE(fs::exists(file)) << file;
}

TEST_F(Resumed, CasesOfAnotherFilterAreNotThere) {
  ASSERT_EQ(run("ok", {"--processes=2", "--filter=add"}).code, 0);
  EXPECT_THAT(run("ok", {"--processes=2", "--resume", "--filter=add/n"}).complaints,
              HasSubstr("is measured already"));
  expect_measured_anew(run("ok", {"--processes=2", "--resume", "--filter=scale"}));
  EXPECT_EQ(results().cases.at(0).id, "fake_suite/scale/n:8/f64");
}

TEST_F(Resumed, FewerProcessesThanAreAskedForAreNotThere) {
  ASSERT_EQ(run("ok", {"--processes=1"}).code, 0);
  expect_measured_anew(run("ok", {"--processes=2", "--resume"}));
  expect_each_from_two_processes();
  EXPECT_THAT(run("ok", {"--processes=1", "--resume"}).complaints,
              HasSubstr("is measured already"));
}

TEST_F(Resumed, WhatTheSuitesOwnOptionsChangeIsNotThere) {
  ASSERT_EQ(run("ok").code, 0);
  expect_measured_anew(run("ok", {"--processes=2", "--resume", "--", "--size=9"}));
}

TEST_F(Resumed, CountsThatNobodyAskedForAreNotThere) {
  ASSERT_EQ(run("counted").code, 0);
  const std::vector<std::string> counting = {"--processes=2", "--resume", "--count-instructions"};
  const Variables valgrind = with_valgrind();
  expect_measured_anew(run("counted", counting, valgrind));
  EXPECT_EQ(results().cases.at(0).variants.at("optimized").metrics.at("instructions").value, 100);
  EXPECT_THAT(run("counted", counting, valgrind).complaints, HasSubstr("is measured already"));
}

TEST_F(Resumed, CountsThatAreNotPossibleAreNotWaitedFor) {
  ASSERT_EQ(run("counted").code, 0);
  EXPECT_THAT(run("counted", {"--processes=2", "--resume", "--count-instructions-if-possible"},
                  {{"PATH", "/nonexistent"}})
                  .complaints,
              HasSubstr("is measured already"));
}

TEST_F(RunCommand, WhatAProfileWouldTellSaysWhetherAnybodyAskedForOne) {
  const auto reason = [&] {
    return results().cases.at(0).variants.at("optimized").metrics.at("idle_fraction").reason;
  };
  ASSERT_EQ(run("counted").code, 0);
  EXPECT_EQ(reason(), not_asked_for);
  ASSERT_EQ(run("counted", {"--processes=2", "--profile"}).code, 0);
  EXPECT_NE(reason(), not_asked_for);
}

TEST_F(Resumed, ProfilesThatNobodyAskedForAreNotThere) {
  ASSERT_EQ(run("ok").code, 0);
  const std::vector<std::string> profiling = {"--processes=2", "--resume", "--profile"};
  expect_measured_anew(run("ok", profiling));
  EXPECT_TRUE(fs::exists(kept_ / "profiles" / "fake_suite"));
  EXPECT_THAT(run("ok", profiling).complaints, HasSubstr("is measured already"));
}

TEST_F(RunCommand, AnInterruptionLeavesNoFileAndEndsByItsSignal) {
  const std::pair<const char*, int> ways[] = {
      {"interrupt", SIGINT}, {"quit", SIGQUIT}, {"pipe", SIGPIPE}, {"end", SIGTERM}};
  const TemporaryFolder locks("run-locks");  // a lock keeps its file
  for (const auto& [behaviour, signal] : ways) {
    const auto before = std::signal(signal, SIG_DFL);  // a shell's job in the background ignores it
    const Outcome outcome = run_task(
        {.program = "/bin/sh",  // a core of the command is none of what it leaves
         .arguments = {"-c", text("ulimit -c 0; exec ", HOLDFAST_BINARY, " run ", FAKE_SUITE_BINARY,
                                  " --device=host --out=", results_.string())},
         .environment = {{"FAKE_SUITE", behaviour},
                         {"TMPDIR", folder_.path().string()},
                         {"XDG_RUNTIME_DIR", locks.path().string()}},
         .timeout_seconds = 60});
    std::signal(signal, before);
    EXPECT_EQ(outcome.ending, Ending::killed) << behaviour;
    EXPECT_EQ(outcome.signal, signal);
    EXPECT_THAT(outcome.complaints,
                EndsWith("holdfast: interrupted; what was running leaves no file\n"));
    EXPECT_EQ(files(), 0u);
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      EXPECT_EQ(entry.path(), results_) << "a temporary folder stays";
  }
}

TEST_F(RunCommand, ASuiteThatWritesNothingHasCrashed) {
  EXPECT_EQ(run("silent").code, 0);
  EXPECT_THAT(*results().cases.at(0).reason, HasSubstr("wrote no result file"));
}

TEST_F(RunCommand, AFileCutShortHasCrashed) {
  EXPECT_EQ(run("invalid").code, 0);
  EXPECT_EQ(results().cases.at(0).status, "crashed");
  EXPECT_THAT(*results().cases.at(0).reason, HasSubstr("cut short"));
}

TEST_F(RunCommand, CountsThatDifferBetweenProcessesFailTheCase) {
  EXPECT_EQ(run("disagree").code, 0);
  EXPECT_THAT(*read_results(file_).cases[0].reason,
              HasSubstr("launches is 4 in process 1 and 5 in process 2"));
}

TEST_F(RunCommand, ACaseThatIsListedAndNotReportedIsMissing) {
  EXPECT_EQ(run("incomplete").code, 0);
  EXPECT_EQ(read_results(file_).cases.at(1).status, "missing");
}

TEST_F(RunCommand, AFilteredRunIsPartial) {
  EXPECT_EQ(run("ok", {"--filter=add", "--processes=1"}).code, 0);
  EXPECT_TRUE(read_results(file_).partial);
}

TEST_F(RunCommand, NoDeviceIs77AndWritesNothing) {
  const Outcome outcome = run("no_device");
  EXPECT_EQ(outcome.code, 77);
  EXPECT_EQ(outcome.complaints,
            "holdfast: fake_suite: this machine has no CUDA device; run on one\n");
  EXPECT_EQ(files(), 0u);
}

TEST_F(RunCommand, WhatTheSuiteRefusesIsPassedOn) {
  expect_refusal(run("refuse"), "fake_suite: there is no case of that name; see --list=json");
}

TEST_F(RunCommand, WhatNarrowsTheCasesIsNotHandedOnToTheSuite) {
  for (const std::string option : {"--filter", "--tier", "--device"})
    expect_refusal(run("ok", {"--", option + "=add"}),
                   option + " behind -- would narrow what is expected; give it before --");
}

TEST_F(RunCommand, AnUnknownSuiteIsNamed) {
  expect_refusal(
      holdfast("ok", {"run", "no_such_suite", "--device=host", "--out=" + results_.string()}),
      "there is no suite 'no_such_suite'");
}

TEST_F(RunCommand, AnAbsentDeviceIsAskedFor) {
  expect_refusal(holdfast("ok", {"run", FAKE_SUITE_BINARY, "--out=" + results_.string()}),
                 "needs --device=D");
}

TEST_F(RunCommand, ADeviceThatNoCaseKnowsIsRefusedWithThoseThatAre) {
  expect_refusal(holdfast("ok", {"run", FAKE_SUITE_BINARY, "--device=cuda-dry:sm_90",
                                 "--out=" + results_.string()}),
                 "has no case for --device=cuda-dry:sm_90; it has some for cuda, host");
}

TEST_F(RunCommand, AnOutputThatCannotBeWrittenIsFoundBeforeMeasuring) {
  expect_refusal(
      holdfast("hang", {"run", FAKE_SUITE_BINARY, "--device=host", "--out=/dev/null/results"}),
      "cannot write to --out=/dev/null/results");
}

TEST_F(RunCommand, AFolderThatIsALinkIsRefusedAndNothingIsRemovedBehindIt) {
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::create_directories(elsewhere / "profiles/fake_suite");
  std::ofstream(elsewhere / "profiles/fake_suite/kept") << "kept";
  std::ofstream(elsewhere / "fake_suite.json") << "kept";
  fs::create_directories(results_);
  for (const fs::path& link : {kept_, results_ / ".unfinished"}) {
    fs::create_directory_symlink(elsewhere, link);
    expect_complaint(run("ok", {"--processes=1", "--profile"}), 2,
                     HasSubstr(link.string() + " is a link, and a folder"));
    fs::remove(link);
  }
  EXPECT_EQ(files(), 2u);
}

TEST_F(RunCommand, TooFewFilesForAProcessHaveASentenceOfTheirOwn) {
  if (sanitized) GTEST_SKIP() << "the sanitizer itself needs a file to look at an object";
  const std::string command =
      text("ulimit -n 6; exec ", HOLDFAST_BINARY, " run ", FAKE_SUITE_BINARY,
           " --device=host --processes=1 --out=", results_.string());
  expect_complaint(
      run_task({.program = "/bin/sh", .arguments = {"-c", command}, .timeout_seconds = 60}), 2,
      HasSubstr("`ulimit -n` says how many files"));
}

TEST_F(RunCommand, AFilterThatMatchesNothingIsRefused) {
  expect_refusal(run("ok", {"--filter=nothing"}),
                 "has no case for --device=host --tier=gate --filter=nothing");
}

TEST_F(RunCommand, NoProcessesAreTooFew) {
  expect_refusal(run("ok", {"--processes=0"}), "--processes=0: give at least 1");
}

class ListCommand : public RunCommand {
 protected:
  ListCommand() {
    std::ofstream(folder_.path() / "toy.list.json")
        << R"({"schema": "holdfast-list/2", "suite": "toy", )"
        << R"("metrics": {"time_s": {"kind": "time", "better": "lower", "unit": "s"}}, "cases": [{"id": "toy/a/f64", "tier": "gate", )"
        << R"("reference": true, "devices": {"host": {"metrics": ["time_s"]}}}]})";
  }
  Outcome list(const std::vector<std::string>& arguments) {
    return holdfast("ok", toy::joined({"list", "--bin-dir=" + folder_.path().string()}, arguments));
  }
};

TEST_F(ListCommand, ShowsCasesWithTierAndDevices) {
  EXPECT_EQ(list({}).output, "toy: 1 case\n  toy/a/f64  gate  host, against a reference\n");
}

TEST_F(ListCommand, QuietlyPrintsIdsAlone) {
  EXPECT_EQ(list({"--quiet"}).output, "toy/a/f64\n");
}

TEST_F(ListCommand, TellsWhichCasesAreNotCountedAndEachReasonOnce) {
  const std::string uncounted =
      R"("tier": "gate", "reference": false, "devices": {"host": {"metrics": []}}, "uncounted": )";
  std::ofstream(folder_.path() / "toy.list.json")
      << R"({"schema": "holdfast-list/2", "suite": "toy", "metrics": {}, "cases": [)"
      << R"({"id": "toy/a/f64", )" << uncounted << R"("it is slow"}, )"
      << R"({"id": "toy/b/f64", )" << uncounted << R"("it is slow"}, )"
      << R"({"id": "toy/c/f64", )" << uncounted << R"("it has no step"}]})";
  EXPECT_THAT(list({}).output,
              AllOf(HasSubstr("  toy/b/f64  gate  host, not counted\n"),
                    EndsWith("  not counted: the instructions of 1 case: it has no step\n"
                             "  not counted: the instructions of 2 cases: it is slow\n")));
}

TEST_F(ListCommand, GivesTheListsAsJson) {
  const auto given = nlohmann::json::parse(list({"--json"}).output);
  const auto root = schema("lists.schema.json");
  validate(given, root, root, "lists");
  EXPECT_THAT(given.at("suites"), SizeIs(1));
}

TEST_F(ListCommand, ItsSchemaHoldsTheListOfEachSuite) {
  const auto root = schema("lists.schema.json");
  auto given = nlohmann::json::parse(list({"--json"}).output);
  given.at("suites").at(0)["surprise"] = 1;
  EXPECT_NONFATAL_FAILURE(validate(given, root, root, "lists"), "lists/suites/[] has surprise");
}

TEST_F(ListCommand, NamesTheSuiteThatWasMeant) {
  expect_complaint(list({"tyo"}), 2, HasSubstr("did you mean toy?"));
}

TEST_F(ListCommand, ADeviceThatNoCaseHasIsRefused) {
  EXPECT_EQ(list({"--device=cuda"}).code, 2);
}

TEST_F(ListCommand, AnArchitectureThatNothingIsCompiledForIsRefusedAsByARun) {
  expect_complaint(
      list({"--device=cuda-dry:sm_999"}), 2,
      AllOf(HasSubstr("cuda-dry:sm_999: there is no such"), HasSubstr("cuda-dry:sm_90")));
}

}  // namespace
}  // namespace holdfast::gate
