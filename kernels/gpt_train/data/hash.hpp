// SPDX-License-Identifier: Apache-2.0
// Numbers that are identical on every host and device: a function of seed, stream and index only.
// For g++ and NVRTC.
#pragma once

#include "runtime/device_code/random.hpp"

namespace holdfast::gpt_train {

inline constexpr unsigned long long seed = 1234;

// Output `index` of SplitMix64 keyed by a stream.
HOLDFAST_BOTH constexpr unsigned long long hashed(unsigned long long seed,
                                                  unsigned long long stream,
                                                  unsigned long long index) {
  return mix64(mix64(seed + stream * golden_gamma) + (index + 1) * golden_gamma);
}

// Nearly normal: the sum of four uniform 16-bit numbers minus its mean, over its deviation sqrt
// 1431655765; exact on every machine.
HOLDFAST_BOTH constexpr double near_normal(unsigned long long stream, unsigned long long index,
                                           unsigned long long seed = gpt_train::seed) {
  const unsigned long long h = hashed(seed, stream, index);
  const auto sum =
      static_cast<long long>((h & 0xffff) + (h >> 16 & 0xffff) + (h >> 32 & 0xffff) + (h >> 48));
  return static_cast<double>(sum - 131070) * 0x1.bb67ae86627e7p-16;
}

}  // namespace holdfast::gpt_train
