// SPDX-License-Identifier: Apache-2.0
// A team of pairs of rows on the host: to pixels, with two rows per transform, and their cotangents
// back. Part of stamp.hpp.
#pragma once

#include "galaxy_shear/host/stamp.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

// Loads the rows of a team as signals, the second of a pair as the imaginary part.
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
      if (c == 0) {  // columns 0 and H of two real rows
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
void Stamp<T>::pass_rows(int team, T scale, const See& see) {
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
  if constexpr (!returns) return;
  for (int k = (plan.s + lanes - 1) / lanes * lanes; k < plan.n; ++k)
    other.re[k] = other.im[k] = V{};
  take_apart(team, plan.transform(other, other.re == first.re ? second : first));
}

// Splits the transform of each pair into those of its rows.
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
