// SPDX-License-Identifier: Apache-2.0
// Flushes single-precision denormals to zero, as GPUs and array libraries do. For host code.
#pragma once

#include <xmmintrin.h>

#include <type_traits>

namespace holdfast {

// While one lives, this thread flushes denormals: the tails of Gaussians and the front of a bump
// are full of them, and each costs some CPUs a hundred cycles. With T = double nothing changes.
// Threads started meanwhile would inherit the mode, so it must not span a parallel region.
template <class T>
class FlushToZero {
 public:
  FlushToZero() {
    if constexpr (flushes) _mm_setcsr(before_ | flush_to_zero | denormals_are_zero);
  }
  ~FlushToZero() {
    if constexpr (flushes) _mm_setcsr(before_);
  }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  static constexpr bool flushes = std::is_same_v<T, float>;
  static constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  unsigned before_ = flushes ? _mm_getcsr() : 0;
};

}  // namespace holdfast
