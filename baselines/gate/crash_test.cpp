// SPDX-License-Identifier: Apache-2.0
// The commands that write what must last, killed with SIGKILL at random system calls: every file is
// the old or the new one, byte for byte, and the same command then finishes what was begun.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>

#include "gate/gate_command.hpp"
#include "gate/history.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr int moments = 100;
constexpr int forbidden = 126;  // exit code of a child that may not be traced

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

bool is_unfinished(const fs::path& file) {
  return file.extension() == ".part";
}

class Crash : public GateCommand {
 protected:
  std::size_t old_stores_ = 0, new_stores_ = 0, mixed_stores_ = 0, unfinished_ = 0;

  static void restore(const fs::path& folder, const Files& files) {
    for (const auto& [file, content] : files_below(folder))
      if (!files.contains(file)) fs::remove(file);
    for (const auto& [file, content] : files) write_file(file, content, Sync::no);
  }

  void expect_old_or_new(const fs::path& folder, const Files& before, const Files& after) {
    std::size_t as_new = 0;
    Files found = files_below(folder);
    for (auto at = found.begin(); at != found.end();) {
      const bool drop = is_unfinished(at->first);
      unfinished_ += drop;
      at = drop ? found.erase(at) : std::next(at);
    }
    for (const auto& [file, content] : after) {
      const bool is_old = before.contains(file)
                              ? found.contains(file) && found[file] == before.at(file)
                              : !found.contains(file);
      const bool is_new = found.contains(file) && found[file] == content;
      EXPECT_TRUE(is_old || is_new) << file;
      as_new += is_new && !is_old;
      found.erase(file);
    }
    EXPECT_THAT(found, testing::IsEmpty()) << "files that neither store has";
    const bool whole = as_new == changed(before, after);
    ++(as_new == 0 ? old_stores_ : whole ? new_stores_ : mixed_stores_);
  }

  static std::size_t changed(const Files& before, const Files& after) {
    std::size_t count = 0;
    for (const auto& [file, content] : after)
      count += !before.contains(file) || before.at(file) != content;
    return count;
  }

  // `readable` is asked after every kill whether the next command would find its way.
  void kill_at_random_moments(const fs::path& folder, const std::vector<std::string>& command,
                              const std::function<void()>& readable) {
    const Files before = files_below(folder);
    const auto stops = run_until(command, SIZE_MAX);
    if (!stops) GTEST_SKIP() << "this machine forbids tracing a child";
    const Files after = files_below(folder);
    ASSERT_GE(changed(before, after), 2u);
    std::mt19937 random(20261121);
    for (int i = 0; i < moments; ++i) {
      restore(folder, before);
      // Every other kill among the last calls, which write; half of all calls start the program.
      const std::size_t first = i % 2 == 0 ? 1 : *stops - *stops / 4;
      const std::size_t moment = first + random() % (*stops - first);
      run_until(command, moment);
      expect_old_or_new(folder, before, after);
      readable();
      ASSERT_EQ(holdfast(command), 0) << "after a kill at stop " << moment << ": " << complaints_;
      EXPECT_EQ(files_below(folder), after) << "after a kill at stop " << moment;
      if (HasFailure()) return;
    }
    // A test whose kills all come too early or too late shows nothing.
    EXPECT_GT(old_stores_, 10u);
    EXPECT_GT(new_stores_, 1u);
    EXPECT_GT(unfinished_, 5u);
    std::cout << old_stores_ << " old, " << new_stores_ << " new, " << mixed_stores_
              << " between two files, " << unfinished_ << " unfinished files left by " << moments
              << " kills among " << *stops << " stops\n";
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
  kill_at_random_moments(
      baselines_,
      {"baseline", "accept", results_.string(), "--baselines=" + baselines_.string(),
       "--lists=" + lists_.string(), "--why=fewer bytes"},
      [&] {
        for (const Results& results : {toy::dry(), toy::host()})
          EXPECT_THAT(read_baseline(baseline(results)).entries, testing::Not(testing::IsEmpty()));
      });
}

TEST_F(Crash, AnAppendThatIsKilledLeavesTheOldHistoryOrTheNewOne) {
  const fs::path history = folder_.path() / "history";
  for (const Results& results : {toy::dry(), toy::host()}) store(results);
  append_history(results_, history);
  const std::size_t lines = read_history(history).size();
  for (Results now : {toy::dry(), toy::host()}) {
    now.run.utc = "2026-11-22T12:00:00Z";
    now.run.content = "sha256:c1";
    store(now);
  }
  kill_at_random_moments(history,
                         {"history", "append", results_.string(), "--store=" + history.string()},
                         [&] { EXPECT_GE(read_history(history).size(), lines); });
}

}  // namespace
}  // namespace holdfast::gate
