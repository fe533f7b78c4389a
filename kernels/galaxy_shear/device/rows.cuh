// SPDX-License-Identifier: Apache-2.0
// Rows of pixels of a stamp (stamp.cuh): from their transforms along y to pixels, through a pass
// over the pixels, and back.
#pragma once

template <class T, int n, int s, bool table, bool split>
template <bool returns, class See>
__device__ void Stamp<T, n, s, table, split>::pass_rows(const See& see) {
  constexpr int pairs = (s + 1) / 2;
#pragma unroll 1
  for (int first = part() * groups; first < pairs; first += parts() * groups) {
    const int i = 2 * (first + group);
    const bool two = i + 1 < s;
    Complex<T> v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      v[k] = {0, 0};
      if (i >= s) continue;
      const int x = lane + k * lanes, c = k < 4 ? x : n - x;
      Complex<T> upper = row(i, c);
      Complex<T> lower = two ? row(i + 1, c) : Complex<T>{0, 0};
      if (k >= 4) {
        upper = conjugate(upper);
        lower = conjugate(lower);
      }
      v[k] = {upper.im + lower.re, upper.re - lower.im};  // re and im swapped
    }
    transform<n>(v, shared.scratch[group], shared.roots, lane);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int j = lane + k * lanes;
      const bool inside = j < s && i < s;
      const T upper = inside ? see(i, j, shared.form.scale * v[k].im) : T(0);
      const T lower = inside && two ? see(i + 1, j, shared.form.scale * v[k].re) : T(0);
      v[k] = {upper, lower};
    }
    if (!returns) continue;
    transform<n>(v, shared.scratch[group], shared.roots, lane);
    take_apart(v, i, two);
  }
  __syncthreads();
}

template <class T, int n, int s, bool table, bool split>
template <bool returns>
__device__ T Stamp<T, n, s, table, split>::compare(const galaxy_shear::Model& model,
                                                   const T* observed) {
  const T inverse_noise = T(model.inverse_noise);
  T squares = 0;
  pass_rows<returns>([&](int i, int j, T pixel) {
    const T residual = (pixel - observed[i * s + j]) * inverse_noise;
    squares += residual * residual;
    return residual * inverse_noise;
  });
  return squares;
}

template <class T, int n, int s, bool table, bool split>
__device__ void Stamp<T, n, s, table, split>::take_apart(const Complex<T> (&v)[8], int i,
                                                         bool two) {
  Complex<T>* whole = shared.scratch[group];
  group_barrier<n>();
#pragma unroll
  for (int k = 0; k < 8; ++k) whole[lane + k * lanes] = v[k];
  group_barrier<n>();
  if (i < s) {
#pragma unroll
    for (int k = 0; k < 5; ++k) {
      const int c = lane + k * lanes;
      if (c > half) continue;
      const Complex<T> here = whole[c], there = conjugate(whole[(n - c) % n]);
      const Complex<T> sum = here + there, difference = turned(here - there);
      row(i, c) = {sum.re / 2, sum.im / 2};
      if (two) row(i + 1, c) = {difference.re / 2, difference.im / 2};
    }
  }
  group_barrier<n>();
}
