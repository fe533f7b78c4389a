// SPDX-License-Identifier: Apache-2.0
#include "gate/base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/time.hpp"
#include "gate/base/error.hpp"
#include "gate/base/shown_text.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kept_complaints = 64 << 10;

[[noreturn]] void fail(std::string_view doing, int error) {
  throw Error(Fault::bad_input, text("failed to ", doing, ": ", std::strerror(error)));
}

volatile std::sig_atomic_t interruption = 0;

void remember_interruption(int signal) {
  interruption = signal;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& string : strings) out.push_back(string.data());
  out.push_back(nullptr);
  return out;
}

// This process's variables with the task's own on top, as "NAME=value".
std::vector<std::string> environment_of(const Task& task) {
  std::vector<std::string> variables;
  for (char** at = environ; *at; ++at) {
    const std::string_view variable = *at;
    if (!task.environment.contains(std::string(variable.substr(0, variable.find('=')))))
      variables.emplace_back(variable);
  }
  for (const auto& [name, value] : task.environment) variables.push_back(name + '=' + value);
  return variables;
}

// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(const char* program, char** arguments, char** variables, int input,
                         int output, int complaints, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(complaints, STDERR_FILENO);
  ::execve(program, arguments, variables);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

// The parent of a process, from /proc/PID/stat: it follows the name, which may hold anything.
pid_t parent_of(const fs::path& process) {
  std::string stat;
  std::getline(std::ifstream(process / "stat"), stat, '\0');
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > stat.size()) return 0;
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + 4, nullptr, 10));
}

// Asks the kernel once; a search through /proc would read a file of every process.
bool has_children() {
  siginfo_t ignored = {};
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code gone;
  for (fs::directory_iterator at("/proc", gone), end; !gone && at != end; at.increment(gone)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") == name.npos && parent_of(at->path()) == ::getpid())
      found.insert(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

// The children that start() made; their callers wait for them.
struct Started {
  std::mutex mutex = {};
  std::set<pid_t> children = {};
};
Started& started() {
  static Started all;
  return all;
}

// The descendants of a task: this process, their subreaper, becomes the parent of each whose own
// parent ends.
class Descendants {
 public:
  Descendants() : others_(has_children() ? children() : std::set<pid_t>()) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~Descendants() {
    for (bool some = has_children(); some; some = some && has_children()) {
      some = false;
      const std::lock_guard lock(
          started().mutex);  // so that none is started or waited for meanwhile
      for (const pid_t left : children()) {
        if (others_.contains(left) || started().children.contains(left)) continue;
        some = true;
        ::kill(left, SIGKILL);
        ::waitpid(left, nullptr, 0);
      }
    }
  }
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

 private:
  std::set<pid_t> others_;  // children from before the task
};

// Reads what is available, at most a MiB; closes the descriptor at end of file.
void drain(Descriptor& from, std::string& into) {
  std::array<char, 4096> buffer;
  for (int i = 0; i < 256;) {
    const ssize_t got = ::read(*from, buffer.data(), buffer.size());
    if (got > 0) {
      ++i;
      into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else {
      if (got == 0) from.close();
      return;
    }
  }
}

// Passes on the complete lines from `handed_on` on. Of long output only the end is kept.
void hand_on(const Task& task, std::string& complaints, std::size_t& handed_on) {
  for (auto end = complaints.find('\n', handed_on); end != std::string::npos;
       end = complaints.find('\n', handed_on)) {
    if (task.on_line) task.on_line(std::string_view(complaints).substr(handed_on, end - handed_on));
    handed_on = end + 1;
  }
  if (complaints.size() <= 2 * kept_complaints) return;
  const std::size_t old = complaints.size() - kept_complaints;
  complaints.erase(0, old);
  handed_on -= std::min(handed_on, old);
}

fs::path temporary_place() {
  std::error_code problem;
  fs::path place = fs::temp_directory_path(problem);
  if (!problem) return place;
  const char* set = std::getenv("TMPDIR");
  throw Error(Fault::bad_input, text("TMPDIR is '", set ? set : "", "', which is no folder (",
                                     problem.message(), "); set it to one, or unset it"));
}

}  // namespace

void throw_if_interrupted() {
  if (interruption != 0) throw Interrupted{interruption};
}

Pipe make_pipe() {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    fail("make a pipe (`ulimit -n` says how many files a process may open)", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

pid_t start(const Task& task, int input, int output, int complaints) {
  std::vector<std::string> arguments = {task.program.string()};
  arguments.insert(arguments.end(), task.arguments.begin(), task.arguments.end());
  std::vector<std::string> variables = environment_of(task);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> variable_pointers = pointers(variables);
  Pipe report = make_pipe();               // closed by a successful exec; carries errno otherwise
  std::unique_lock lock(started().mutex);  // so that nobody takes the child for another's
  const pid_t child = ::fork();
  if (child > 0) started().children.insert(child);
  if (child < 0) fail(text("start ", task.program.string()), errno);
  if (child == 0)
    become(task.program.c_str(), const_cast<char**>(argument_pointers.data()),
           const_cast<char**>(variable_pointers.data()), input, output, complaints, *report.write);
  lock.unlock();
  ::setpgid(child, child);  // in parent and child, whichever comes first
  report.write.close();
  int error = 0;
  if (::read(*report.read, &error, sizeof error) == sizeof error) {
    (void)wait_for(child);
    fail(text("start ", task.program.string()), error);
  }
  return child;
}

std::optional<int> status_of(pid_t child) {
  const std::lock_guard lock(started().mutex);
  int status = 0;
  if (::waitpid(child, &status, WNOHANG) != child) return std::nullopt;
  started().children.erase(child);
  return status;
}

int wait_for(pid_t child) {
  siginfo_t ignored = {};
  while (::waitid(P_PID, static_cast<id_t>(child), &ignored, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  return status_of(child).value_or(0);
}

void catch_interruptions() {
  struct sigaction remember = {};
  remember.sa_handler = remember_interruption;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &remember, nullptr);  // keeps nohup
  }
}

Outcome run_task(const Task& task) {
  Pipe output = make_pipe();
  Pipe complaints = make_pipe();
  const auto begin = Clock::now();
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descendants descendants;
  const pid_t child = start(task, *nothing, *output.write, *complaints.write);
  output.write.close();
  complaints.write.close();
  for (const int end : {*output.read, *complaints.read}) ::fcntl(end, F_SETFL, O_NONBLOCK);

  Outcome outcome;
  std::size_t handed_on = 0;
  std::optional<int> status;
  while (!status) {
    if (interruption != 0) {
      ::kill(-child, SIGKILL);
      (void)wait_for(child);
      throw Interrupted{interruption};
    }
    const double elapsed = seconds_since(begin);
    if (task.timeout_seconds > 0 && elapsed > task.timeout_seconds &&
        outcome.ending == Ending::exited) {
      outcome.ending = Ending::timed_out;
      ::kill(-child, SIGKILL);
    }
    // A child may close its ends and live on, or leave an end to a child of its own: poll() never
    // waits long.
    std::array<pollfd, 2> ends = {{{*output.read, POLLIN, 0}, {*complaints.read, POLLIN, 0}}};
    const bool silent = *output.read < 0 && *complaints.read < 0;
    ::poll(ends.data(), ends.size(), silent ? 1 : 50);
    status = status_of(child);  // before reading, so that all its output is in the pipes
    if (*output.read >= 0) drain(output.read, outcome.output);
    if (outcome.output.size() > most_output && outcome.ending == Ending::exited) {
      outcome.ending = Ending::flooded;
      ::kill(-child, SIGKILL);
    }
    if (outcome.ending == Ending::flooded) outcome.output.resize(most_output);
    if (*complaints.read >= 0) drain(complaints.read, outcome.complaints);
    hand_on(task, outcome.complaints, handed_on);
  }
  ::kill(-child, SIGKILL);  // what it left behind in its group
  outcome.seconds = seconds_since(begin);
  if (outcome.ending == Ending::exited) note_status(outcome, *status);
  return outcome;
}

void note_status(Outcome& outcome, int status) {
  if (WIFSIGNALED(status)) {
    outcome.ending = Ending::killed;
    outcome.signal = WTERMSIG(status);
  } else {
    outcome.code = WEXITSTATUS(status);
  }
}

std::string describe(const Outcome& outcome, double timeout_seconds) {
  switch (outcome.ending) {
    case Ending::timed_out:
      return text("did not finish within ", timeout_seconds, " s");
    case Ending::killed: {
      const char* name = ::sigabbrev_np(outcome.signal);
      return text("was killed by signal ", outcome.signal, name ? text(" (SIG", name, ")") : "");
    }
    case Ending::flooded:
      return text("printed more than ", most_output >> 20, " MiB to its standard output");
    case Ending::exited:
      break;
  }
  return text("exited with code ", outcome.code);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string last_lines(std::string_view from, std::size_t count) {
  std::vector<std::string_view> lines;
  while (!from.empty() && lines.size() < count) {
    const auto last = from.find_last_not_of(" \r\n\t");
    if (last == std::string_view::npos) break;
    from = from.substr(0, last + 1);
    const auto before = from.rfind('\n');
    const auto first = before == std::string_view::npos ? 0 : before + 1;
    lines.push_back(from.substr(first));
    from = from.substr(0, first);
  }
  std::string joined;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    joined += text(joined.empty() ? "" : " | ", shown_text(*line));
  return joined;
}

TemporaryFolder::TemporaryFolder(std::string_view purpose)
    : NewFolder(temporary_place() / text("holdfast-", purpose, "-")) {
  if (error() != 0) fail(text("make the folder ", path().string()), error());
}

fs::path runtime_folder() {
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  const fs::path folder =
      given && *given ? fs::path(given) : temporary_place() / text("holdfast-", ::geteuid());
  (void)::mkdir(folder.c_str(), S_IRWXU);
  struct stat is = {};
  if (::lstat(folder.c_str(), &is) != 0) fail(text("look at ", folder.string()), errno);
  if (!S_ISDIR(is.st_mode) || is.st_uid != ::geteuid())
    throw Error(Fault::bad_input, text(folder.string(),
                                       " should be a folder of yours for locks and is not; set "
                                       "XDG_RUNTIME_DIR to one"));
  return folder;
}

FileLock::FileLock(const fs::path& path, const std::function<void()>& on_wait, mode_t mode) {
  struct stat is = {}, there = {};
  for (bool has_told = false;;) {
    // A FIFO in its place would block without O_NONBLOCK; NFS locks what may be written to.
    file_ = Descriptor(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode));
    if (*file_ < 0) fail(text("open the lock ", path.string()), errno);
    if (::fstat(*file_, &is) != 0 || !S_ISREG(is.st_mode))
      throw Error(Fault::bad_input,
                  text("the lock ", path.string(), " is no file; remove what is there"));
    error_ = lock(LOCK_EX | LOCK_NB);
    if (error_ == EWOULDBLOCK) {
      if (!std::exchange(has_told, true)) on_wait();
      while ((error_ = lock(LOCK_EX)) == EINTR) throw_if_interrupted();
    }
    if (error_ != 0) return;
    // Its last holder may have removed it.
    const bool leads_here = ::stat(path.c_str(), &there) == 0;
    if (!leads_here && errno != ENOENT) fail(text("look at ", path.string()), errno);
    if (leads_here && there.st_dev == is.st_dev && there.st_ino == is.st_ino) return;
  }
}

int FileLock::lock(int how) const {
  return ::flock(*file_, how) == 0 ? 0 : errno;
}

MachineLock::MachineLock(std::string_view name, const std::function<void()>& on_wait)
    : lock_(runtime_folder() / text("holdfast-", name, ".lock"), on_wait) {
  if (lock_.error() != 0) fail(text("lock a file in ", runtime_folder().string()), lock_.error());
}

}  // namespace holdfast::gate
