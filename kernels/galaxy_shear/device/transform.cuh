// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of length n inside a block, by groups of n / 8 neighbouring threads: thread
// `lane` of a group holds samples lane + k n / 8, k = 0 .. 7, before and after. Radix 8, the rest
// radix 2 or 4. Forward only: for a backward one, real and imaginary parts are swapped around it.
#pragma once

template <class T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};

template <class T>
__device__ inline Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ inline Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
__device__ inline Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
__device__ inline Complex<T> conjugate(Complex<T> a) {
  return {a.re, -a.im};
}
template <class T>
__device__ inline Complex<T> swapped(Complex<T> a) {
  return {a.im, a.re};
}
// -i a.
template <class T>
__device__ inline Complex<T> turned(Complex<T> a) {
  return {a.im, -a.re};
}

template <class T>
__device__ inline void butterfly2(Complex<T>& a, Complex<T>& b) {
  const Complex<T> difference = a - b;
  a = a + b;
  b = difference;
}
template <class T>
__device__ inline void butterfly4(Complex<T>& a, Complex<T>& b, Complex<T>& c, Complex<T>& d) {
  butterfly2(a, c);
  butterfly2(b, d);
  d = turned(d);
  butterfly2(a, b);
  butterfly2(c, d);
  const Complex<T> second = c;  // into natural order
  c = b;
  b = second;
}
template <class T>
__device__ inline void butterfly8(Complex<T> (&v)[8]) {
  constexpr T root = T(0.70710678118654752440);  // sqrt(1 / 2)
  for (int k = 0; k < 4; ++k) butterfly2(v[k], v[k + 4]);
  v[5] = {root * (v[5].re + v[5].im), root * (v[5].im - v[5].re)};
  v[6] = turned(v[6]);
  v[7] = {root * (v[7].im - v[7].re), -root * (v[7].re + v[7].im)};
  butterfly4(v[0], v[1], v[2], v[3]);
  butterfly4(v[4], v[5], v[6], v[7]);
  const Complex<T> even[4] = {v[0], v[1], v[2], v[3]}, odd[4] = {v[4], v[5], v[6], v[7]};
  for (int k = 0; k < 4; ++k) {
    v[2 * k] = even[k];
    v[2 * k + 1] = odd[k];
  }
}

// Synchronises the threads of a group. All threads of the block must call it.
template <int n>
__device__ inline void group_barrier() {
  if (n / 8 <= 32)
    __syncwarp();
  else
    __syncthreads();
}

// scratch: [n], per group; roots: exp(-2 pi i k / n), k < n. All threads of the block must call it.
template <int n, class T>
__device__ inline void transform(Complex<T> (&v)[8], Complex<T>* scratch, const Complex<T>* roots,
                                 int lane) {
  constexpr int lanes = n / 8;
  butterfly8(v);
#pragma unroll
  for (int done = 8; done < n; done *= 8) {
    const int before = done / 8;
    const int place = lane / before * done + lane % before;
    group_barrier<n>();
    for (int k = 0; k < 8; ++k) scratch[place + k * before] = v[k];
    group_barrier<n>();
    for (int k = 0; k < 8; ++k) v[k] = scratch[lane + k * lanes];
    if (done * 8 <= n) {
      const int turn = lane % done * (n / (8 * done));
      for (int k = 1; k < 8; ++k) v[k] = v[k] * roots[k * turn];
      butterfly8(v);
    } else if (done * 4 == n) {
      for (int q = 0; q < 2; ++q) {
        const int turn = lane + q * lanes;
        for (int k = 1; k < 4; ++k) v[q + 2 * k] = v[q + 2 * k] * roots[k * turn];
        butterfly4(v[q], v[q + 2], v[q + 4], v[q + 6]);
      }
    } else {
      for (int q = 0; q < 4; ++q) {
        v[q + 4] = v[q + 4] * roots[lane + q * lanes];
        butterfly2(v[q], v[q + 4]);
      }
    }
  }
}
