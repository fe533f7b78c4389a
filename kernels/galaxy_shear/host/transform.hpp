// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of whole vectors: one per lane, without a shuffle. Radix 4, with a last stage
// of radix 2 if the length requires it. Compiled per instruction set.
#pragma once

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "host/vectors.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

using host::HOLDFAST_ISA::everywhere, host::HOLDFAST_ISA::load, host::HOLDFAST_ISA::store;
using host::HOLDFAST_ISA::Lanes, host::HOLDFAST_ISA::Vector;

// [n] per part. A workspace's arrays lie n + 3 vectors apart (Plan::signal), not a power of two, so
// that their cache lines do not map to the same set.
template <class T>
struct Signal {
  Vector<T>*re = nullptr, *im = nullptr;

  Signal swapped() const { return {im, re}; }
};

template <class T>
class Transform {
 public:
  explicit Transform(int n) : n_(n) {
    for (int k = 0; k < n; ++k) {
      cosine_.push_back(static_cast<T>(std::cos(2 * std::numbers::pi * k / n)));
      sine_.push_back(static_cast<T>(std::sin(2 * std::numbers::pi * k / n)));
    }
  }

  // Transforms `in` forward and overwrites it; the result is in `in` or in `other`. With the parts
  // of both swapped, the transform is backward.
  Signal<T> operator()(Signal<T> in, Signal<T> other) const {
    stage4<false>(in, other, 1);
    std::swap(in, other);
    int done = 4;
    for (; done * 4 <= n_; done *= 4) {
      stage4<true>(in, other, done);
      std::swap(in, other);
    }
    if (done == n_) return in;
    for (int k = 0; k < done; ++k) {
      const Vector<T> re = in.re[k + done] * cosine_[k] + in.im[k + done] * sine_[k];
      const Vector<T> im = in.im[k + done] * cosine_[k] - in.re[k + done] * sine_[k];
      other.re[k] = in.re[k] + re;
      other.im[k] = in.im[k] + im;
      other.re[k + done] = in.re[k] - re;
      other.im[k + done] = in.im[k] - im;
    }
    return other;
  }

 private:
  // The parts of a times exp(-i t), with cosine c and sine s of t.
  template <bool turns>
  static Vector<T> real(const Vector<T>& re, const Vector<T>& im, T c, T s) {
    return turns ? re * c + im * s : re;
  }
  template <bool turns>
  static Vector<T> imaginary(const Vector<T>& re, const Vector<T>& im, T c, T s) {
    return turns ? im * c - re * s : im;
  }

  // Combines transforms of length `done` into those of length 4 done.
  template <bool turns>
  void stage4(const Signal<T>& in, const Signal<T>& out, int done) const {
    const int quarter = n_ / 4, turn = n_ / (4 * done);
    for (int k = 0; k < done; ++k) {
      const T c1 = cosine_[k * turn], s1 = sine_[k * turn];
      const T c2 = cosine_[2 * k * turn], s2 = sine_[2 * k * turn];
      const T c3 = cosine_[3 * k * turn], s3 = sine_[3 * k * turn];
      for (int j = k; j < quarter; j += done) {
        const Vector<T>*re = in.re + j, *im = in.im + j;
        const Vector<T> re1 = real<turns>(re[quarter], im[quarter], c1, s1);
        const Vector<T> im1 = imaginary<turns>(re[quarter], im[quarter], c1, s1);
        const Vector<T> re2 = real<turns>(re[2 * quarter], im[2 * quarter], c2, s2);
        const Vector<T> im2 = imaginary<turns>(re[2 * quarter], im[2 * quarter], c2, s2);
        const Vector<T> re3 = real<turns>(re[3 * quarter], im[3 * quarter], c3, s3);
        const Vector<T> im3 = imaginary<turns>(re[3 * quarter], im[3 * quarter], c3, s3);
        const Vector<T> sum_re = re[0] + re2, sum_im = im[0] + im2;
        const Vector<T> difference_re = re[0] - re2, difference_im = im[0] - im2;
        const Vector<T> odd_re = re1 + re3, odd_im = im1 + im3;
        const Vector<T> turned_re = im1 - im3, turned_im = re3 - re1;  // -i (1 - 3)
        Vector<T>*to_re = out.re + 4 * (j - k) + k, *to_im = out.im + 4 * (j - k) + k;
        to_re[0] = sum_re + odd_re;
        to_im[0] = sum_im + odd_im;
        to_re[done] = difference_re + turned_re;
        to_im[done] = difference_im + turned_im;
        to_re[2 * done] = sum_re - odd_re;
        to_im[2 * done] = sum_im - odd_im;
        to_re[3 * done] = difference_re - turned_re;
        to_im[3 * done] = difference_im - turned_im;
      }
    }
  }

  int n_;
  std::vector<T> cosine_ = {}, sine_ = {};
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
