// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: what a filter wants of a row of log-likelihoods.
#pragma once

#include "decode_arguments.hpp"

// Rows first_row .. first_row + rows - 1 of the decode, out: [rows, bins] -> ln of the sum of
// exp(out) over bins, and the first of the likeliest bins. Grid: a warp per row.
template <class T>
__global__ void __launch_bounds__(32 * kde::place_warps)
    consume(const T* __restrict__ out, int first_row, int rows, int bins, T* log_sums, T* best) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const T* values = out + static_cast<long long>(row) * bins;
  T highest = values[0];
  int at = 0;
  for (int p = lane; p < bins; p += 32)
    if (values[p] > highest) {
      highest = values[p];
      at = p;
    }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const T other = __shfl_xor_sync(0xffffffffu, highest, lanes);
    const int its = __shfl_xor_sync(0xffffffffu, at, lanes);
    const bool take = other > highest || (other == highest && its < at);
    highest = take ? other : highest;
    at = take ? its : at;
  }
  T sum = 0;
  for (int p = lane; p < bins; p += 32) sum += exp(values[p] - highest);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
  if (lane == 0) {
    log_sums[first_row + row] = highest + log(sum);
    best[first_row + row] = static_cast<T>(at);
  }
}
