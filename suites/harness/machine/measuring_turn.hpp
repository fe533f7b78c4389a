// SPDX-License-Identifier: Apache-2.0
// This process's turn to measure on host. Without it other programs preempt its threads for some
// milliseconds at a time: work of several threads that wait for each other is then delayed most of
// the time, that of one hardly ever.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "harness/machine/kept_awake.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {

// How a process asks for the turn.
struct TurnRequest {
  std::string_view name = "holdfast: the turn to measure on host";
  // How long it waits, once: the turn's holder may be stopped.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  bool precedence = host_limits().precedence;
};

// A machine-wide lock if `device` is host, so that concurrent runs do not disturb each other. With
// precedence (base/machine.hpp: where the machine grants it) the process's threads, and those that
// they start, use real-time scheduling while it lives; the kernel leaves other programs a twentieth
// of each second. CPUs are kept awake as long. A process that does not get the turn measures
// without it, and does not wait again.
class MeasuringTurn {
 public:
  explicit MeasuringTurn(const std::string& device, const TurnRequest& request = {});
  MeasuringTurn(const MeasuringTurn&) = delete;
  MeasuringTurn& operator=(const MeasuringTurn&) = delete;
  ~MeasuringTurn();
  bool came() const { return *turn_ >= 0; }

 private:
  Descriptor turn_ = Descriptor();  // empty if not obtained, or not needed
  bool goes_before_ = false;
  std::optional<KeptAwake> awake_ = {};
};

}  // namespace holdfast
