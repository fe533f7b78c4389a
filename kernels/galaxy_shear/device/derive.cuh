// SPDX-License-Identifier: Apache-2.0
// The last stage of a stamp's gradient (stamp.cuh): multiplies columns of the residual with the
// derivatives of the samples and adds the threads' sums up over the block.
#pragma once

// Adds a sample of row r, given its profile's square and cube, and `along`, its response times the
// residual's conjugate.
template <class T>
__device__ inline void accumulate_sample(Moments<T>& to, T square, T cube, Complex<T> along,
                                         int r) {
  const T p = cube * along.re, b = p * square, v = cube * along.im, y = T(r);
  to.flux += p;
  to.b += b;
  to.br += b * y;
  to.brr += b * y * y;
  to.v += v;
  to.vr += v * y;
}
template <class T, int n, int s, bool table, bool split>
__device__ void Stamp<T, n, s, table, split>::accumulate(Moments<T>& to, int c, int r,
                                                         Complex<T> residual) const {
  const T a = profile(c, r), square = a * a, cube = a * square;
  const Complex<T> along = conjugate(residual) * turned_response(c, r);
  accumulate_sample(to, square, cube, along, r);
}
template <class T, int n, int s, bool table, bool split>
template <class Sum>
__device__ void Stamp<T, n, s, table, split>::add(Sum (&totals)[sums_count], const Moments<T>& part,
                                                  int column, int weight) {
  const Sum w = Sum(weight), c = Sum(column);
  totals[1] += w * part.flux;
  totals[2] += w * c * c * part.b;
  totals[3] += 2 * w * c * part.br;
  totals[4] += w * part.brr;
  totals[5] += w * c * part.v;
  totals[6] += w * part.vr;
}

template <class T, int n, int s, bool table, bool split>
__device__ void Stamp<T, n, s, table, split>::rows_to_column(Complex<T> (&v)[8], int c) {
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int i = lane + k * lanes;
    v[k] = {0, 0};
    if (i >= s || c >= half) continue;
    v[k] = row(i, c);
    if (c == 0) v[k].im = row(i, half).re;
  }
  transform<n>(v, shared.scratch[group], shared.roots, lane);
}

template <class T, int n, int s, bool table, bool split>
__device__ void Stamp<T, n, s, table, split>::reduce(double (&totals)[sums_count]) {
#pragma unroll 1
  for (int first = part() * groups; first < half; first += parts() * groups) {
    const int c = first + group;
    Complex<T> v[8];
    rows_to_column(v, c);
    if (c == 0) {
#pragma unroll
      for (int k = 0; k < 8; ++k) shared.edge[lane + k * lanes] = v[k];
    } else if (c < half) {
      if (lane == 0) shared.nyquist[c] = v[4];
      Moments<T> part;
#pragma unroll
      for (int k = 0; k < 8; ++k) accumulate(part, c, lane + k * lanes - (k < 4 ? 0 : n), v[k]);
      add(totals, part, c, 2);
    }
  }
  __syncthreads();
  reduce_borders(totals);
}

template <class T, int n, int s, bool table, bool split>
__device__ void Stamp<T, n, s, table, split>::reduce_borders(double (&totals)[sums_count]) {
  T own[sums_count] = {};
#pragma unroll 1
  for (int k = thread; k < 2 * (n + 1) + half - 1; k += THREADS) {
    const bool edge = k<2 * (n + 1), last = k> n;
    const int c = !edge ? k - 2 * (n + 1) + 1 : last ? half : 0;
    const int r = !edge ? half : k - (last ? n + 1 : 0) - half;
    if (!(edge ? part() == 0 : owns(c))) continue;
    Complex<T> residual = shared.nyquist[edge ? 0 : c];
    if (edge) {
      const Complex<T> here = shared.edge[(r + n) % n], there = conjugate(shared.edge[(n - r) % n]);
      const Complex<T> both = last ? turned(here - there) : here + there;
      residual = {both.re / 2, both.im / 2};
    }
    Moments<T> part;
    accumulate(part, c, r, residual);
    add(own, part, c, c == 0 ? 1 : 2);
  }
#pragma unroll
  for (int k = 1; k < sums_count; ++k) totals[k] += own[k];
}

template <class T, int n, int s, bool table, bool split>
__device__ void Stamp<T, n, s, table, split>::sum_up(double (&totals)[sums_count]) {
#pragma unroll
  for (int k = 0; k < sums_count; ++k)
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      totals[k] += __shfl_down_sync(0xffffffffu, totals[k], distance);
  if (thread % 32 == 0)
    for (int k = 0; k < sums_count; ++k) shared.parts[thread / 32][k] = totals[k];
  __syncthreads();
  if (thread < sums_count) {
    double sum = 0;
    for (int warp = 0; warp < THREADS / 32; ++warp) sum += shared.parts[warp][thread];
    shared.totals[thread] = sum;
  }
  __syncthreads();
}

template <class T, int n, int s, bool table, bool split>
__device__ double Stamp<T, n, s, table, split>::descend(const galaxy_shear::Model& model,
                                                        const T* observed) {
  make_waves();
  generate();
  double totals[sums_count] = {};
  totals[0] = compare<true>(model, observed);
  reduce(totals);
  sum_up(totals);
  return shared.totals[0] / 2 + model.constant + shared.point.prior;
}
