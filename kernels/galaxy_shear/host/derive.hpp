// SPDX-License-Identifier: Apache-2.0
// The last stage of a gradient on the host: combines a residual's columns with the derivatives of a
// galaxy's samples. Part of shape.hpp.
#pragma once

#include "galaxy_shear/host/shape.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

template <class T>
void Shape<T>::accumulate(Moments& to, V fixed, V slope, V y, const Pair<T>& response,
                          const Pair<T>& residual, V minus) const {
  const Profile a = profile(fixed, slope, y);
  const V plus2 = a.plus * a.plus, minus2 = a.minus * a.minus;
  const V plus3 = plus2 * a.plus, minus3 = minus * minus2 * a.minus;
  // conj(residual) * response
  const V p = plus3 * (residual.re * response.re + residual.im * response.im);
  const V v = plus3 * (residual.re * response.im - residual.im * response.re);
  const V mirrored_p = minus3 * (residual.mirrored_re * response.mirrored_re +
                                 residual.mirrored_im * response.mirrored_im);
  const V mirrored_v = minus3 * (residual.mirrored_re * response.mirrored_im -
                                 residual.mirrored_im * response.mirrored_re);
  const V b = p * plus2, mirrored_b = mirrored_p * minus2, sum = b + mirrored_b;
  to.light += p + mirrored_p;
  to.b += sum;
  to.br += y * (b - mirrored_b);
  to.brr += y * y * sum;
  to.v += v + mirrored_v;
  to.vr += y * (v - mirrored_v);
}

// Weights: every column except 0 also stands for its mirror image.
template <class T>
void Shape<T>::derive(int slot, const Signal<T>& residual, const Edges<T>& edges,
                      Sums& sums) const {
  const V none = {}, one = everywhere(T(1));
  const V c = ascending(slot), fixed = T(1) + xx * c * c, slope = xy * c;
  const V x_re = load(wave_x_re + slot), x_im = load(wave_x_im + slot);
  Moments part;
  const auto add = [&](int r, int opposite, V minus) {
    accumulate(part, fixed, slope, everywhere(T(r)), regular_response(slot, r, x_re, x_im),
               {residual.re[r], residual.im[r], residual.re[opposite], residual.im[opposite]},
               minus);
  };
  add(0, 0, none);
  for (int r = 1; r <= plan.half; ++r) add(r, plan.n - r, one);
  for (int k = 0; k < lanes; ++k) {
    const double column = slot + k;
    sums.flux += 2 * double(part.light[k]);
    sums.xx += 2 * column * column * double(part.b[k]);
    sums.xy += 4 * column * double(part.br[k]);
    sums.yy += 2 * double(part.brr[k]);
    sums.x += 2 * column * double(part.v[k]);
    sums.y += 2 * double(part.vr[k]);
  }
  if (slot == 0) derive_edge(edges, sums);
}

template <class T>
void Shape<T>::derive_edge(const Edges<T>& edges, Sums& sums) const {
  const int half = plan.half;
  const V square = everywhere(xx * T(half) * T(half));
  Moments zero, last;
  for (int r = 0; r <= half; r += lanes) {
    const V y = ascending(r);
    // Samples beyond row H do not count; row 0 counts once, not twice.
    V inside = {}, minus = {};
    for (int k = 0; k < lanes; ++k) {
      inside[k] = r + k <= half ? T(1) : T(0);
      minus[k] = r + k > 0 && r + k <= half ? T(1) : T(0);
    }
    const auto residual = [&](const T* re, const T* im) -> Pair<T> {
      const V there_re = inside > T(0) ? load(re + r) : V{},
              there_im = inside > T(0) ? load(im + r) : V{};
      return {there_re, there_im, there_re, -there_im};
    };
    accumulate(zero, everywhere(T(1)), V{}, y, zero_response(r),
               residual(edges.zero_re, edges.zero_im), minus);
    accumulate(last, T(1) + square, everywhere(xy * T(half)), y, last_response(r),
               residual(edges.last_re, edges.last_im), minus);
  }
  for (int k = 0; k < lanes; ++k) {
    sums.flux += double(zero.light[k]) + 2 * double(last.light[k]);
    sums.xx += 2 * double(half) * half * double(last.b[k]);
    sums.xy += 4 * double(half) * double(last.br[k]);
    sums.yy += double(zero.brr[k]) + 2 * double(last.brr[k]);
    sums.x += 2 * double(half) * double(last.v[k]);
    sums.y += double(zero.vr[k]) + 2 * double(last.vr[k]);
  }
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
