// SPDX-License-Identifier: Apache-2.0
// A child process that answers line by line for as long as it is asked.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "gate/base/process.hpp"

namespace holdfast::gate {

class Conversation {
 public:
  // Starts the task's program without a shell; `timeout_seconds` of the task holds for each answer.
  explicit Conversation(const Task& task);
  // Ends the child's input, and the child with it.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // The next line the child says, without its end. A child that ends, or says nothing in time,
  // throws Error(incomplete) with its last words; one that refuses passes on its own sentence.
  std::string read_line();
  // Sends a line and returns the child's answer, not a line that it wrote before.
  std::string ask(std::string_view line);

 private:
  void expect_silence();
  [[noreturn]] void ended();
  [[noreturn]] void give_up(std::string_view why);

  std::string name_;
  double timeout_seconds_;
  pid_t child_ = -1;
  Descriptor input_, output_, complaints_;
  std::string received_ = {};
};

}  // namespace holdfast::gate
