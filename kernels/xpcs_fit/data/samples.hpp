// SPDX-License-Identifier: Apache-2.0
// Private to the device benchmark: n x n samples of the data's noise, which differ from input to
// input.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/backend/host_limits.hpp"
#include "xpcs_fit/data/noise.hpp"

namespace holdfast::xpcs_fit {

inline std::uint64_t seed_of_samples(int input) {
  return 20251022 + static_cast<std::uint64_t>(input);
}

inline std::vector<double> samples(int n, int input = 0) {
  const std::uint64_t seed = seed_of_samples(input);
  std::vector<double> all(static_cast<std::size_t>(n) * n);
#pragma omp parallel for num_threads(host_limits().threads)
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = noise(k, seed, noise_of_data);
  return all;
}

}  // namespace holdfast::xpcs_fit
