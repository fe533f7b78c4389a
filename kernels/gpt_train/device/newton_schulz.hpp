// SPDX-License-Identifier: Apache-2.0
// Newton-Schulz for matrices of one shape and all timescales at once: 18 launches, 15 of them
// products.
#pragma once

#include <utility>

#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/device/optimizer_kernels.hpp"
#include "gpt_train/device/places.hpp"
#include "gpt_train/problem/dense.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train {

// The inputs of a group's matrices: a gradient and moments, which are updated.
struct Moving {
  const Schedule* schedule = nullptr;
  Timescales scales = {};
  const Member* members = nullptr;
  const Bf16* gradients = nullptr;
  float* moments = nullptr;       // timescale by timescale
  std::int64_t moment_count = 0;  // per timescale
};

// The room for Newton-Schulz: `memory` of its own, and the logits' memory for what is placed there.
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

// One block per square of a member.
inline LaunchShape square_shape(const MatrixGroup& group) {
  return {
      .grid = {static_cast<unsigned>(group.tiles()), static_cast<unsigned>(group.members.size())},
      .block = {tile_edge, tile_rows}};
}

// A = x x^T, F = c A A + b A, x = F x + a x: three products, with D separate from C.
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

// Returns the results, [timescales, members, m, q]; matrices with more rows than columns
// transposed.
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
