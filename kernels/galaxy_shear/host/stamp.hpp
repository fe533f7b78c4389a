// SPDX-License-Identifier: Apache-2.0
// One image by one thread: the stages from columns of the Fourier plane to pixels, and from a
// cotangent of the pixels back to columns, in whole vectors (README.md, "on a host"). Along y the
// lanes of a vector are columns of the plane, along x they are pairs of rows. Compiled per
// instruction set.
#pragma once

#include <algorithm>
#include <utility>

#include "galaxy_shear/host/derive.hpp"
#include "galaxy_shear/host/shape.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

using host::HOLDFAST_ISA::transpose;

// draw(slot, signal, edges) fills the columns from `slot` on; see(i, x, pixels) gets a vector of
// pixels x, x + 1, .. of row i, zero beyond the row, and returns their cotangents, zero there too;
// take(slot, signal, edges) gets the columns of the cotangent.
template <class T>
struct Stamp {
  using V = Vector<T>;
  static constexpr int lanes = Lanes<T>::count;

  // own: Plan::of_columns() numbers per thread; rows: Plan::of_rows(), which threads may share.
  Stamp(const Plan<T>& shared, T* own, T* rows)
      : plan(shared), rows_re(rows), rows_im(rows + plan.plane()) {
    const auto take = [&](std::size_t count) { return std::exchange(own, own + count); };
    for (V** array : {&first.re, &first.im, &second.re, &second.im})
      *array = reinterpret_cast<V*>(take(plan.signal()));
    for (T** array : {&edges.zero_re, &edges.zero_im, &edges.last_re, &edges.last_im})
      *array = take(plan.border());
  }

  // Transforms columns from `slot` on to rows.
  template <class Draw>
  void generate(int slot, const Draw& draw);
  // Transforms a team of pairs of rows to pixels times `scale`, and with `returns` back.
  template <bool returns, class See>
  void pass_rows(int team, T scale, const See& see);
  // Transforms rows to columns from `slot` on.
  template <class Take>
  void reduce(int slot, const Take& take);

 private:
  void fill_team(int team);
  void take_apart(int team, const Signal<T>& of_pairs);
  void split_edge(const Signal<T>& columns);

  const Plan<T>& plan;
  T *rows_re, *rows_im;  // [S and up to whole teams, slots]
  Signal<T> first, second;
  Edges<T> edges;
};

template <class T>
template <class Draw>
void Stamp<T>::generate(int slot, const Draw& draw) {
  draw(slot, first, edges);
  const Signal<T> pixels = plan.transform(first.swapped(), second.swapped()).swapped();
  for (int i = 0; i < plan.s; ++i) {
    store(rows_re + i * plan.pitch() + slot, pixels.re[i]);
    store(rows_im + i * plan.pitch() + slot, pixels.im[i]);
  }
}

template <class T>
template <class Take>
void Stamp<T>::reduce(int slot, const Take& take) {
  const V none = {};
  for (int i = 0; i < plan.s; ++i) {
    first.re[i] = load(rows_re + i * plan.pitch() + slot);
    first.im[i] = load(rows_im + i * plan.pitch() + slot);
  }
  for (int i = plan.s; i < plan.n; ++i) first.re[i] = first.im[i] = none;
  const Signal<T> residual = plan.transform(first, second);
  if (slot == 0) split_edge(residual);
  take(slot, residual, edges);
}

// Splits slot 0 into its edges and sets it to zero.
template <class T>
void Stamp<T>::split_edge(const Signal<T>& columns) {
  for (int r = 0; r <= plan.half; ++r) {
    const int opposite = (plan.n - r) % plan.n;
    const T re = columns.re[r][0], im = columns.im[r][0];
    const T mirrored_re = columns.re[opposite][0], mirrored_im = columns.im[opposite][0];
    edges.zero_re[r] = (re + mirrored_re) / 2;
    edges.zero_im[r] = (im - mirrored_im) / 2;
    edges.last_re[r] = (im + mirrored_im) / 2;
    edges.last_im[r] = (mirrored_re - re) / 2;
  }
  for (int r = 0; r < plan.n; ++r) columns.re[r][0] = columns.im[r][0] = 0;
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
