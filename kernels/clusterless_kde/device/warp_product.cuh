// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: a warp's matrix product, with its sums in registers. The lanes that just
// computed the left-hand factor pass it: with g = lane / 4 and t = lane % 4, rows g + 8 r and k = 4
// t .. 4 t + 3 of 16. The matrix units' order of k may be permuted as long as both factors agree,
// so that a lane's share of the right-hand factor is one quad.
#pragma once

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/value_quads.cuh"

namespace kde = holdfast::clusterless_kde;

inline constexpr float no_sums[4] = {0, 0, 0, 0};

// [16 tiles, 16 k] times [16 k, columns], summed over groups of 16. rows: those of a lane, numbered
// row(0 .. rows - 1). each() yields `adjacent` neighbouring columns at a time. Columns enter the
// matrix units 16 at a time, so that nothing waits for a single chain of products; sums of those
// from `used` on are ignored. sum(n, 0 .. 4 lane_quads - 1): a lane's sums of columns 8 n .. 8 n +
// 7.
template <class V, int tiles, int columns>
struct WarpProduct;

// x y = high high + (high low + low high), the small terms first; low low, 2^-16 of x y, is left
// out. Matrix units truncate sums, so the sums of 16 k are added up outside of them.
template <int tiles, int columns>
struct WarpProduct<kde::SplitBf16, tiles, columns> {
  static constexpr int rows = 2 * tiles, adjacent = 2, lane_quads = tiles, eights = columns / 8;
  float sums[tiles][columns / 8][4] = {};

  __device__ float& sum(int n, int i) { return sums[i / 4][n][i % 4]; }

  __device__ static int row(int r) { return threadIdx.x % 32 / 4 + 8 * r; }

  __device__ void multiply(const float (&a)[rows][4], const kde::Quad<kde::SplitBf16>* b, int used,
                           kde::Quad<float>*) {
    unsigned high[tiles][4], low[tiles][4];
#pragma unroll
    for (int i = 0; i < 4 * tiles; ++i) {
      const float(&x)[4] = a[i / 4 * 2 + i % 2];
      const int k = i % 4 / 2 * 2;
      const holdfast::SplitPair pair = holdfast::split_pair(x[k], x[k + 1]);
      high[i / 4][i % 4] = pair.high;
      low[i / 4][i % 4] = pair.low;
    }
    b += threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < columns / 8; n += 2) {
      if (n > 0 && 8 * n >= used) continue;
      const kde::Quad<kde::SplitBf16> y[2] = {b[32 * n], b[32 * n + 32]};
      float part[2 * tiles][4];
#pragma unroll
      for (int m = 0; m < 2 * tiles; ++m)
        holdfast::mma_bf16(part[m], low[m / 2], y[m % 2].high[0], y[m % 2].high[1], no_sums);
#pragma unroll
      for (int m = 0; m < 2 * tiles; ++m)
        holdfast::mma_bf16(part[m], high[m / 2], y[m % 2].low[0], y[m % 2].low[1], part[m]);
#pragma unroll
      for (int m = 0; m < 2 * tiles; ++m)
        holdfast::mma_bf16(part[m], high[m / 2], y[m % 2].high[0], y[m % 2].high[1], part[m]);
#pragma unroll
      for (int i = 0; i < 8 * tiles; ++i) sums[i / 8][n + i / 4 % 2][i % 4] += part[i / 4][i % 4];
    }
  }

  template <class Take>
  __device__ void each(const Take& take) const {
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) {
        const float(&pair)[4] = sums[r / 2][n];
        take(r, 8 * n + threadIdx.x % 4 * 2, {pair[r % 2 * 2], pair[r % 2 * 2 + 1]});
      }
  }
};

template <int tiles, int columns>
struct WarpProduct<kde::Tf32, tiles, columns> {
  static constexpr int rows = 2 * tiles, adjacent = 2, lane_quads = tiles, eights = columns / 8;
  float sums[tiles][columns / 8][4] = {};

  __device__ float& sum(int n, int i) { return sums[i / 4][n][i % 4]; }

  __device__ static int row(int r) { return threadIdx.x % 32 / 4 + 8 * r; }

  __device__ void multiply(const float (&a)[rows][4], const kde::Quad<kde::Tf32>* b, int used,
                           kde::Quad<float>*) {
    float x[tiles][2][4];  // k = 4 t + 2 half in the place of t, the next one in that of t + 4
#pragma unroll
    for (int i = 0; i < 8 * tiles; ++i) {
      const int half = i / 4 % 2, element = i % 4;
      x[i / 8][half][element] =
          holdfast::round_tf32(a[i / 8 * 2 + element % 2][2 * half + element / 2]);
    }
    b += threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < columns / 8; n += 2) {
      if (n > 0 && 8 * n >= used) continue;
      const kde::Quad<kde::Tf32> y[2] = {b[32 * n], b[32 * n + 32]};
      float part[2 * tiles][4];
#pragma unroll
      for (int m = 0; m < 2 * tiles; ++m)
        holdfast::mma_tf32(part[m], x[m / 2][0], y[m % 2].values[0].value, y[m % 2].values[1].value,
                           no_sums);
#pragma unroll
      for (int m = 0; m < 2 * tiles; ++m)
        holdfast::mma_tf32(part[m], x[m / 2][1], y[m % 2].values[2].value, y[m % 2].values[3].value,
                           part[m]);
#pragma unroll
      for (int i = 0; i < 8 * tiles; ++i) sums[i / 8][n + i / 4 % 2][i % 4] += part[i / 4][i % 4];
    }
  }

  template <class Take>
  __device__ void each(const Take& take) const {
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) {
        const float(&pair)[4] = sums[r / 2][n];
        take(r, 8 * n + threadIdx.x % 4 * 2, {pair[r % 2 * 2], pair[r % 2 * 2 + 1]});
      }
  }
};

template <int tiles, int columns>
struct WarpProduct<double, tiles, columns> {
  static constexpr int rows = 2 * tiles, adjacent = 2, lane_quads = tiles, eights = columns / 8;
  double sums[rows][columns / 8][2] = {};

  __device__ double& sum(int n, int i) { return sums[i / 2][n][i % 2]; }

  __device__ static int row(int r) { return threadIdx.x % 32 / 4 + 8 * r; }

  __device__ void multiply(const double (&a)[rows][4], const kde::Quad<double>* b, int used,
                           kde::Quad<float>*) {
    b += threadIdx.x % 32;
#pragma unroll
    for (int n = 0; n < columns / 8; n += 2) {
      if (n > 0 && 8 * n >= used) continue;
      const kde::Quad<double> y[2] = {b[32 * n], b[32 * n + 32]};
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int r = 0; r < 2 * rows; ++r)
          holdfast::mma_f64(sums[r / 2][n + r % 2], a[r / 2][k], y[r % 2].values[k]);
    }
  }

  template <class Take>
  __device__ void each(const Take& take) const {
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) take(r, 8 * n + threadIdx.x % 4 * 2, sums[r][n]);
  }
};

// Without matrix units: the left-hand factor goes through shared memory, so that a lane owns whole
// blocks of 4 tiles rows and columns / 8 columns.
template <int tiles, int columns>
struct WarpProduct<float, tiles, columns> {
  static constexpr int rows = 4 * tiles, adjacent = 1, lane_quads = tiles, eights = columns / 8,
                       pitch = kde::exchange_pitch(tiles);
  float sums[rows][columns / 8] = {};

  __device__ float& sum(int n, int i) { return sums[i][n]; }

  __device__ static int row(int r) { return threadIdx.x % 32 / 8 * rows + r; }

  __device__ void multiply(const float (&a)[2 * tiles][4], const kde::Quad<float>* b, int used,
                           kde::Quad<float>* exchange) {
    const int lane = threadIdx.x % 32;
    __syncwarp();  // all lanes have read the previous one
#pragma unroll
    for (int r = 0; r < 2 * tiles; ++r)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int i = lane / 4 + 8 * r;
        exchange[(lane % 4 * 4 + k) * pitch + i / 4].values[i % 4] = a[r][k];
      }
    __syncwarp();
    const kde::Quad<float>* left = exchange + lane / 8 * tiles;
#pragma unroll 1
    for (int t = 0; t < 4; ++t) {
      kde::Quad<float> x[4][tiles];
#pragma unroll
      for (int i = 0; i < 4 * tiles; ++i)
        x[i / tiles][i % tiles] = left[(4 * t + i / tiles) * pitch + i % tiles];
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) {
        if (8 * n >= used) continue;
        const kde::Quad<float> y = b[(8 * n + lane % 8) * kde::column_quads<float> + t];
#pragma unroll
        for (int r = 0; r < rows; ++r)
#pragma unroll
          for (int k = 0; k < 4; ++k)
            sums[r][n] = fma(x[k][r / 4].values[r % 4], y.values[k], sums[r][n]);
      }
    }
  }

  template <class Take>
  __device__ void each(const Take& take) const {
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int n = 0; n < columns / 8; ++n) take(r, 8 * n + threadIdx.x % 32 % 8, {sums[r][n]});
  }
};

// Adds the products of `parts` warps, a power of two, to that of part 0, always in the same order:
// repeatedly the upper half to the lower. All warps of a block must call it. room: shared memory of
// the warps of one sum, [parts / 2, eights, lane_quads, 32].
template <class Product, class T>
__device__ inline void add_parts(Product& product, int used, int part, int parts,
                                 kde::Quad<T>* room) {
  constexpr int quads = Product::lane_quads;
  for (int half = parts / 2; half > 0; half /= 2) {
    kde::Quad<T>* at = room + (part & (half - 1)) * Product::eights * quads * 32 + threadIdx.x % 32;
    __syncthreads();  // its previous contents have been read
    if (part >= half && part < 2 * half)
#pragma unroll
      for (int n = 0; n < Product::eights; n += 2) {
        if (n > 0 && 8 * n >= used) continue;
#pragma unroll
        for (int i = n * quads; i < (n + 2) * quads; ++i)
#pragma unroll
          for (int k = 0; k < 4; ++k)
            at[32 * i].values[k] = product.sum(i / quads, i % quads * 4 + k);
      }
    __syncthreads();
    if (part < half)
#pragma unroll
      for (int n = 0; n < Product::eights; n += 2) {
        if (n > 0 && 8 * n >= used) continue;
        kde::Quad<T> others[2 * quads];
#pragma unroll
        for (int i = 0; i < 2 * quads; ++i) others[i] = at[32 * (n * quads + i)];
#pragma unroll
        for (int i = 0; i < 8 * quads; ++i)
          product.sum(n + i / 4 / quads, i % (4 * quads)) += others[i / 4].values[i % 4];
      }
  }
}

// Stores neighbours in a row; `at` is aligned to all of them together.
__device__ inline void store(float* at, const float (&values)[1]) {
  *at = values[0];
}
__device__ inline void store(float* at, const float (&values)[2]) {
  *reinterpret_cast<float2*>(at) = make_float2(values[0], values[1]);
}
__device__ inline void store(double* at, const double (&values)[2]) {
  *reinterpret_cast<double2*>(at) = make_double2(values[0], values[1]);
}
