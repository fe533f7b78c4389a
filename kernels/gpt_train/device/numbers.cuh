// SPDX-License-Identifier: Apache-2.0
// Eight bf16 at a time, and sums over warps and blocks in a fixed order.
#pragma once

#include "gpt_train/device/arguments.hpp"

namespace gpt = holdfast::gpt_train;
using holdfast::Bf16;
using holdfast::narrowed;
using holdfast::widened;

struct Eight {
  float of[8];
};

__device__ inline unsigned pair_of(float low, float high) {
  return narrowed(low).bits | static_cast<unsigned>(narrowed(high).bits) << 16;
}
__device__ inline float low_of(unsigned pair) {
  return __int_as_float(static_cast<int>(pair << 16));
}
__device__ inline float high_of(unsigned pair) {
  return __int_as_float(static_cast<int>(pair & 0xffff0000u));
}

__device__ inline Eight opened(uint4 packed) {
  return {{low_of(packed.x), high_of(packed.x), low_of(packed.y), high_of(packed.y),
           low_of(packed.z), high_of(packed.z), low_of(packed.w), high_of(packed.w)}};
}
__device__ inline uint4 packed(const Eight& x) {
  return make_uint4(pair_of(x.of[0], x.of[1]), pair_of(x.of[2], x.of[3]), pair_of(x.of[4], x.of[5]),
                    pair_of(x.of[6], x.of[7]));
}
// Both are aligned to 16 bytes.
__device__ inline Eight load8(const Bf16* from) {
  return opened(*reinterpret_cast<const uint4*>(from));
}
__device__ inline void store8(Bf16* to, const Eight& x) {
  *reinterpret_cast<uint4*>(to) = packed(x);
}

// The sum, in every lane.
template <class T>
__device__ inline T warp_sum(T own) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) own += __shfl_xor_sync(0xffffffffu, own, apart);
  return own;
}

// The sum over a block of `threads` along x, in every thread; may be called again at once.
template <int threads, class T>
__device__ inline T block_sum(T own) {
  __shared__ T sums[threads / 32];
  own = warp_sum(own);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = own;
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int warp = 0; warp < threads / 32; ++warp) sum += sums[warp];
  __syncthreads();
  return sum;
}

__device__ inline long long thread_of_grid() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
