// SPDX-License-Identifier: Apache-2.0
// For the reference's kernels on a device: two bf16 at a time, and sums over a block's or a warp's
// row.
#pragma once

#include "gpt_train/device/arguments.hpp"
#include "runtime/device_code/tensor_core.cuh"

using holdfast::Bf16;
namespace gpt = holdfast::gpt_train;

namespace plain {

constexpr int row_threads = 128;  // of kernels with one row, or four, per block

struct Pair {
  float low, high;
};
__device__ inline Pair load(const Bf16* from) {
  const unsigned packed = *reinterpret_cast<const unsigned*>(from);
  return {holdfast::bf16_low(packed), holdfast::bf16_high(packed)};
}
__device__ inline void store(Bf16* to, float low, float high) {
  *reinterpret_cast<unsigned*>(to) = holdfast::pack_bf16(low, high);
}
__device__ inline long long thread() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// The sum or maximum, by `combine`, over a block's row, in every thread.
template <class Combine>
__device__ inline float of_row(float own, Combine combine) {
  __shared__ float parts[row_threads / 32];
  for (int lanes = 16; lanes > 0; lanes /= 2)
    own = combine(own, __shfl_xor_sync(0xffffffffu, own, lanes));
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
  __syncthreads();
  float all = parts[0];
  for (int warp = 1; warp < row_threads / 32; ++warp) all = combine(all, parts[warp]);
  __syncthreads();
  return all;
}
__device__ inline float sum_of_row(float own) {
  return of_row(own, [](float a, float b) { return a + b; });
}
__device__ inline float highest_of_row(float own) {
  return of_row(own, [](float a, float b) { return fmaxf(a, b); });
}

// The sum over a warp's row, in every lane.
__device__ inline float sum_of_warp(float own) {
  for (int lanes = 16; lanes > 0; lanes /= 2) own += __shfl_xor_sync(0xffffffffu, own, lanes);
  return own;
}

__device__ inline float silu(float a) {
  return a / (1 + __expf(-a));
}
__device__ inline float silu_slope(float dh, float u, float a) {
  const float s = 1 / (1 + __expf(-a));
  return dh * u * s * (1 + a * (1 - s));
}

// A gradient in either format.
__device__ inline float number(float x) {
  return x;
}
__device__ inline float number(Bf16 x) {
  return holdfast::widened(x);
}

}  // namespace plain
