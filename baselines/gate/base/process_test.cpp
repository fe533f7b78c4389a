// SPDX-License-Identifier: Apache-2.0
#include "gate/base/process.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

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
  std::filesystem::remove(std::filesystem::temp_directory_path() / ("holdfast-" + name + ".lock"));
}

}  // namespace
}  // namespace holdfast::gate
