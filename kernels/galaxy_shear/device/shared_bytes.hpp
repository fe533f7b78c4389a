// SPDX-License-Identifier: Apache-2.0
// Shared memory of a block that holds a whole galaxy, for the launcher and, as a check, the kernel.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"
#include "runtime/device_code/both.hpp"

namespace holdfast::galaxy_shear {

// value: bytes per number. Rows of pixels, scratch of 8 samples per thread, borders, roots and
// waves; then the sums of each warp and the variables of one thread.
HOLDFAST_BOTH constexpr unsigned long long shared_bytes(unsigned long long value, int n, int s,
                                                        int threads) {
  const unsigned long long columns = n / 2 + 1;
  const unsigned long long samples = s * columns + 8ull * threads + 2ull * n + 3 * columns;
  const unsigned long long sums = 8 * 7 * (threads / 32 + 1ull);
  return 2 * value * samples + sums + sizeof(FitState) + sizeof(Point) + 4 * value + 64;
}

}  // namespace holdfast::galaxy_shear
