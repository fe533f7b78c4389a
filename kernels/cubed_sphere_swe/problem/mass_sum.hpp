// SPDX-License-Identifier: Apache-2.0
// Device code of both variants: the mass of a state, summed in double for every storage precision.
// The order of summation is fixed, so that two runs agree to the last bit.
#pragma once

#include "cubed_sphere_swe/problem/formulas.hpp"

namespace holdfast::cubed_sphere_swe {

// The sum over all threads of a block, in thread 0. Block: `threads` along x, a power of two.
template <int threads>
__device__ inline double block_sum(double value) {
  static_assert((threads & (threads - 1)) == 0, "halves must meet");
  __shared__ double partial[threads];
  __syncthreads();  // the previous sum has been read
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  return partial[0];
}

// h J Hv Hv at vertex (i, j), per unit spacing. The copies of a border point need not be equal: the
// projection is self-adjoint under these weights.
template <class T>
__device__ inline double mass_at(T h, double j_factor, int i, int j, int n) {
  return double(h) * j_factor * vertex_weight<double>(i, n) * vertex_weight<double>(j, n);
}

// Records the mass of the state, the sum of term(k) for k < count over the grid's threads; the last
// block to arrive adds up the blocks.
template <int threads, class Term>
__device__ inline void record_mass(const MassHistory& history, int count, Term term) {
  __shared__ bool last;
  double mine = 0;
  for (int k = blockIdx.x * threads + threadIdx.x; k < count; k += gridDim.x * threads)
    mine += term(k);
  const double block = block_sum<threads>(mine);
  if (threadIdx.x == 0) {
    history.partials[blockIdx.x] = block;
    __threadfence();  // partial sum visible before the arrival
    last = atomicAdd(history.counters, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();  // the others' partial sums, after their arrival
  mine = 0;
  for (int k = threadIdx.x; k < gridDim.x; k += threads) mine += history.partials[k];
  const double all = block_sum<threads>(mine);
  if (threadIdx.x > 0) return;
  history.masses[mass_slot(history.counters[1], history.capacity)] = all * history.cell;
  history.counters[0] = 0;
  history.counters[1] += 1;
}

}  // namespace holdfast::cubed_sphere_swe
