// SPDX-License-Identifier: Apache-2.0
// The layout of a model's activations and scratch in one piece of memory, which an update reuses,
// and that of an update. For the program and for the memory formula.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpt_train/device/arguments.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/problem/tensors.hpp"
#include "runtime/backend/packing.hpp"

namespace holdfast::gpt_train {

inline constexpr std::int64_t logit_rows = 2048;  // held at once

inline std::size_t logit_bytes(const Problem& p) {
  const Shape& s = p.options.shape;
  const std::int64_t rows = p.has_head() ? std::min(logit_rows, s.tokens()) : 0;
  return static_cast<std::size_t>(rows * s.vocabulary) * sizeof(Bf16);
}

inline std::int64_t held_layers(const Problem& p) {
  return p.passes_back() ? p.options.shape.layers : runs_layers(p) ? 1 : 0;
}
// Numbers of partial sums for a norm's gradient: the reference's, and the model's.
inline std::int64_t norm_parts(std::int64_t n) {
  return (n + norm_rows - 1) / norm_rows;
}
inline std::int64_t back_parts(std::int64_t n) {
  return (n + back_rows - 1) / back_rows;
}

// A part that the unit does not need is empty. Layer after layer: the stream before and between, q,
// k and v rotated, o, the logarithms of sums, up | gate, inverse norms; then the shared parts.
struct Activations {
  Part<Bf16> x, x1, qkv, o, both;
  Part<float> log_sums, inverses;
  Part<Bf16> y, h, dx, dy, dh, d_both, d_qkv, d_o, incoming;
  Part<float> whole, partial;
  std::size_t bytes = 0;

  explicit Activations(const Problem& p) {
    const Shape& s = p.options.shape;
    const std::int64_t n = s.tokens(), d = s.width, wide = s.query_width() + 2 * s.key_width();
    const std::int64_t held = held_layers(p), attentions = p.has_attention() ? 1 : held;
    Packing all;
    const auto narrow = [&](bool needed, std::int64_t count) {
      return all.add<Bf16>(needed ? static_cast<std::size_t>(count) : 0);
    };
    const auto exact = [&](bool needed, std::int64_t count) {
      return all.add<float>(needed ? static_cast<std::size_t>(count) : 0);
    };
    const bool layers = runs_layers(p), layers_back = layers_go_back(p), back = goes_back(p);
    const bool attention_back = attention_goes_back(p);
    x = narrow(true, (layers ? held + 1 : p.has_attention() || p.unit == Unit::lm_head) * n * d);
    x1 = narrow(layers, held * n * d);
    // Isolated attention keeps its inputs: rotated ones are written behind them.
    qkv = narrow(true, (p.has_attention() ? 2 : held) * n * wide);
    o = narrow(true, attentions * n * s.query_width());
    log_sums = exact(true, attentions * n * s.heads());
    both = narrow(layers, held * n * 2 * s.inner);
    inverses = exact(true, (2 * held + 1) * n);
    y = narrow(p.unit != Unit::update, n * d);
    h = narrow(layers, n * s.inner);
    dx = narrow(back, n * d);
    dy = narrow(back, n * d);
    dh = narrow(layers_back, n * s.inner);
    d_both = narrow(layers_back, n * 2 * s.inner);
    d_qkv = narrow(attention_back, n * wide);
    d_o = narrow(attention_back, n * s.query_width());
    incoming = narrow(p.unit == Unit::layer_backward, n * d);
    whole = exact(attention_back, n * s.heads());
    partial = exact(back, back_parts(n) * d);
    bytes = p.unit == Unit::update ? 0 : all.bytes();
  }
};

template <class T>
T* place_in(std::byte* memory, Part<T> part) {
  return reinterpret_cast<T*>(memory + part.offset);
}

// The results kept per layer. If nothing goes back, all layers share one slot, and the stream
// alternates between two places.
struct LayerSlot {
  Bf16 *x, *next, *x1, *qkv, *o, *both;
  float *log_sums, *r1, *r2;

  LayerSlot(std::byte* memory, const Activations& places, const Problem& p, int l) {
    const Shape& s = p.options.shape;
    const bool keeps = layers_go_back(p);
    const std::int64_t n = s.tokens(), d = s.width, held = keeps ? l : 0;
    x = place_in(memory, places.x) + (keeps ? l : l % 2) * n * d;
    next = place_in(memory, places.x) + (keeps ? l + 1 : 1 - l % 2) * n * d;
    x1 = place_in(memory, places.x1) + held * n * d;
    qkv = place_in(memory, places.qkv) + held * n * (s.query_width() + 2 * s.key_width());
    o = place_in(memory, places.o) + held * n * s.query_width();
    both = place_in(memory, places.both) + held * n * 2 * s.inner;
    log_sums = place_in(memory, places.log_sums) + held * n * s.heads();
    r1 = place_in(memory, places.inverses) + 2 * held * n;
    r2 = r1 + n;
  }
};

// The stream that the head reads.
inline Bf16* last_stream(std::byte* memory, const Activations& places, const Problem& p) {
  const Shape& s = p.options.shape;
  const int place = !runs_layers(p) ? 0 : p.passes_back() ? s.layers : s.layers % 2;
  return place_in(memory, places.x) + place * s.tokens() * s.width;
}

// Matrices of one shape, with smaller side m and greater side q, that are orthogonalised together.
struct MatrixGroup {
  int m = 0, q = 0;
  std::vector<std::size_t> members = {};  // indices of tensors
  std::int64_t each() const { return std::int64_t{m} * q; }
  int tiles() const {  // of one member, transposed or not: both sides are tiled alike
    return (m + tile_edge - 1) / tile_edge * ((q + tile_edge - 1) / tile_edge);
  }
};
inline std::vector<MatrixGroup> matrix_groups(const std::vector<Tensor>& tensors) {
  std::map<std::pair<int, int>, MatrixGroup> groups;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    if (tensors[k].role != Role::matrix) continue;
    const auto [m, q] = std::minmax({tensors[k].rows, tensors[k].columns});
    MatrixGroup& group = groups[{m, q}];
    group.m = m;
    group.q = q;
    group.members.push_back(k);
  }
  std::vector<MatrixGroup> all;
  for (const auto& [sides, group] : groups) all.push_back(group);
  return all;
}

// The memory of Newton-Schulz for a group and all timescales. Squares that fit in the logits'
// memory are placed there by an update.
struct NewtonSchulz {
  Part<Bf16> x, next, gram, factor;
  Part<float> squares, inverse;
  bool gram_apart = false;
  std::size_t bytes = 0;

  NewtonSchulz(const MatrixGroup& group, int timescales, std::size_t room) {
    const std::size_t all = group.members.size() * static_cast<std::size_t>(timescales);
    const auto each = static_cast<std::size_t>(group.each());
    const auto square = static_cast<std::size_t>(group.m) * static_cast<std::size_t>(group.m);
    Packing packing;
    x = packing.add<Bf16>(all * each);
    next = packing.add<Bf16>(all * each);
    gram_apart = all * square * sizeof(Bf16) <= room;
    gram = gram_apart ? Part<Bf16>{0, all * square} : packing.add<Bf16>(all * square);
    factor = packing.add<Bf16>(all * square);
    squares = packing.add<float>(all * static_cast<std::size_t>(group.tiles()));
    inverse = packing.add<float>(all);
    bytes = packing.bytes();
  }
};
inline std::size_t newton_schulz_bytes(const Problem& p) {
  std::size_t most = 0;
  const Options& o = p.options;
  if (!p.trains() || o.optimizer == Optimizer::adamw) return most;
  for (const MatrixGroup& group : matrix_groups(tensors_of(o.shape)))
    most = std::max(most, NewtonSchulz(group, moments_of(o.optimizer), logit_bytes(p)).bytes);
  return most;
}

}  // namespace holdfast::gpt_train
