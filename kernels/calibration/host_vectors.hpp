// SPDX-License-Identifier: Apache-2.0
// Private to the host calibrations: vectors as wide as the instruction set that they are compiled
// for. They are spelled out, so that a ceiling does not depend on what a compiler makes of a loop.
#pragma once

#include <cstddef>

namespace holdfast::calibration::HOLDFAST_ISA {

#ifdef __AVX512F__
inline constexpr std::size_t vector_bytes = 64;
#else
inline constexpr std::size_t vector_bytes = 32;
#endif

template <class T>
struct Lanes {
  static constexpr std::size_t count = vector_bytes / sizeof(T);
  typedef T Vector [[gnu::vector_size(vector_bytes)]];
};

// What follows is not merged with what came before, nor is either dropped.
inline void keep_memory() {
  asm volatile("" ::: "memory");
}

}  // namespace holdfast::calibration::HOLDFAST_ISA
