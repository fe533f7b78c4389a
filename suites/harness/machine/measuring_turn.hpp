// SPDX-License-Identifier: Apache-2.0
// The turn of this process to measure on host. Other programs that compute take the CPUs from its
// threads otherwise, some milliseconds each time: what several threads do that wait for each other
// is then held up most of the time, and what one does is not.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "harness/machine/kept_awake.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {

// How long one waits for it, once: whoever has it may be stopped.
inline constexpr auto patience_for_a_turn = std::chrono::seconds(30);

// Of this machine's processes one at a time has the turn, where `device` is the host: two runs at
// once do not disturb each other. With precedence (base/machine.hpp: where the machine grants it)
// its threads, and those that they begin, have real-time scheduling for as long as it lives; the
// kernel leaves other programs a twentieth of each second. CPUs are kept awake as long. Whose turn
// does not come measures as it is, and waits no more.
class MeasuringTurn {
 public:
  explicit MeasuringTurn(const std::string& device,
                         std::chrono::milliseconds patience = patience_for_a_turn,
                         bool precedence = host_limits().precedence);
  MeasuringTurn(const MeasuringTurn&) = delete;
  MeasuringTurn& operator=(const MeasuringTurn&) = delete;
  ~MeasuringTurn();
  bool came() const { return *turn_ >= 0; }

 private:
  Descriptor turn_ = Descriptor();  // none: it did not come, or is not needed
  bool goes_before_ = false;
  std::optional<KeptAwake> awake_ = {};
};

}  // namespace holdfast
