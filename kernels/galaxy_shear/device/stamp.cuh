// SPDX-License-Identifier: Apache-2.0
// One galaxy per block, or per several blocks with a part each: the stages from its shape to pixels
// and from a cotangent of the pixels to six sums (README.md, "on a device").
#pragma once

#include "galaxy_shear/device/shared_bytes.hpp"
#include "galaxy_shear/device/transform.cuh"
#include "galaxy_shear/problem/sampling.hpp"

namespace galaxy_shear = holdfast::galaxy_shear;

// 1 / sqrt(t) for 1 <= t < 1e30.
__device__ inline float inverse_root(float t) {
  return rsqrtf(t);
}
__device__ inline double inverse_root(double t) {
  return rsqrt(t);
}

// Sine and cosine of pi x.
__device__ inline void sine_and_cosine(float x, float& sine, float& cosine) {
  sincospif(x, &sine, &cosine);
}
__device__ inline void sine_and_cosine(double x, double& sine, double& cosine) {
  sincospi(x, &sine, &cosine);
}

// exp(-i pi x), its argument reduced in double.
template <class T>
__device__ inline Complex<T> wave(double x) {
  const double turns = x / 2;
  const T rest = T(2 * (turns - rint(turns)));
  T sine, cosine;
  sine_and_cosine(rest, sine, cosine);
  return {cosine, -sine};
}

// A galaxy's numbers in the type of arrays.
template <class T>
struct Form {
  T xx, xy, yy;
  T scale;  // flux / N^2
};

// 1 + r0^2 k M k at column c and row r; the profile is its inverse root.
template <class T>
__device__ inline T stretched(const Form<T>& form, int c, int r) {
  const T x = T(c), y = T(r);
  return T(1) + form.xx * x * x + y * (form.xy * x + form.yy * y);
}

// Sums over samples of a column: P a^3; P a^5 by powers of the row; V a^3 likewise.
template <class T>
struct Moments {
  T flux = 0, b = 0, br = 0, brr = 0, v = 0, vr = 0;
};

// n: samples along either axis of the Fourier plane; s: pixels; table: attenuation is a table
// [H + 1, H + 1], not a product; split: rows of pixels are in global memory, and blocks along y
// share a galaxy.
template <class T, int n, int s, bool table, bool split = false>
struct Stamp {
  static constexpr int half = n / 2, columns = half + 1, lanes = n / 8, groups = THREADS / lanes;
  static constexpr int sums_count = 7;
  static_assert(s <= n && THREADS % lanes == 0 && THREADS % 32 == 0);

  struct Shared {
    Complex<T> rows[split ? 1 : s][columns];  // of pixels, Fourier in x
    Complex<T> scratch[groups][n];            // for transforms
    Complex<T> edge[n];                       // columns 0 and H, which share one transform
    Complex<T> nyquist[columns];              // row H of the other columns
    Complex<T> roots[n];                      // exp(-2 pi i k / n)
    Complex<T> wave_x[columns], wave_y[columns];
    double parts[THREADS / 32][sums_count];
    double totals[sums_count];
    galaxy_shear::FitState state;
    galaxy_shear::Point point;
    Form<T> form;
    bool shaped;
  };

  Shared& shared;
  Complex<T>* plane;  // [s, columns], of a split galaxy
  const T* attenuation;
  int thread, group, lane;

  __device__ Stamp(void* memory, const T* optics, const T* twiddles, Complex<T>* rows = nullptr)
      : shared(*static_cast<Shared*>(memory)),
        plane(rows),
        attenuation(optics),
        thread(threadIdx.x),
        group(threadIdx.x / lanes),
        lane(threadIdx.x % lanes) {
    for (int k = thread; k < n; k += THREADS)
      shared.roots[k] = {twiddles[2 * k], twiddles[2 * k + 1]};
    static_assert(sizeof(Shared) <=
                  galaxy_shear::shared_bytes(sizeof(T), n, split ? 1 : s, THREADS));
  }

  // Without loading the roots.
  __device__ Stamp(void* memory, const T* optics, Complex<T>* rows)
      : shared(*static_cast<Shared*>(memory)),
        plane(rows),
        attenuation(optics),
        thread(threadIdx.x),
        group(threadIdx.x / lanes),
        lane(threadIdx.x % lanes) {}

  __device__ Complex<T>& row(int i, int c) const {
    if constexpr (split)
      return plane[i * columns + c];
    else
      return shared.rows[i][c];
  }
  // This block's index among those that share a galaxy, and their number.
  __device__ static int part() { return split ? blockIdx.y : 0; }
  __device__ static int parts() { return split ? gridDim.y : 1; }
  __device__ static bool owns(int column) { return column / groups % parts() == part(); }

  // Called by one thread to place a galaxy; the block waits, then makes its waves.
  __device__ void set(const galaxy_shear::Model& model, const double* z) {
    const galaxy_shear::Galaxy galaxy = galaxy_shear::galaxy_of(model, z);
    shared.form = {T(galaxy.xx), T(galaxy.xy), T(galaxy.yy), T(galaxy.flux / model.pixels)};
    shared.totals[0] = galaxy.dx * 2 / n;
    shared.totals[1] = galaxy.dy * 2 / n;
  }
  __device__ void make_waves() {
    __syncthreads();
    const double dx = shared.totals[0], dy = shared.totals[1];
    for (int k = thread; k < 2 * columns; k += THREADS) {
      const int c = k % columns;
      const T share = table ? T(1) : attenuation[c];
      const Complex<T> turned = wave<T>(c * (k < columns ? dx : dy));
      (k < columns ? shared.wave_x : shared.wave_y)[c] = {share * turned.re, share * turned.im};
    }
    __syncthreads();
  }

  // Attenuation times exp(-i (kx dx + ky dy)) at column c and row r, -H <= r <= H.
  __device__ Complex<T> turned_response(int c, int r) const {
    const Complex<T> along_y = shared.wave_y[r < 0 ? -r : r];
    const Complex<T> both =
        shared.wave_x[c] * Complex<T>{along_y.re, r < 0 ? -along_y.im : along_y.im};
    if (!table) return both;
    // Symmetric: the lanes of a group have one c and neighbouring r.
    const T share = attenuation[c * columns + (r < 0 ? -r : r)];
    return {share * both.re, share * both.im};
  }
  // (1 + r0^2 k M k)^(-1/2).
  __device__ T profile(int c, int r) const { return inverse_root(stretched(shared.form, c, r)); }
  // The transform of the galaxy without its flux.
  __device__ Complex<T> sample(int c, int r) const {
    const T a = profile(c, r), cube = a * a * a;
    const Complex<T> response = turned_response(c, r);
    return {cube * response.re, cube * response.im};
  }

  // Sample k of the transform of columns 0 and H, which make real rows and so share one. Both sides
  // of a Nyquist line are added: row H of every column, and column H, whose other side is its
  // conjugate.
  __device__ Complex<T> edge_sample(int k) const {
    const int r = k < half ? k : k - n;
    Complex<T> sum = {0, 0};
#pragma unroll 1
    for (int side = r;; side = -r) {
      const Complex<T> first = sample(0, side);
      const Complex<T> last = sample(half, side) + conjugate(sample(half, -side));
      sum = sum + first + Complex<T>{-last.im, last.re};
      if (side != -half) break;
    }
    return sum;
  }
  // Visits this lane's samples of column c, 0 < c < H.
  template <class Each>
  __device__ void column_samples(int c, const Each& each) const {
#pragma unroll
    for (int k = 0; k < 8; ++k) each(k, swapped(sample(c, lane + k * lanes - (k < 4 ? 0 : n))));
    if (lane == 0) each(4, swapped(sample(c, half)));
  }
  // Transforms column c to rows.
  __device__ void column_to_rows(Complex<T> (&v)[8], int c) {
    transform<n>(v, shared.scratch[group], shared.roots, lane);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int i = lane + k * lanes;
      if (i >= s || c >= half) continue;
      row(i, c) = c == 0 ? Complex<T>{v[k].im, 0} : swapped(v[k]);
      if (c == 0) row(i, half) = {v[k].re, 0};
    }
  }

  __device__ void generate() {
    for (int k = thread; k < n && part() == 0; k += THREADS) shared.edge[k] = edge_sample(k);
    __syncthreads();
#pragma unroll 1
    for (int first = part() * groups; first < half; first += parts() * groups) {
      const int c = first + group;
      Complex<T> v[8];
#pragma unroll
      for (int k = 0; k < 8; ++k) v[k] = {0, 0};
      if (c == 0) {
#pragma unroll
        for (int k = 0; k < 8; ++k) v[k] = swapped(shared.edge[lane + k * lanes]);
      } else if (c < half) {
        column_samples(c, [&](int k, Complex<T> value) { v[k] = v[k] + value; });
      }
      column_to_rows(v, c);
    }
    __syncthreads();
  }

  // rows.cuh: two rows of pixels are one transform, the second as its imaginary part. see(i, j,
  // pixel) returns the pixel's cotangent; with `returns` these replace the rows.
  template <bool returns, class See>
  __device__ void pass_rows(const See& see);
  // Returns twice this thread's part of the loss; with `returns` the rows become the residual's.
  template <bool returns>
  __device__ T compare(const galaxy_shear::Model& model, const T* observed);
  // Splits the transform of a pair of rows into those of both.
  __device__ void take_apart(const Complex<T> (&v)[8], int i, bool two);

  // derive.cuh: accumulate() adds a sample of the residual's transform to a column's moments; add()
  // adds these to the six sums.
  __device__ void accumulate(Moments<T>& to, int c, int r, Complex<T> residual) const;
  template <class Sum>
  __device__ static void add(Sum (&totals)[sums_count], const Moments<T>& part, int column,
                             int weight);
  // Transforms rows to column c along y; column 0 together with column H.
  __device__ void rows_to_column(Complex<T> (&v)[8], int c);
  // Combines the columns of the cotangent, from the rows that pass_rows left, with the derivatives
  // of the samples; `totals` are this thread's.
  __device__ void reduce(double (&totals)[sums_count]);
  // For columns 0 and H, and the far side of row H. A mirrored column counts twice, column 0 once.
  __device__ void reduce_borders(double (&totals)[sums_count]);
  // Adds up all threads' sums in a fixed order; thread 0 finds them in shared.totals.
  __device__ void sum_up(double (&totals)[sums_count]);
  // Evaluates the loss at a point, which thread 0 gets, and the sums of its gradient.
  __device__ double descend(const galaxy_shear::Model& model, const T* observed);
  // The six sums, which sum_up stored behind the loss.
  __device__ galaxy_shear::Sums sums() const {
    const double* t = shared.totals;
    return {t[1], t[2], t[3], t[4], t[5], t[6]};
  }
};

#include "galaxy_shear/device/derive.cuh"
#include "galaxy_shear/device/rows.cuh"
