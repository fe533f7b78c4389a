// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/thread_modes.hpp"

#include <omp.h>
#include <xmmintrin.h>

#include "base/text.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

// The control bits of the thread's MXCSR; the others only tell which exceptions occurred.
unsigned floating_point() {
  constexpr unsigned occurred = 0x3f;
  return _mm_getcsr() & ~occurred;
}

}  // namespace

ThreadModes::ThreadModes() : floating_point_(floating_point()), threads_(omp_get_max_threads()) {}

std::string ThreadModes::changed(bool of_the_team) const {
  if (const int now = omp_get_max_threads(); now != threads_)
    return text("loops of ", plural(static_cast<std::size_t>(now), "thread"), " where they had ",
                threads_);
  int others = floating_point() != floating_point_;
  if (of_the_team) {
    others = 0;
#pragma omp parallel num_threads(host_limits().threads) reduction(+ : others)
    others += floating_point() != floating_point_;
  }
  if (others == 0) return {};
  return text(plural(static_cast<std::size_t>(others), "thread"),
              " with another rounding or flushing of denormals");
}

}  // namespace holdfast
