// SPDX-License-Identifier: Apache-2.0
// The results of a layer's operations in the reference on a device, and their gradients, each in
// its own memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "gpt_train/device/places.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train {

// Results of operations on all tokens: [n, d], but u, a, silu, h and their gradients [n, I], and
// d_o [n, Da]. `other` is also a norm's intermediate result. Those that a unit does not need are
// null.
class DeviceResults {
 public:
  DeviceResults(Backend& backend, const Problem& problem)
      : layer_(backend, tokens(problem) * layer_width(problem), "activations: layer"),
        back_(backend, tokens(problem) * back_width(problem), "gradients: activations"),
        numbers_(backend, number_count(problem), "activations: rows") {
    const Shape& s = problem.options.shape;
    const std::int64_t n = s.tokens(), d = n * s.width, inner = n * s.inner;
    Bf16* next = layer_.data();
    const auto give = [&](std::int64_t count, std::initializer_list<Bf16**> wanted) {
      for (Bf16** to : wanted) {
        *to = next;
        next += count;
      }
    };
    give(d, {&y1});
    if (runs_layers(problem)) {
      give(d, {&x1, &y2, &added});
      give(inner, {&u, &a, &silu, &h});
    }
    next = back_.data();
    give(d, {&other});
    if (goes_back(problem)) give(d, {&dx, &dy, &weighed});
    if (layers_go_back(problem)) {
      give(inner, {&dh, &du, &da});
      give(n * s.query_width(), {&d_o});
    }
    roots = numbers_.data();
    means = roots + n;
    partial = means + n;
  }

  Bf16 *y1 = nullptr, *x1 = nullptr, *y2 = nullptr, *added = nullptr, *u = nullptr, *a = nullptr,
       *silu = nullptr, *h = nullptr;
  Bf16 *other = nullptr, *dx = nullptr, *dy = nullptr, *weighed = nullptr, *dh = nullptr,
       *du = nullptr, *da = nullptr, *d_o = nullptr;
  float *roots = nullptr, *means = nullptr, *partial = nullptr;  // of rows; sums over columns

 private:
  static std::size_t tokens(const Problem& p) {
    return p.unit == Unit::update ? 0 : static_cast<std::size_t>(p.options.shape.tokens());
  }
  // Numbers per token.
  static std::size_t layer_width(const Problem& p) {
    const Shape& s = p.options.shape;
    return static_cast<std::size_t>(runs_layers(p) ? 4 * s.width + 4 * s.inner : s.width);
  }
  static std::size_t back_width(const Problem& p) {
    const Shape& s = p.options.shape;
    const int head = goes_back(p) ? 4 * s.width : s.width;
    const int layers = layers_go_back(p) ? 3 * s.inner + s.query_width() : 0;
    return std::size_t{0} + head + layers;
  }
  static std::size_t number_count(const Problem& p) {
    const std::size_t n = tokens(p);
    const std::int64_t sums =
        goes_back(p) ? norm_parts(p.options.shape.tokens()) * p.options.shape.width : 0;
    return 2 * n + static_cast<std::size_t>(sums);
  }

  Buffer<Bf16> layer_, back_;
  Buffer<float> numbers_;
};

}  // namespace holdfast::gpt_train
