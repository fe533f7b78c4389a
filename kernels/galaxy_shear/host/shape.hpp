// SPDX-License-Identifier: Apache-2.0
// A galaxy as columns of the Fourier plane: its waves along either axis and its form, from which
// samples and their derivatives are computed in whole vectors. Compiled per instruction set.
#pragma once

#include <cmath>
#include <utility>

#include "galaxy_shear/host/plan.hpp"
#include "host/functions.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

using host::HOLDFAST_ISA::inverse_root, host::HOLDFAST_ISA::sine_cosine;

// Samples at r and, mirrored, at -r.
template <class T>
struct Pair {
  Vector<T> re, im, mirrored_re, mirrored_im;
};

template <class T>
struct Shape {
  using V = Vector<T>;
  static constexpr int lanes = Lanes<T>::count;

  // workspace: Plan::of_shape() numbers.
  Shape(const Plan<T>& shared, T* workspace) : plan(shared) {
    for (T** array : {&wave_x_re, &wave_x_im, &wave_y_re, &wave_y_im})
      *array = std::exchange(workspace, workspace + plan.border());
  }

  void place(const Model& model, const double* z);
  // Draws columns from `slot` on, row H folded; `adds`: adds `share` times them to the old values.
  template <bool adds>
  void draw(int slot, T share, const Signal<T>& to, const Edges<T>& edges) const;
  // Adds the terms of a residual's columns from `slot` on, at slot 0 of its edges, to the six sums.
  void derive(int slot, const Signal<T>& residual, const Edges<T>& edges, Sums& sums) const;

  const Plan<T>& plan;
  T light = 0;  // flux / N^2

 private:
  static V ascending(int from) {
    V values;
    for (int k = 0; k < lanes; ++k) values[k] = static_cast<T>(from + k);
    return values;
  }

  // Profiles at y and -y, for columns whose `fixed` is 1 + xx c^2 and `slope` xy c.
  struct Profile {
    V plus, minus;  // t^(-1/2)
  };
  Profile profile(V fixed, V slope, V y) const {
    const V even = fixed + yy * y * y, odd = slope * y;
    return {inverse_root<T>(even + odd), inverse_root<T>(even - odd)};
  }
  static Pair<T> response(V x_re, V x_im, V y_re, V y_im, V share) {
    const V rr = x_re * y_re, ii = x_im * y_im, ri = x_re * y_im, ir = x_im * y_re;
    return {share * (rr - ii), share * (ri + ir), share * (rr + ii), share * (ir - ri)};
  }
  Pair<T> sample(V fixed, V slope, V y, const Pair<T>& response) const {
    const Profile a = profile(fixed, slope, y);
    const V plus = a.plus * a.plus * a.plus, minus = a.minus * a.minus * a.minus;
    return {plus * response.re, plus * response.im, minus * response.mirrored_re,
            minus * response.mirrored_im};
  }
  // The table at columns from c on of row r, or, by symmetry, at rows from c on of column r.
  V share(int c, int r) const {
    if (!plan.table) return everywhere(T(1));
    return load(plan.attenuation + std::size_t(r) * (plan.half + 1) + c);
  }
  Pair<T> regular_response(int slot, int r, V x_re, V x_im) const {
    return response(x_re, x_im, everywhere(wave_y_re[r]), everywhere(wave_y_im[r]), share(slot, r));
  }
  // The response at columns 0 and H, rows from r on.
  Pair<T> zero_response(int r) const {
    return response(everywhere(x_zero), V{}, load(wave_y_re + r), load(wave_y_im + r), share(r, 0));
  }
  Pair<T> last_response(int r) const {
    return response(everywhere(x_last_re), everywhere(x_last_im), load(wave_y_re + r),
                    load(wave_y_im + r), share(r, plan.half));
  }

  void make_waves(double shift, T* re, T* im) const;
  template <bool adds>
  void draw_edge(T share, const Signal<T>& to, const Edges<T>& edges) const;

  struct Moments {
    V light = {}, b = {}, br = {}, brr = {}, v = {}, vr = {};
  };
  // Adds residuals at r and -r; `minus` is 0 if these are the same sample.
  void accumulate(Moments& to, V fixed, V slope, V y, const Pair<T>& response,
                  const Pair<T>& residual, V minus) const;
  void derive_edge(const Edges<T>& edges, Sums& sums) const;

  T *wave_x_re, *wave_x_im;  // [H + 1 and up to slots], zero in slot 0 and beyond column H - 1
  T *wave_y_re, *wave_y_im;  // [H + 1]
  T x_last_re = 0, x_last_im = 0;  // wave along x of column H
  T x_zero = 0;
  T xx = 0, xy = 0, yy = 0;
};

template <class T>
void Shape<T>::place(const Model& model, const double* z) {
  const Galaxy galaxy = galaxy_of(model, z);
  xx = static_cast<T>(galaxy.xx);
  xy = static_cast<T>(galaxy.xy);
  yy = static_cast<T>(galaxy.yy);
  light = static_cast<T>(galaxy.flux / model.pixels);
  make_waves(galaxy.dx, wave_x_re, wave_x_im);
  make_waves(galaxy.dy, wave_y_re, wave_y_im);
  x_zero = wave_x_re[0];
  x_last_re = wave_x_re[plan.half];
  x_last_im = wave_x_im[plan.half];
  wave_x_re[0] = wave_x_im[0] = 0;
  for (int c = plan.half; c < plan.slots; ++c) wave_x_re[c] = wave_x_im[c] = 0;
}

// [H + 1]: attenuation times exp(-2 pi i k shift / n), its argument reduced in double.
template <class T>
void Shape<T>::make_waves(double shift, T* re, T* im) const {
  constexpr int count = Lanes<double>::count;
  for (int first = 0; first <= plan.half; first += count) {
    Vector<double> angle;
    for (int j = 0; j < count; ++j) {
      const double turns = (first + j) * shift / plan.n;
      angle[j] = two_pi * (turns - std::rint(turns));
    }
    const auto circle = sine_cosine<double>(angle);
    for (int j = 0; j < count && first + j <= plan.half; ++j) {
      const double share = plan.table ? 1 : double(plan.attenuation[first + j]);
      re[first + j] = static_cast<T>(share * circle.cosine[j]);
      im[first + j] = static_cast<T>(-share * circle.sine[j]);
    }
  }
}

template <bool adds, class V, class T>
void put(V& to, const V& value, T share) {
  if constexpr (adds)
    to += share * value;
  else
    to = value;
}

template <class T>
template <bool adds>
void Shape<T>::draw(int slot, T share_of_light, const Signal<T>& to, const Edges<T>& edges) const {
  const V c = ascending(slot), fixed = T(1) + xx * c * c, slope = xy * c;
  const V x_re = load(wave_x_re + slot), x_im = load(wave_x_im + slot);
  const auto at = [&](int r) {
    return sample(fixed, slope, everywhere(T(r)), regular_response(slot, r, x_re, x_im));
  };
  const auto add = [=](V& number, const V& value) { put<adds>(number, value, share_of_light); };
  const Pair<T> zero = at(0), nyquist = at(plan.half);
  add(to.re[0], zero.re);
  add(to.im[0], zero.im);
  add(to.re[plan.half], nyquist.re + nyquist.mirrored_re);
  add(to.im[plan.half], nyquist.im + nyquist.mirrored_im);
  for (int r = 1; r < plan.half; ++r) {
    const Pair<T> both = at(r);
    add(to.re[r], both.re);
    add(to.im[r], both.im);
    add(to.re[plan.n - r], both.mirrored_re);
    add(to.im[plan.n - r], both.mirrored_im);
  }
  if (slot == 0) draw_edge<adds>(share_of_light, to, edges);
}

// Lane 0: column 0 plus i times column H.
template <class T>
template <bool adds>
void Shape<T>::draw_edge(T share_of_light, const Signal<T>& to, const Edges<T>& edges) const {
  const V square = everywhere(xx * T(plan.half) * T(plan.half));
  for (int r = 0; r <= plan.half; r += lanes) {
    const V y = ascending(r);
    const Pair<T> zero = sample(everywhere(T(1)), V{}, y, zero_response(r));
    const Pair<T> last = sample(T(1) + square, everywhere(xy * T(plan.half)), y, last_response(r));
    const V re = last.re + last.mirrored_re, im = last.im - last.mirrored_im;
    store(edges.zero_re + r, zero.re - im);
    store(edges.zero_im + r, zero.im + re);
    store(edges.last_re + r, zero.re + im);  // at -r
    store(edges.last_im + r, re - zero.im);
  }
  const auto add = [=](V* numbers, int r, T value) {
    T lane = numbers[r][0];
    put<adds>(lane, value, share_of_light);
    numbers[r][0] = lane;
  };
  const int half = plan.half;
  for (int r = 0; r < half; ++r) {
    add(to.re, r, edges.zero_re[r]);
    add(to.im, r, edges.zero_im[r]);
    if (r == 0) continue;
    add(to.re, plan.n - r, edges.last_re[r]);
    add(to.im, plan.n - r, edges.last_im[r]);
  }
  add(to.re, half, edges.zero_re[half] + edges.last_re[half]);
  add(to.im, half, edges.zero_im[half] + edges.last_im[half]);
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
