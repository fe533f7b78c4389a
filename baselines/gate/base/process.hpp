// SPDX-License-Identifier: Apache-2.0
// One child process: started without a shell, killed after a time limit, its output kept for the
// report.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"

namespace holdfast::gate {

struct Task {
  std::filesystem::path program;
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};      // on top of this process's own
  double timeout_seconds = 0;                               // 0: no limit
  std::function<void(std::string_view line)> on_line = {};  // each line of the standard error
};

enum class Ending { exited, killed, timed_out, flooded };

struct Outcome {
  Ending ending = Ending::exited;
  int code = 0;            // if it exited
  int signal = 0;          // if a signal killed it
  double seconds = 0;      // by the wall clock
  std::string output;      // the standard output; of a flood the beginning
  std::string complaints;  // the end of the standard error, at most 64 KiB
};

// Thrown by waiting functions on SIGINT, SIGTERM, SIGHUP, SIGQUIT or SIGPIPE, after
// catch_interruptions(), so that temporary folders are removed; main() then ends by the same
// signal.
struct Interrupted {
  int signal = 0;
  std::runtime_error left{"what was running leaves no file"};  // a text whose copy does not throw
};
void catch_interruptions();
void throw_if_interrupted();

// Runs a task, which has no input, to its end. It is killed with all its descendants when its time
// is up or its standard output exceeds `most_output`; what it leaves running, even a daemon in a
// session of its own, is killed at its end.
constexpr std::size_t most_output = std::size_t{64} << 20;
Outcome run_task(const Task& task);

// "exited with code 3", "was killed by signal 11 (SIGSEGV)", "did not finish within 1 s".
std::string describe(const Outcome& outcome, double timeout_seconds);

std::string first_line(const std::string& text);
// The last lines that are not blank, joined with " | ".
std::string last_lines(std::string_view text, std::size_t count);

struct Pipe {
  Descriptor read, write;
};
Pipe make_pipe();  // closed in children

// Starts a task with these descriptors as its standard streams, in a process group of its own; it
// dies with this process. A program that cannot be started throws Error(bad_input).
pid_t start(const Task& task, int input, int output, int complaints);

// The status of a child of start() that has ended, as waitpid() gives it: wait_for() waits for
// that. Afterwards its number may be another process's.
std::optional<int> status_of(pid_t child);
int wait_for(pid_t child);

// Records the status of a child.
void note_status(Outcome& outcome, int status);

// A new folder for the files of one command, removed with all its content at the end.
struct TemporaryFolder : NewFolder {
  explicit TemporaryFolder(std::string_view purpose);
};

// The folder of a user's locks: $XDG_RUNTIME_DIR, or a folder with mode 0700 in that for temporary
// files; one that another user owns is refused.
std::filesystem::path runtime_folder();

// Holds a file, which is made, among all processes that see it while it lives, and waits if another
// one holds it; `on_wait` is called once before waiting. The holder may remove the file.
class FileLock {
 public:
  FileLock(const std::filesystem::path& path, const std::function<void()>& on_wait,
           mode_t mode = 0600);

  // Of flock(), where it does not work on the file's file system: nothing is held then. Else 0.
  int error() const { return error_; }

 private:
  Descriptor file_ = Descriptor();
  int error_ = 0;

  int lock(int how) const;
};

// The same by name among all processes of a user on this machine.
class MachineLock {
 public:
  MachineLock(std::string_view name, const std::function<void()>& on_wait);

 private:
  FileLock lock_;
};

}  // namespace holdfast::gate
