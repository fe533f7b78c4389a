// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/measuring_turn.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <thread>
#include <utility>

#include "harness/machine/own_work.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

// The name is that of an abstract socket (unix(7)): the kernel frees it when the process ends,
// however that happens.
bool take(int socket, std::string_view name) {
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  std::ranges::copy(name, address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0;
}

Descriptor wait_for_turn(const TurnRequest& request) {
  static bool waits_no_more = false, told = false;
  constexpr std::chrono::seconds long_enough_to_wonder(2);
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const auto start = Clock::now(); !take(*socket, request.name);) {
    if (errno != EADDRINUSE || waits_no_more) return Descriptor();
    const auto waited = Clock::now() - start;
    if (waited > request.patience) {
      waits_no_more = true;
      log(LogLevel::warn, "waited for its turn to measure in vain: measures beside others");
      return Descriptor();
    }
    if (waited > long_enough_to_wonder && !std::exchange(told, true))
      log(LogLevel::warn, "another process measures on this machine: waits for its turn");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return socket;
}

void schedule_all(int policy) {
  const sched_param priority = {.sched_priority =
                                    policy == SCHED_OTHER ? 0 : ::sched_get_priority_min(policy)};
  for (const pid_t thread : working_threads())
    (void)::sched_setscheduler(thread, policy, &priority);
}

}  // namespace

MeasuringTurn::MeasuringTurn(const std::string& device, const TurnRequest& request) {
  if (device != "host") return;
  turn_ = wait_for_turn(request);
  goes_before_ = *turn_ >= 0 && request.precedence;
  if (goes_before_) schedule_all(SCHED_RR);
  if (*turn_ >= 0) awake_.emplace();
}

MeasuringTurn::~MeasuringTurn() {
  if (goes_before_) schedule_all(SCHED_OTHER);
}

}  // namespace holdfast
