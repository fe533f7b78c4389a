// SPDX-License-Identifier: Apache-2.0
// Whether the machine works for anybody else.
#pragma once

#include <chrono>
#include <string>

#include "base/files.hpp"

namespace holdfast {

// Whether CPUs that spent `seconds` of `elapsed` on others can hold threads up: more than a tick of
// the kernel's clock and than a machine always does in the background.
bool holds_threads_up(double seconds, double elapsed);

class OtherWork {
 public:
  // Of what the kernel tells there of all CPUs.
  explicit OtherWork(const std::string& stat = "/proc/stat");
  // In the last tenth of a second that has passed, so much that it holds threads up; true before
  // one has, and where the kernel does not tell.
  bool ran();

 private:
  double seconds() const;  // that all CPUs spent on others; infinite where nothing is told

  Descriptor stat_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();  // a tenth
  double begun_seconds_ = 0;
  bool ran_ = true;
};

}  // namespace holdfast
