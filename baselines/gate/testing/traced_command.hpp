// SPDX-License-Identifier: Apache-2.0
// For tests: the real `holdfast`, stopped at each entry and each exit of a system call, so that it
// is killed there or told that the call failed. Suites that it starts run on untouched.
#pragma once

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate::toy {

// Whether the larger samples are requested, as at night.
inline bool whole_corpus() {
  const char* corpus = std::getenv("HOLDFAST_CORPUS");
  return corpus && std::string_view(corpus) == "all";
}

// The call to fail: the one at or after stop `moment`, or the first of number `only` from there;
// with `on` also each later one of its number.
struct FailingCall {
  std::size_t moment = 0;
  int error = 0;
  bool on = false;
  std::optional<long> only = {};
};

struct Tracing {
  std::size_t kill_at = SIZE_MAX;  // the stop
  std::optional<FailingCall> fail = {};
  std::filesystem::path output = "/dev/null";
  std::filesystem::path complaints = "/dev/null";
};

struct Traced {
  std::size_t stops = 0;
  int code = -1;                  // if it exited
  int signal = 0;                 // if one ended it; SIGALRM if it hung
  std::optional<long> call = {};  // the one that was told to have failed
};

namespace tracing {

constexpr int forbidden = 126;            // exit code of a child that may not be traced
constexpr unsigned longest_seconds = 60;  // of one command

// The child's half: stops at once, and then at every entry and every exit of a system call.
[[noreturn]] inline void become_traced(std::vector<char*>& arguments, const Tracing& tracing) {
  constexpr int how = O_WRONLY | O_CREAT | O_TRUNC;
  ::alarm(longest_seconds);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0 ||
      ::dup2(::open(tracing.output.c_str(), how, 0600), STDOUT_FILENO) < 0 ||
      ::dup2(::open(tracing.complaints.c_str(), how, 0600), STDERR_FILENO) < 0)
    ::_exit(forbidden);
  ::execv(HOLDFAST_BINARY, arguments.data());
  ::_exit(forbidden);
}

// Whether an error of the call tells anything: not for the end of the process, calls that only
// signal or wait, and brk(), which returns an address in any case.
inline bool may_fail(long call) {
  constexpr long never[] = {SYS_exit,         SYS_exit_group, SYS_execve,
                            SYS_rt_sigreturn, SYS_futex,      SYS_restart_syscall,
                            SYS_wait4,        SYS_kill,       SYS_brk};
  return std::find(std::begin(never), std::end(never), call) == std::end(never);
}

// break_off, at a call's entry: cancels it, except close(), which closes whatever it returns.
// tell_failure, at its exit: makes it fail.
inline void break_off(pid_t child, user_regs_struct& registers) {
  if (registers.orig_rax == SYS_close) return;
  registers.orig_rax = static_cast<unsigned long long>(-1);
  ::ptrace(PTRACE_SETREGS, child, nullptr, &registers);
}
inline void tell_failure(pid_t child, int error) {
  user_regs_struct registers = {};
  ::ptrace(PTRACE_GETREGS, child, nullptr, &registers);
  registers.rax = static_cast<unsigned long long>(-static_cast<long long>(error));
  ::ptrace(PTRACE_SETREGS, child, nullptr, &registers);
}

}  // namespace tracing

// Empty if this machine forbids tracing.
inline std::optional<Traced> run_traced(std::vector<std::string> arguments,
                                        const Tracing& tracing) {
  arguments.insert(arguments.begin(), HOLDFAST_BINARY);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) tracing::become_traced(pointers, tracing);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
  Traced traced;
  bool entering = true, failing = false;
  for (long signal = 0; traced.stops < tracing.kill_at;) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, signal);
    ::waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) break;
    const bool at_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
    signal = at_call ? 0 : WSTOPSIG(status);
    if (!at_call) continue;
    ++traced.stops;
    if (tracing.fail && entering && traced.stops >= tracing.fail->moment) {
      user_regs_struct registers = {};
      ::ptrace(PTRACE_GETREGS, child, nullptr, &registers);
      const auto call = static_cast<long>(registers.orig_rax);
      const bool meant = tracing.fail->only ? call == *tracing.fail->only : tracing::may_fail(call);
      failing = traced.call ? tracing.fail->on && call == *traced.call : meant;
      if (failing) {
        traced.call = call;
        tracing::break_off(child, registers);
      }
    } else if (failing) {
      tracing::tell_failure(child, tracing.fail->error);
      failing = false;
    }
    entering = !entering;
  }
  if (WIFSTOPPED(status)) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  if (WIFSIGNALED(status))
    traced.signal = WTERMSIG(status);
  else
    traced.code = WEXITSTATUS(status);
  return traced;
}

// What lies in a folder, to be put back before the next attempt.
using Files = std::map<std::filesystem::path, std::string>;

inline Files files_below(const std::filesystem::path& folder) {
  Files files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path()] = read_file(entry.path());
  return files;
}

inline void restore(const std::filesystem::path& folder, const Files& files) {
  for (const auto& [file, content] : files_below(folder))
    if (!files.contains(file)) std::filesystem::remove(file);
  for (const auto& [file, content] : files) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;  // a .part as well, which write_file() uses
  }
}

// What no command has committed to: of what is left so, nothing is read.
inline Files without_unfinished(Files files) {
  std::erase_if(files, [](const auto& file) { return file.first.extension() == ".part"; });
  return files;
}

}  // namespace holdfast::gate::toy
