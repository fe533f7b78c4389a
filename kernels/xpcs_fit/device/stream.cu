// SPDX-License-Identifier: Apache-2.0
// What a fit that streams adds to the kernels of the others: sums of batches, in their order.

// totals: [count], of all batches so far; those of the first are the first.
__global__ void add_batch(const double* sums, int count, int first, double* totals) {
  const int k = static_cast<int>(threadIdx.x);
  if (k < count) totals[k] = first ? sums[k] : totals[k] + sums[k];
}
