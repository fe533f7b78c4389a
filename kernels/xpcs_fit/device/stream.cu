// SPDX-License-Identifier: Apache-2.0
// The additional kernel of streamed fits: adds up the sums of batches, in their order.

// totals: [count], over all batches so far; the first batch overwrites them.
__global__ void add_batch(const double* sums, int count, int first, double* totals) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < count) totals[k] = first ? sums[k] : totals[k] + sums[k];
}
