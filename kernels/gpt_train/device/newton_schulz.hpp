// SPDX-License-Identifier: Apache-2.0
// Newton-Schulz of matrices of one shape, of all timescales at once: 18 launches, of which 15 are
// products.
#pragma once

#include <utility>

#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/device/optimizer_kernels.hpp"
#include "gpt_train/device/places.hpp"
#include "gpt_train/problem/dense.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train {

// What a group's matrices are made of: a gradient and moments, which go on.
struct Moving {
  const Schedule* schedule = nullptr;
  Timescales scales = {};
  const Member* members = nullptr;
  const Bf16* gradients = nullptr;
  float* moments = nullptr;       // timescale by timescale
  std::int64_t moment_count = 0;  // of one timescale
};

// Where Newton-Schulz has room: `memory` of its own, and that of logits for what lies there.
struct NewtonSchulzRoom {
  NewtonSchulz places;
  std::byte* memory = nullptr;
  Bf16* logits = nullptr;

  template <class T>
  T* at(Part<T> part) const {
    return place_in(memory, part);
  }
  Bf16* gram() const { return places.gram_apart ? logits : at(places.gram); }
};

// A block for each square of a member.
inline LaunchShape square_shape(const MatrixGroup& group) {
  return {
      .grid = {static_cast<unsigned>(group.tiles()), static_cast<unsigned>(group.members.size())},
      .block = {tile_edge, tile_rows}};
}

// A = x x^T, F = c A A + b A, x = F x + a x: three products, D apart from C.
inline const Bf16* iterate(Blas& blas, const MatrixGroup& group, int batch,
                           const NewtonSchulzRoom& room) {
  const auto [a, b, c] = newton_schulz;
  NewtonSchulzProducts of(Precision::bf16, group.m, group.q, batch);
  of.inner.alpha = c;
  of.inner.beta = b;
  of.last.beta = a;
  Bf16 *x = room.at(room.places.x), *next = room.at(room.places.next),
       *factor = room.at(room.places.factor), *gram = room.gram();
  for (int step = 0; step < newton_schulz_steps; ++step) {
    blas(of.outer, x, x, gram);
    blas(of.inner, {gram, gram, gram, factor});
    blas(of.last, {factor, x, x, next});
    std::swap(x, next);
  }
  return x;
}

// Returns where they are, [timescales, members, m, q], what has more rows than columns turned.
inline const Bf16* make_orthogonal(const OptimizerKernels& kernels, Blas& blas,
                                   const MatrixGroup& group, const NewtonSchulzRoom& room,
                                   const Moving& moving) {
  const auto count =
      static_cast<unsigned>(group.members.size()) * static_cast<unsigned>(moving.scales.count);
  const NewtonSchulz& here = room.places;
  kernels.go_on(square_shape(group), moving.schedule, moving.scales, moving.members,
                moving.gradients, moving.moments, moving.moment_count, room.at(here.x),
                room.at(here.squares));
  kernels.invert_norms({.grid = {count}, .block = {sum_threads}}, room.at(here.squares),
                       group.tiles(), float(newton_schulz_epsilon), room.at(here.inverse));
  LaunchShape flat = flat_shape(group.each(), 8);
  flat.grid.y = count;
  kernels.scale_all(flat, room.at(here.inverse), group.each(), room.at(here.x));
  return iterate(blas, group, static_cast<int>(count), room);
}

}  // namespace holdfast::gpt_train
