// SPDX-License-Identifier: Apache-2.0
// One kernel per resource that can limit a device. Sums wrap modulo 2^32 and are compared as they
// are.
#include "calibration/formulas.hpp"
#include "runtime/device_code/grid_barrier.cuh"
#include "runtime/device_code/tensor_core.cuh"

namespace calibration = holdfast::calibration;

// Limits registers so that all blocks of a multiprocessor are resident at once.
#define FILLING \
  __launch_bounds__(calibration::threads_per_block, calibration::blocks_per_multiprocessor)

// Memory is moved in quads, 16 bytes: words 4q .. 4q+3.
__device__ inline int4* quads_of(unsigned* words) {
  return reinterpret_cast<int4*>(words);
}
__device__ inline const int4* quads_of(const unsigned* words) {
  return reinterpret_cast<const int4*>(words);
}

// words: [4 quads].
__global__ void fill(unsigned* words, int quads) {
  for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < quads; q += gridDim.x * blockDim.x)
    quads_of(words)[q] = make_int4(calibration::word(4u * q), calibration::word(4u * q + 1),
                                   calibration::word(4u * q + 2), calibration::word(4u * q + 3));
}

// Adds to `right` how many words hold what fill wrote. words: [4 quads].
__global__ void count_right(const unsigned* words, int quads, unsigned* right) {
  unsigned mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4 * quads; i += gridDim.x * blockDim.x)
    mine += words[i] == calibration::word(i);
  atomicAdd(right, mine);
}

// Calls `use(q, quad)` for the quads of this block's chunk in `pass`. From pass to pass chunks
// advance by as many blocks as a multiprocessor holds, so that it does not find in its own L1 what
// another of its blocks has read. Four loads are in flight before the first is used.
template <class Use>
__device__ inline void each_quad(const int4* source, int quads, int pass, Use use) {
  constexpr int batch = 4;
  const int blocks = gridDim.x, stride = blockDim.x;
  const int moved_on = pass * calibration::blocks_per_multiprocessor;
  const int chunk = (quads + blocks - 1) / blocks;
  const int first = min((static_cast<int>(blockIdx.x) + moved_on) % blocks * chunk, quads);
  const int end = min(first + chunk, quads);
  int q = first + threadIdx.x;
  for (; q + (batch - 1) * stride < end; q += batch * stride) {
    int4 loaded[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) loaded[k] = source[q + k * stride];
#pragma unroll
    for (int k = 0; k < batch; ++k) use(q + k * stride, loaded[k]);
  }
  for (; q < end; q += stride) use(q, source[q]);
}

// from, to: [4 quads].
__global__ void FILLING copy(const unsigned* __restrict__ from, unsigned* __restrict__ to,
                             int quads, int passes) {
  for (int pass = 0; pass < passes; ++pass)
    each_quad(quads_of(from), quads, pass, [=](int q, int4 quad) { quads_of(to)[q] = quad; });
}

// words: [4 quads]; sums: one per thread.
__global__ void FILLING read(const unsigned* __restrict__ words, unsigned* __restrict__ sums,
                             int quads, int passes) {
  unsigned sum = 0;
  for (int pass = 0; pass < passes; ++pass)
    each_quad(quads_of(words), quads, pass, [&sum](int, int4 quad) {
      sum += static_cast<unsigned>(quad.x) + quad.y + quad.z + quad.w;
    });
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// sums: one per thread, of independent chains.
template <class T>
__global__ void FILLING multiply_add(T* sums, int iterations, T factor, T shift) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  T value[calibration::device_chains];
#pragma unroll
  for (int c = 0; c < calibration::device_chains; ++c) value[c] = T(thread % 1024 + c);
#pragma unroll 4
  for (int i = 0; i < iterations; ++i)
#pragma unroll
    for (int c = 0; c < calibration::device_chains; ++c) value[c] = factor * value[c] + shift;
  T sum = 0;
#pragma unroll
  for (int c = 0; c < calibration::device_chains; ++c) sum += value[c];
  sums[thread] = sum;
}

// sums: one per thread, over its elements of the tiles that its warp computes on the matrix unit.
// Every factor is one, so a product adds its depth to each element.
__global__ void FILLING bf16_products(float* sums, int iterations) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned ones = holdfast::pack_bf16(1.0f, 1.0f);
  const unsigned a[4] = {ones, ones, ones, ones};
  float tile[calibration::product_tiles][4];
#pragma unroll
  for (int c = 0; c < calibration::product_tiles; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i) tile[c][i] = float(thread % 1024 + c);
#pragma unroll 4
  for (int k = 0; k < iterations; ++k)
#pragma unroll
    for (int c = 0; c < calibration::product_tiles; ++c)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
      holdfast::mma_bf16(tile[c], a, ones, ones, tile[c]);
#else
      tile[c][0] += a[0];  // no matrix unit: never launched there
#endif
  float sum = 0;
#pragma unroll
  for (int c = 0; c < calibration::product_tiles; ++c)
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += tile[c][i];
  sums[thread] = sum;
}

__device__ inline double exponential(double x) {
  return exp(x);
}
__device__ inline float exponential(float x) {
  return __expf(x);  // the fastest variant: this is a ceiling
}

// sums: one per thread, of exp(first), exp(first - step), ...
template <class T>
__global__ void FILLING exponentials(T* sums, int count) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  T x = T(calibration::first_exponent(thread)), sum = 0;
#pragma unroll 8
  for (int i = 0; i < count; ++i) {
    sum += exponential(x);
    x -= T(calibration::exponent_step);
  }
  sums[thread] = sum;
}

// The least work a phase can do: one write visible to others.
__global__ void tick(unsigned* ticks) {
  if (threadIdx.x == 0) atomicAdd(ticks, 1u);
}

// Repeated barriers. posted, seen: [blocks]. A block posts base + round before each barrier and
// after the last one reads what its neighbour posted.
__global__ void rounds(unsigned* word, unsigned* posted, unsigned* seen, unsigned base, int count) {
  for (int round = 1; round <= count; ++round) {
    if (threadIdx.x == 0) posted[blockIdx.x] = base + round;
    holdfast::grid_barrier(word);
  }
  if (threadIdx.x == 0) seen[blockIdx.x] = posted[(blockIdx.x + 1) % gridDim.x];
}
