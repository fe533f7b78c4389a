// SPDX-License-Identifier: Apache-2.0
// Detects other work on the machine.
#pragma once

#include <chrono>
#include <string>

#include "base/files.hpp"

namespace holdfast {

// Whether CPUs that spent `seconds` of `elapsed` on others can delay threads: more than a tick of
// the kernel's clock and more than the usual background.
bool holds_threads_up(double seconds, double elapsed);

class OtherWork {
 public:
  // Reads the kernel's accounting of all CPUs from this file.
  explicit OtherWork(const std::string& stat = "/proc/stat");
  // Whether other work in the last complete tenth of a second was enough to delay threads; true
  // before one is complete, and if the kernel does not report it.
  bool ran();

 private:
  double seconds() const;  // that all CPUs spent on others; infinite if not reported

  Descriptor stat_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();  // of a tenth
  double begun_seconds_ = 0;
  bool ran_ = true;
};

}  // namespace holdfast
