// SPDX-License-Identifier: Apache-2.0
// Noise that depends on its index alone; the same bits from g++ and NVRTC.
#pragma once

#include "runtime/device_code/random.hpp"

namespace holdfast::xpcs_fit {

// The streams of the noise.
inline constexpr unsigned int noise_of_data = 0, noise_of_restarts = 1, noise_of_sigma = 2,
                              noise_of_sets = 3;

// Element k of a stream: nearly normal, with unit variance and |z| <= 3.4642.
HOLDFAST_BOTH inline double noise(unsigned long long k, unsigned long long seed,
                                  unsigned int stream) {
  const Philox4x32 drawn =
      philox4x32_10({{static_cast<unsigned int>(k), static_cast<unsigned int>(k >> 32), stream, 0}},
                    static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
  long long sum = 0;
  for (const unsigned int word : drawn.word) sum += word;
  return static_cast<double>(sum - 2 * ((1LL << 32) - 1)) * (1.7320508075688772 / 4294967296.0);
}

}  // namespace holdfast::xpcs_fit
