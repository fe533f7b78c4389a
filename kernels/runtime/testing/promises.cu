// SPDX-License-Identifier: Apache-2.0
// Kernels of the promises: whole numbers and halves, so that every result is exact.
#include "runtime/device_code/grid_barrier.cuh"

// x: [n]. Each value is a multiple of 1/64 within [-1, 1], whatever the type.
template <class T>
__global__ void ramp(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = T((i * 37) % 129 - 64) / T(64);
}

// x: [n]
__global__ void step(double* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 2 * x[i] + 1;
}

// total, x: [n]
__global__ void add(double* total, const double* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) total[i] += x[i];
}

// given, taken: [blocks]. In each round the last thread of a block gives what the block has taken
// so far plus something, then the first one takes what the right neighbour gave.
__global__ void meet(unsigned* word, unsigned* given, unsigned* taken, int rounds) {
  const unsigned block = blockIdx.x;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == blockDim.x - 1) given[block] = 3 * taken[block] + block;
    holdfast::grid_barrier(word);
    if (threadIdx.x == 0) taken[block] = given[(block + 1) % gridDim.x];
    holdfast::grid_barrier(word);
  }
}
