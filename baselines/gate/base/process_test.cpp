// SPDX-License-Identifier: Apache-2.0
#include "gate/base/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "gate/base/error.hpp"

namespace holdfast::gate {
namespace {

using testing::ElementsAre;
using testing::ThrowsMessage;

Task shell(const std::string& script) {
  return {.program = "/bin/sh", .arguments = {"-c", script}};
}

TEST(Process, AnExitCodeAndBothStreamsComeBack) {
  const Outcome outcome = run_task(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(outcome.ending, Ending::exited);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.complaints, "err\n");
}

TEST(Process, ASignalIsNamed) {
  const Outcome outcome = run_task(shell("kill -SEGV $$"));
  EXPECT_EQ(outcome.ending, Ending::killed);
  EXPECT_EQ(describe(outcome, 0), "was killed by signal 11 (SIGSEGV)");
}

TEST(Process, ATimeLimitEndsTheWholeGroup) {
  Task task = shell("sleep 1000 & wait");  // the grandchild holds both pipes open
  task.timeout_seconds = 0.05;
  const Outcome outcome = run_task(task);
  EXPECT_EQ(outcome.ending, Ending::timed_out);
  EXPECT_LT(outcome.seconds, 20);
}

TEST(Process, AChildThatLeavesAGrandchildBehindIsStillOver) {
  const Outcome outcome = run_task(shell("sleep 1000 & echo started"));
  EXPECT_EQ(outcome.ending, Ending::exited);
  EXPECT_EQ(outcome.output, "started\n");
  EXPECT_LT(outcome.seconds, 20);
}

TEST(Process, OutputLongerThanAPipeArrivesWhole) {
  const Outcome outcome = run_task(shell("head -c 300000 /dev/zero | tr '\\0' x"));
  EXPECT_EQ(outcome.output, std::string(300000, 'x'));
}

TEST(Process, AnEndlessOutputIsCutOffAndSaidSo) {
  const Outcome outcome = run_task(shell("yes"));
  EXPECT_EQ(outcome.ending, Ending::flooded);
  EXPECT_EQ(outcome.output.size(), most_output);
  EXPECT_EQ(describe(outcome, 0), "printed more than 64 MiB to its standard output");
}

// Whether a process exists and has not ended.
bool lives(const std::string& pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string number, name, state;
  return stat >> number >> name >> state && state != "Z";
}

TEST(Process, ADaemonInASessionOfItsOwnEndsWithItsTask) {
  const Outcome outcome =
      run_task(shell("{ setsid sh -c 'setsid sleep 1000 & echo $!; exec sleep 1000' & echo $!; } |"
                     " { read one; read other; echo $one $other; }"));
  EXPECT_EQ(outcome.ending, Ending::exited);
  std::istringstream pids(outcome.output);
  int told = 0;
  for (std::string pid; pids >> pid; ++told) EXPECT_FALSE(lives(pid)) << pid;
  EXPECT_EQ(told, 2);
}

TEST(Process, TasksOfOneMomentLeaveOneAnotherAlone) {
  std::vector<std::thread> threads;
  std::atomic<int> well = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 5; ++k) well += run_task(shell("exit " + std::to_string(i))).code == i;
    });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(well, 40);
}

TEST(Process, AChildThatWasThereBeforeATaskLivesOn) {
  const Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const pid_t before = start(shell("exec sleep 1000"), *nothing, *nothing, *nothing);
  (void)run_task(shell("true"));
  EXPECT_TRUE(lives(std::to_string(before)));
  ::kill(before, SIGKILL);
  EXPECT_EQ(wait_for(before), SIGKILL);
}

TEST(Process, OfLongComplaintsTheEndIsKept) {
  const Outcome outcome =
      run_task(shell("head -c 300000 /dev/zero | tr '\\0' x >&2; echo last >&2"));
  EXPECT_LT(outcome.complaints.size(), 150000u);
  EXPECT_EQ(last_lines(outcome.complaints, 1).substr(last_lines(outcome.complaints, 1).size() - 4),
            "last");
}

TEST(Process, TheEnvironmentIsAddedToAndReplaced) {
  Task task = shell("echo $HOLDFAST_TEST_NEW $HOME");
  task.environment = {{"HOLDFAST_TEST_NEW", "new"}, {"HOME", "elsewhere"}};
  EXPECT_EQ(run_task(task).output, "new elsewhere\n");
}

TEST(Process, ItsLinesAreHandedOnAsTheyAre) {
  std::vector<std::string> lines;
  Task task = shell("printf 'one\\ntwo\\nrest' >&2");
  task.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  run_task(task);
  EXPECT_THAT(lines, ElementsAre("one", "two"));
}

TEST(Process, AProgramThatIsAbsentIsAnErrorWithItsName) {
  EXPECT_THAT(
      [] { run_task({.program = "/nonexistent/suite"}); },
      ThrowsMessage<Error>("failed to start /nonexistent/suite: No such file or directory"));
}

TEST(Process, LastLinesSkipsWhatIsBlankAtTheEnd) {
  EXPECT_EQ(last_lines("a\nb\nc\n\n", 2), "b | c");
  EXPECT_EQ(last_lines(" \n", 2), "");
}

TEST(Process, ATemporaryFolderIsGoneAfterwards) {
  std::filesystem::path path;
  {
    const TemporaryFolder folder("test");
    path = folder.path();
    EXPECT_TRUE(std::filesystem::is_directory(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Process, AMachineLockThatIsTakenIsWaitedFor) {
  const std::string name = "test-" + std::to_string(::getpid());
  auto first = std::make_optional<MachineLock>(name, [] { FAIL() << "nobody else holds it"; });
  bool waited = false;
  const MachineLock second(name, [&] {
    waited = true;
    first.reset();  // else the wait would never end
  });
  EXPECT_TRUE(waited);
  std::filesystem::remove(runtime_folder() / ("holdfast-" + name + ".lock"));
}

TEST(Process, ATmpdirThatIsNoFolderHasASentenceOfItsOwn) {
  const char* set = std::getenv("TMPDIR");
  const std::string before = set ? set : "";
  setenv("TMPDIR", "/nowhere/at all", 1);
  EXPECT_THAT([] { TemporaryFolder("test"); },
              ThrowsMessage<Error>(testing::HasSubstr(
                  "TMPDIR is '/nowhere/at all', which is no folder (No such file or directory); "
                  "set it to one, or unset it")));
  if (before.empty())
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", before.c_str(), 1);
}

TEST(Process, AFifoInTheLocksPlaceIsRefusedAndNotWaitedFor) {
  const std::string name = "test-fifo-" + std::to_string(::getpid());
  const auto path = runtime_folder() / ("holdfast-" + name + ".lock");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT([&] { MachineLock(name, [] {}); },
              ThrowsMessage<Error>(testing::HasSubstr("is no file; remove what is there")));
  std::filesystem::remove(path);
}

TEST(Process, LocksAreInAFolderOfTheUsersOwn) {
  const TemporaryFolder folder("test");
  const char* set = std::getenv("XDG_RUNTIME_DIR");
  const std::string before = set ? set : "";
  setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  EXPECT_EQ(runtime_folder(), folder.path());
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(folder.path(), link);
  setenv("XDG_RUNTIME_DIR", link.c_str(), 1);
  EXPECT_THROW(runtime_folder(), Error);
  if (before.empty())
    unsetenv("XDG_RUNTIME_DIR");
  else
    setenv("XDG_RUNTIME_DIR", before.c_str(), 1);
}

}  // namespace
}  // namespace holdfast::gate
