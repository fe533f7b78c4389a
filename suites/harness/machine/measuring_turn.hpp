// SPDX-License-Identifier: Apache-2.0
// Precedence for the threads of this process while it measures on host. Other programs that compute
// take turns with them otherwise, some milliseconds each: what several threads do that wait for
// each other is then held up most of the time, and what one does is not.
#pragma once

#include <chrono>
#include <string>

#include "base/files.hpp"

namespace holdfast {

// Of this machine's processes one at a time has it: another waits for its turn, so that two runs at
// once do not disturb each other, and after so long goes on without; waiting no more, for whoever
// has it may be stopped.
inline constexpr auto patience_for_a_turn = std::chrono::seconds(30);

// Real-time scheduling for as long as it lives, of the threads that the process has by now and of
// those that they begin; where `device` is the host and the machine grants it (base/machine.hpp).
// The kernel leaves other programs a twentieth of each second.
class ThreadsAhead {
 public:
  explicit ThreadsAhead(const std::string& device,
                        std::chrono::milliseconds patience = patience_for_a_turn);
  ThreadsAhead(const ThreadsAhead&) = delete;
  ThreadsAhead& operator=(const ThreadsAhead&) = delete;
  ~ThreadsAhead();

 private:
  Descriptor turn_ = Descriptor();  // none: the threads are as they were
};

}  // namespace holdfast
