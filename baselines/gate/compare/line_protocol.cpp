// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/line_protocol.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include "base/time.hpp"
#include "gate/base/error.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t last_words_bytes = 4096;
constexpr auto patience = std::chrono::seconds(1);
constexpr std::size_t most_in_a_line = std::size_t{1} << 20;

// The child writes into a file in memory, which cannot block as an unread pipe does.
std::string tail(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(last_words_bytes));
  std::string words(static_cast<std::size_t>(std::max<off_t>(0, size - begin)), '\0');
  const ssize_t got = ::pread(file, words.data(), words.size(), begin);
  words.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return words;
}

}  // namespace

Conversation::Conversation(const Task& task)
    : name_(task.program.filename().string()),
      timeout_seconds_(task.timeout_seconds),
      complaints_(::memfd_create("complaints", MFD_CLOEXEC)) {
  if (*complaints_ < 0)
    throw Error(Fault::bad_input, text("failed to make a file in memory: ", std::strerror(errno)));
  Pipe to_child = make_pipe(), from_child = make_pipe();
  child_ = start(task, *to_child.read, *from_child.write, *complaints_);
  input_ = std::move(to_child.write);
  output_ = std::move(from_child.read);
}

Conversation::~Conversation() {
  if (child_ < 0) return;
  input_.close();
  ::kill(-child_, SIGKILL);
  (void)wait_for(child_);
}

void Conversation::ended() {
  // The child has closed one of its ends: it has ended, or is about to.
  std::optional<int> status;
  const auto begin = Steady::now();
  while (!(status = status_of(child_))) {
    if (Steady::now() - begin > patience) give_up("closed its output but is still running");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  child_ = -1;
  Outcome outcome;
  outcome.complaints = tail(*complaints_);
  note_status(outcome, *status);
  pass_on_refusals(outcome, name_);
  give_up(describe(outcome, timeout_seconds_) + " before it had answered");
}

void Conversation::give_up(std::string_view why) {
  const std::string words = last_lines(tail(*complaints_), 3);
  throw Error(Fault::incomplete,
              text(name_, ' ', why, words.empty() ? "" : "; its last words: ", words));
}

std::string Conversation::read_line() {
  const auto begin = Steady::now();
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    throw_if_interrupted();
    if (received_.size() > most_in_a_line)
      give_up(text("printed more than ", most_in_a_line >> 20, " MiB and ended no line"));
    if (::lseek(*complaints_, 0, SEEK_END) > static_cast<off_t>(most_output))
      give_up(text("printed more than ", most_output >> 20, " MiB to its standard error"));
    const double left = timeout_seconds_ - seconds_since(begin);
    if (timeout_seconds_ > 0 && left <= 0)
      give_up(text("said nothing for ", timeout_seconds_, " s"));
    pollfd end = {*output_, POLLIN, 0};
    const auto deaf = [&] { give_up(text("cannot be listened to: ", std::strerror(errno))); };
    if (::poll(&end, 1, 100) < 0 && errno != EINTR) deaf();
    if (end.revents == 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(*output_, buffer.data(), buffer.size());
    if (got == 0) ended();
    if (got < 0 && errno != EINTR) deaf();
    if (got > 0) received_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

// An unrequested line would be taken for the answer to the next question, and each later answer for
// that to the question after it.
void Conversation::expect_silence() {
  pollfd end = {*output_, POLLIN, 0};
  std::array<char, 256> buffer;
  if (::poll(&end, 1, 0) > 0 && (end.revents & POLLIN) != 0)
    if (const ssize_t got = ::read(*output_, buffer.data(), buffer.size()); got > 0)
      received_.append(buffer.data(), static_cast<std::size_t>(got));
  if (!received_.empty())
    give_up(text("said '", received_.substr(0, std::min(received_.find('\n'), buffer.size())),
                 "' before it was asked"));
}

std::string Conversation::ask(std::string_view line) {
  expect_silence();
  const std::string said = std::string(line) + '\n';
  // Writing to a child that is gone raises SIGPIPE, which would end this process as well.
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  const ssize_t written = ::write(*input_, said.data(), said.size());
  ::sigaction(SIGPIPE, &before, nullptr);
  if (written != static_cast<ssize_t>(said.size())) ended();
  return read_line();
}

}  // namespace holdfast::gate
