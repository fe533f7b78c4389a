// SPDX-License-Identifier: Apache-2.0
// One galaxy by one thread: the stages from its shape to pixels and from a cotangent of the pixels
// to six sums, in whole vectors (README.md, "on a host"). Along y the lanes of a vector are columns
// of the Fourier plane, along x they are pairs of rows. Compiled per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "galaxy_shear/host/transform.hpp"
#include "galaxy_shear/problem/problem.hpp"
#include "host/functions.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

using host::HOLDFAST_ISA::inverse_root, host::HOLDFAST_ISA::sine_cosine,
    host::HOLDFAST_ISA::transpose;

// What all threads read. Slots are columns 1 .. H - 1, and in slot 0 both 0 and H, which make real
// rows and so share a transform; up to a whole vector they are filled with columns of nothing.
template <class T>
struct Plan {
  static constexpr int lanes = Lanes<T>::count;

  Plan(const Scene& scene, const T* optics)
      : n(scene.fft),
        half(n / 2),
        s(scene.image),
        slots((half + lanes - 1) / lanes * lanes),
        teams(((s + 1) / 2 + lanes - 1) / lanes),
        table(!separable(scene.psf)),
        attenuation(optics),
        transform(n) {}

  // Numbers of a thread's workspace; each array begins with a whole line of a cache.
  static std::size_t padded(std::size_t count) {
    constexpr std::size_t line = 64 / sizeof(T);
    return (count + line - 1) / line * line;
  }
  std::size_t pitch() const { return slots + lanes; }
  std::size_t signal() const { return padded(std::size_t(n + 3) * lanes); }
  std::size_t border() const { return padded(half + 1 + lanes); }
  std::size_t plane() const { return padded(pitch() * 2 * lanes * teams); }
  std::size_t workspace() const { return 2 * plane() + 4 * signal() + 10 * border(); }

  int n, half, s, slots, teams;  // teams: of as many pairs of rows as a vector has lanes
  bool table;
  const T* attenuation;
  Transform<T> transform;
};

// Of samples at r and -r.
template <class T>
struct Pair {
  Vector<T> re, im, mirrored_re, mirrored_im;
};

template <class T>
struct Stamp {
  using V = Vector<T>;
  static constexpr int lanes = Lanes<T>::count;

  Stamp(const Plan<T>& shared, T* workspace) : plan(shared) {
    const auto take = [&](std::size_t count) {
      return std::exchange(workspace, workspace + count);
    };
    rows_re = take(plan.plane());
    rows_im = take(plan.plane());
    for (V** array : {&first.re, &first.im, &second.re, &second.im})
      *array = reinterpret_cast<V*>(take(plan.signal()));
    for (T** array : {&wave_x_re, &wave_x_im, &wave_y_re, &wave_y_im, &zero_re, &zero_im, &last_re,
                      &last_im, &spare_re, &spare_im})
      *array = take(plan.border());
  }

  void place(const Model& model, const double* z);
  void generate();
  // see(i, x, pixels): pixels x, x + 1, .. of row i, as many as a vector has lanes; what lies
  // beyond the row is nothing, and must be in what it gives as their cotangent.
  template <bool returns, class See>
  void pass_rows(const See& see);
  Sums reduce();

  const Plan<T>& plan;
  T *rows_re, *rows_im;  // [S and up to whole teams, slots]
  Signal<T> first, second;
  T *wave_x_re, *wave_x_im;  // [H + 1 and up to slots], nothing in slot 0 and beyond column H - 1
  T *wave_y_re, *wave_y_im;  // [H + 1]
  T *zero_re, *zero_im, *last_re, *last_im;  // columns 0 and H by r >= 0
  T *spare_re, *spare_im;
  T x_last_re = 0, x_last_im = 0;  // wave along x of column H
  T x_zero = 0;
  T xx = 0, xy = 0, yy = 0, scale = 0;

 private:
  static V ascending(int from) {
    V values;
    for (int k = 0; k < lanes; ++k) values[k] = static_cast<T>(from + k);
    return values;
  }

  // At y and -y, of columns of which `fixed` is 1 + xx c^2 and `slope` xy c.
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
  // Of a table at columns from c on and row r, or at column r and rows from c on: it is symmetric.
  V share(int c, int r) const {
    if (!plan.table) return everywhere(T(1));
    return load(plan.attenuation + std::size_t(r) * (plan.half + 1) + c);
  }
  Pair<T> regular_response(int slot, int r, V x_re, V x_im) const {
    return response(x_re, x_im, everywhere(wave_y_re[r]), everywhere(wave_y_im[r]), share(slot, r));
  }
  // Of columns 0 and H, rows from r on.
  Pair<T> zero_response(int r) const {
    return response(everywhere(x_zero), V{}, load(wave_y_re + r), load(wave_y_im + r), share(r, 0));
  }
  Pair<T> last_response(int r) const {
    return response(everywhere(x_last_re), everywhere(x_last_im), load(wave_y_re + r),
                    load(wave_y_im + r), share(r, plan.half));
  }

  void make_waves(double shift, T* re, T* im) const;
  void generate_edge();
  void fill_team(int team);
  void take_apart(int team, const Signal<T>& of_pairs);

  struct Moments {
    V light = {}, b = {}, br = {}, brr = {}, v = {}, vr = {};
  };
  // Residuals at r and -r; `minus` is 0 where they are one sample.
  void accumulate(Moments& to, V fixed, V slope, V y, const Pair<T>& response,
                  const Pair<T>& residual, V minus) const;
  void reduce_edge(Sums& sums);
  void split_edge(const Signal<T>& columns);
};

template <class T>
void Stamp<T>::place(const Model& model, const double* z) {
  const Galaxy galaxy = galaxy_of(model, z);
  xx = static_cast<T>(galaxy.xx);
  xy = static_cast<T>(galaxy.xy);
  yy = static_cast<T>(galaxy.yy);
  scale = static_cast<T>(galaxy.flux / model.pixels);
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
void Stamp<T>::make_waves(double shift, T* re, T* im) const {
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

template <class T>
void Stamp<T>::generate() {
  for (int slot = 0; slot < plan.slots; slot += lanes) {
    const V c = ascending(slot), fixed = T(1) + xx * c * c, slope = xy * c;
    const V x_re = load(wave_x_re + slot), x_im = load(wave_x_im + slot);
    const auto at = [&](int r) {
      return sample(fixed, slope, everywhere(T(r)), regular_response(slot, r, x_re, x_im));
    };
    const Pair<T> zero = at(0), nyquist = at(plan.half);
    first.re[0] = zero.re;
    first.im[0] = zero.im;
    first.re[plan.half] = nyquist.re + nyquist.mirrored_re;
    first.im[plan.half] = nyquist.im + nyquist.mirrored_im;
    for (int r = 1; r < plan.half; ++r) {
      const Pair<T> both = at(r);
      first.re[r] = both.re;
      first.im[r] = both.im;
      first.re[plan.n - r] = both.mirrored_re;
      first.im[plan.n - r] = both.mirrored_im;
    }
    if (slot == 0) generate_edge();
    const Signal<T> pixels = plan.transform(first.swapped(), second.swapped()).swapped();
    for (int i = 0; i < plan.s; ++i) {
      store(rows_re + i * plan.pitch() + slot, pixels.re[i]);
      store(rows_im + i * plan.pitch() + slot, pixels.im[i]);
    }
  }
}

// Lane 0 of `first`: column 0 plus i times column H.
template <class T>
void Stamp<T>::generate_edge() {
  const V square = everywhere(xx * T(plan.half) * T(plan.half));
  for (int r = 0; r <= plan.half; r += lanes) {
    const V y = ascending(r);
    const Pair<T> zero = sample(everywhere(T(1)), V{}, y, zero_response(r));
    const Pair<T> last = sample(T(1) + square, everywhere(xy * T(plan.half)), y, last_response(r));
    const V re = last.re + last.mirrored_re, im = last.im - last.mirrored_im;
    store(zero_re + r, zero.re - im);
    store(zero_im + r, zero.im + re);
    store(last_re + r, zero.re + im);  // at -r
    store(last_im + r, re - zero.im);
  }
  const int half = plan.half;
  for (int r = 0; r < half; ++r) {
    first.re[r][0] = zero_re[r];
    first.im[r][0] = zero_im[r];
    if (r == 0) continue;
    first.re[plan.n - r][0] = last_re[r];
    first.im[plan.n - r][0] = last_im[r];
  }
  first.re[half][0] = zero_re[half] + last_re[half];
  first.im[half][0] = zero_im[half] + last_im[half];
}

// The rows of a team as signals, the second of a pair as its imaginary part.
template <class T>
void Stamp<T>::fill_team(int team) {
  for (int slot = 0; slot < plan.slots; slot += lanes) {
    V re[lanes], im[lanes], mirrored_re[lanes], mirrored_im[lanes];
    for (int k = 0; k < lanes; ++k) {
      const std::size_t at = 2 * (team * lanes + k) * plan.pitch() + slot,
                        below = at + plan.pitch();
      const V upper_re = load(rows_re + at), upper_im = load(rows_im + at);
      const V lower_re = load(rows_re + below), lower_im = load(rows_im + below);
      re[k] = upper_re - lower_im;
      im[k] = upper_im + lower_re;
      mirrored_re[k] = upper_re + lower_im;
      mirrored_im[k] = lower_re - upper_im;
    }
    for (V* square : {re, im, mirrored_re, mirrored_im}) transpose<T>(square);
    for (int k = 0; k < std::min(lanes, plan.half - slot); ++k) {
      const int c = slot + k;
      if (c == 0) {  // two real rows' columns 0 and H
        first.re[0] = (re[0] + mirrored_re[0]) * T(0.5);
        first.im[0] = (im[0] + mirrored_im[0]) * T(0.5);
        first.re[plan.half] = (im[0] - mirrored_im[0]) * T(0.5);
        first.im[plan.half] = (mirrored_re[0] - re[0]) * T(0.5);
        continue;
      }
      first.re[c] = re[k];
      first.im[c] = im[k];
      first.re[plan.n - c] = mirrored_re[k];
      first.im[plan.n - c] = mirrored_im[k];
    }
  }
}

template <class T>
template <bool returns, class See>
void Stamp<T>::pass_rows(const See& see) {
  for (int team = 0; team < plan.teams; ++team) {
    fill_team(team);
    const Signal<T> pixels = plan.transform(first.swapped(), second.swapped()).swapped();
    const Signal<T> other = pixels.re == first.re ? second : first;
    for (int x0 = 0; x0 < plan.s; x0 += lanes) {
      V upper[lanes], lower[lanes];
      std::copy_n(pixels.re + x0, lanes, upper);
      std::copy_n(pixels.im + x0, lanes, lower);
      transpose<T>(upper);
      transpose<T>(lower);
      for (int k = 0; k < lanes; ++k) {
        const int i = 2 * (team * lanes + k);
        upper[k] = i < plan.s ? see(i, x0, scale * upper[k]) : V{};
        lower[k] = i + 1 < plan.s ? see(i + 1, x0, scale * lower[k]) : V{};
      }
      if constexpr (!returns) continue;
      transpose<T>(upper);
      transpose<T>(lower);
      std::copy_n(upper, lanes, other.re + x0);
      std::copy_n(lower, lanes, other.im + x0);
    }
    if constexpr (!returns) continue;
    for (int k = (plan.s + lanes - 1) / lanes * lanes; k < plan.n; ++k)
      other.re[k] = other.im[k] = V{};
    take_apart(team, plan.transform(other, other.re == first.re ? second : first));
  }
}

// The transforms of both rows of each pair, back to rows.
template <class T>
void Stamp<T>::take_apart(int team, const Signal<T>& of_pairs) {
  for (int slot = 0; slot < plan.slots; slot += lanes) {
    V upper_re[lanes] = {}, upper_im[lanes] = {}, lower_re[lanes] = {}, lower_im[lanes] = {};
    for (int k = 0; k < std::min(lanes, plan.half - slot); ++k) {
      const int c = slot + k;
      if (c == 0) {
        upper_re[0] = of_pairs.re[0];
        upper_im[0] = of_pairs.re[plan.half];
        lower_re[0] = of_pairs.im[0];
        lower_im[0] = of_pairs.im[plan.half];
        continue;
      }
      const V re = of_pairs.re[c], im = of_pairs.im[c];
      const V mirrored_re = of_pairs.re[plan.n - c], mirrored_im = of_pairs.im[plan.n - c];
      upper_re[k] = (re + mirrored_re) * T(0.5);
      upper_im[k] = (im - mirrored_im) * T(0.5);
      lower_re[k] = (im + mirrored_im) * T(0.5);
      lower_im[k] = (mirrored_re - re) * T(0.5);
    }
    for (V* square : {upper_re, upper_im, lower_re, lower_im}) transpose<T>(square);
    for (int k = 0; k < lanes; ++k) {
      const int i = 2 * (team * lanes + k);
      const std::size_t at = i * plan.pitch() + slot, below = at + plan.pitch();
      if (i < plan.s) {
        store(rows_re + at, upper_re[k]);
        store(rows_im + at, upper_im[k]);
      }
      if (i + 1 < plan.s) {
        store(rows_re + below, lower_re[k]);
        store(rows_im + below, lower_im[k]);
      }
    }
  }
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
