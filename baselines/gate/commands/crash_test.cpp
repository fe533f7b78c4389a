// SPDX-License-Identifier: Apache-2.0
// The commands that write what must last, killed with SIGKILL at random system calls and at every
// one of the last: the next reader sees the old store or the new one as a whole, leaves it so, byte
// for byte, and the same command then finishes what was begun.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>

#include "gate/history/append.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t moments = 100;
constexpr std::size_t last_moments = 80;  // they reach back to before the journal is written
constexpr int forbidden = 126;            // exit code of a child that may not be traced

// The child's half: stops at once, and then at every entry and every exit of a system call.
[[noreturn]] void run_traced(std::vector<char*>& arguments) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0 || ::dup2(nowhere, STDOUT_FILENO) < 0)
    ::_exit(forbidden);
  ::execv(HOLDFAST_BINARY, arguments.data());
  ::_exit(forbidden);
}

// Runs `holdfast` and kills it at its stop number `moment`. Returns how often it stopped, or
// nothing where this machine forbids tracing.
std::optional<std::size_t> run_until(std::vector<std::string> arguments, std::size_t moment) {
  arguments.insert(arguments.begin(), HOLDFAST_BINARY);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) run_traced(pointers);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
  std::size_t stops = 0;
  for (long signal = 0; stops < moment;) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    ::waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) return stops;
    const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    stops += at_call;
    signal = at_call ? 0 : WSTOPSIG(status);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return stops;
}

using Files = std::map<fs::path, std::string>;

Files files_below(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path()] = read_file(entry.path());
  return files;
}

// What no command has committed to: of what is left so, nothing is read.
Files without_unfinished(Files files) {
  std::erase_if(files, [](const auto& file) { return file.first.extension() == ".part"; });
  return files;
}

class Crash : public GateCommand {
 protected:
  std::size_t old_stores_ = 0, new_stores_ = 0, finished_ = 0, unfinished_ = 0;

  static void restore(const fs::path& folder, const Files& files) {
    for (const auto& [file, content] : files_below(folder))
      if (!files.contains(file)) fs::remove(file);
    for (const auto& [file, content] : files) write_file(file, content, Sync::no);
  }

  static std::size_t changed(const Files& before, const Files& after) {
    std::size_t count = 0;
    for (const auto& [file, content] : after)
      count += !before.contains(file) || before.at(file) != content;
    return count;
  }

  // A store as its files and as what a reader tells of it.
  struct Seen {
    Files files;
    std::string told;
  };

  Seen look(const fs::path& folder, const std::vector<std::string>& reader) {
    EXPECT_EQ(holdfast(reader), 0) << complaints_;
    return {without_unfinished(files_below(folder)), output_};
  }

  // `command` changes the store `folder` from `before` to `after`, and `reader` tells what it is.
  struct Change {
    fs::path folder;
    std::vector<std::string> command;
    std::vector<std::string> reader;
    Seen before = {};
    Seen after = {};
  };

  void kill(const Change& change, std::size_t moment) {
    restore(change.folder, change.before.files);
    run_until(change.command, moment);
    const Files left = files_below(change.folder);
    const bool begun = fs::exists(journal_path(change.folder));
    const Seen seen = look(change.folder, change.reader);
    const bool is_old = seen.files == change.before.files && seen.told == change.before.told;
    const bool is_new = seen.files == change.after.files && seen.told == change.after.told;
    EXPECT_NE(is_old, is_new) << "the store is of two changes after a kill at stop " << moment
                              << (begun ? ", with" : ", without") << " a journal:\n"
                              << seen.told;
    if (begun) {
      EXPECT_TRUE(is_new) << "the journal was written, and stop " << moment << " undid it";
    } else {
      EXPECT_EQ(without_unfinished(left), seen.files) << "no journal, and the reader changed files";
    }
    old_stores_ += is_old;
    new_stores_ += is_new;
    finished_ += begun;
    unfinished_ += without_unfinished(left).size() < left.size();
    ASSERT_EQ(holdfast(change.command), 0)
        << "after a kill at stop " << moment << ": " << complaints_;
    EXPECT_EQ(files_below(change.folder), change.after.files) << "after a kill at stop " << moment;
  }

  void kill_at_random_moments(Change change) {
    change.before = look(change.folder, change.reader);
    const auto stops = run_until(change.command, SIZE_MAX);
    if (!stops) GTEST_SKIP() << "this machine forbids tracing a child";
    change.after = look(change.folder, change.reader);
    ASSERT_GE(changed(change.before.files, change.after.files), 2u);
    ASSERT_NE(change.before.told, change.after.told);
    std::mt19937 random(20261121);
    for (std::size_t i = 0; i < moments && !HasFailure(); ++i) {
      // Every other kill among the last calls, which write; half of all calls start the program.
      const std::size_t first = i % 2 == 0 ? 1 : *stops - *stops / 4;
      kill(change, first + random() % (*stops - first));
    }
    for (std::size_t i = 1; i <= last_moments && !HasFailure(); ++i) kill(change, *stops - i);
    // A test whose kills all come too early or too late shows nothing.
    EXPECT_GT(old_stores_, 50u);
    EXPECT_GT(new_stores_, 5u);
    EXPECT_GT(finished_, 5u);
    EXPECT_GT(unfinished_, 5u);
    std::cout << old_stores_ << " old, " << new_stores_ << " new, " << finished_
              << " of them finished by the reader, " << unfinished_ << " with unfinished files, "
              << moments + last_moments << " kills among " << *stops << " stops\n";
  }
};

TEST_F(Crash, AnAcceptThatIsKilledLeavesTheOldBaselineOrTheNewOne) {
  store(toy::dry());
  accepted(toy::host());
  for (Results now : {toy::dry(), toy::host()}) {
    now.run.id = "2026-11-22T12:00:00Z-0001";
    toy::metric(now, "optimized", "peak_bytes") = toy::exact(17);
    store(now);
  }
  const std::string place = "--baselines=" + baselines_.string();
  kill_at_random_moments({.folder = baselines_,
                          .command = {"baseline", "accept", results_.string(), place,
                                      "--lists=" + lists_.string(), "--why=fewer bytes"},
                          .reader = {"baseline", "show", place}});
}

TEST_F(Crash, AnAppendThatIsKilledLeavesTheOldHistoryOrTheNewOne) {
  const fs::path history = folder_.path() / "history";
  for (const Results& results : {toy::dry(), toy::host()}) store(results);
  append_history(results_, history);
  for (Results now : {toy::dry(), toy::host()}) {
    now.run.utc = "2026-11-22T12:00:00Z";
    now.run.content = "sha256:c1";
    store(now);
  }
  const std::string place = "--store=" + history.string();
  kill_at_random_moments({.folder = history,
                          .command = {"history", "append", results_.string(), place},
                          .reader = {"trend", place, "--json"}});
}

}  // namespace
}  // namespace holdfast::gate
