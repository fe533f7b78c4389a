// SPDX-License-Identifier: Apache-2.0
// What other work did to the machine while ours ran.
#pragma once

#include <chrono>
#include <istream>
#include <optional>

namespace holdfast::gate {

// Ticks that the CPUs did not idle or wait for a disk, from what /proc/stat holds; empty where it
// holds something else.
std::optional<double> busy_ticks(std::istream& stat);

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

}  // namespace holdfast::gate
