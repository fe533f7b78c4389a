// SPDX-License-Identifier: Apache-2.0
// Latents drawn from their priors, identical from g++ and NVRTC.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast::galaxy_shear {

inline constexpr unsigned sampling_seed = 100, sampling_stream = 1;  // noise has stream 0

// Two uniform numbers between 0 and 1 for latent k of galaxy b.
struct Drawn {
  double first, second;
};
HOLDFAST_BOTH inline Drawn drawn(unsigned k, unsigned b, unsigned stream, unsigned t) {
  const Philox4x32 words = philox4x32_10({{k, b, stream, t}}, sampling_seed, 0);
  return {(words.word[0] + 0.5) * 0x1p-32, (words.word[1] + 0.5) * 0x1p-32};
}
HOLDFAST_BOTH inline double normal_of(const Drawn& uniform) {
  return sqrt(-2 * log(uniform.first)) * cos(two_pi * uniform.second);
}

// A draw of latent k of galaxy b from its prior, in u.
HOLDFAST_BOTH inline double drawn_latent(const Prior& prior, unsigned k, unsigned b) {
  const Drawn uniform = drawn(k, b, sampling_stream, 0);
  if (prior.kind == Prior::uniform) return log(uniform.first / (1 - uniform.first));
  return prior.centre + prior.width * normal_of(uniform);
}

HOLDFAST_BOTH inline void draw_latents(const Model& model, unsigned b, double* u) {
  for (int k = 0; k < model.latents; ++k) u[k] = drawn_latent(model.priors[k], k, b);
}

}  // namespace holdfast::galaxy_shear
