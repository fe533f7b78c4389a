// SPDX-License-Identifier: Apache-2.0
// What other work does to threads that should run at once: how long those of this process wanted a
// CPU and had to wait for one.
#pragma once

#include <vector>

#include "base/files.hpp"

namespace holdfast {

class CpuWaits {
 public:
  // Watches the threads that this process has now.
  CpuWaits();
  // Since each of them began, together. Where the kernel does not account for it, each time that
  // one was interrupted counts as a time slice.
  double seconds() const;

 private:
  std::vector<Descriptor> threads_ = {};
};

}  // namespace holdfast
