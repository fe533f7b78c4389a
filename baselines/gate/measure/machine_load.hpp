// SPDX-License-Identifier: Apache-2.0
// What other work did to the machine while ours ran.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "gate/documents/results.hpp"

namespace holdfast::gate {

// Watches from its construction on.
class OthersWatch {
 public:
  OthersWatch();
  // The part of the machine's CPUs, 0 to 1, that neither idled nor computed for this process and
  // the children that it has waited for. 0 where the system does not tell.
  double share() const;

 private:
  std::chrono::steady_clock::time_point begin_;
  std::optional<double> busy_;  // CPU seconds of the whole machine
  double ours_;
};

// What the kernel reports about the machine, read from the files below `root`; empty where it does
// not.
struct MachineState {
  std::optional<double> steal_ticks = {}, all_ticks = {};
  std::optional<double> memory_stall_seconds = {};  // in which something waited for memory
  std::optional<double> cpu_clock_hz = {};          // the fastest CPU's: idle ones go slower
};
MachineState machine_state(const std::filesystem::path& root);

// Sums over the parts of a run, and the lowest clock; empty where unknown.
struct MachineShare {
  std::optional<double> steal_ticks = {}, all_ticks = {}, memory_stall_seconds = {};
  std::optional<double> seconds = {}, cpu_clock_hz = {};
};

// Watches a run, from its construction on, whenever look() is called.
class MachineWatch {
 public:
  // `kept` receives what is seen, so that a resumed run adds to it.
  explicit MachineWatch(std::filesystem::path root = "/", std::filesystem::path kept = {});
  void look();           // between processes
  void look_at_clock();  // while one computes: CPUs at rest go slower
  // Fills in what was seen, and marks the measurement invalid if no time can be trusted; `others`
  // is the share of the CPUs that other work had.
  void describe(Quality& quality, std::optional<double> others) const;

 private:
  MachineShare until_now() const;

  std::filesystem::path root_, kept_;
  MachineShare before_;  // of the parts before this one
  std::chrono::steady_clock::time_point begin_;
  MachineState first_, last_;
  std::optional<double> least_clock_hz_ = {};
};

}  // namespace holdfast::gate
