// SPDX-License-Identifier: Apache-2.0
// The results of a layer's operations, and their gradients, each in its own memory.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "gpt_train/problem/problem.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

// Results of operations on all tokens: [n, d], but u, a, silu, h and their gradients [n, I], and
// d_o [n, Da]. Those that a unit does not need are null.
template <class T>
class PlainResults {
 public:
  PlainResults(Backend& backend, const Problem& problem)
      : layer_(backend, problem.options.shape.tokens() * layer_width(problem),
               "activations: layer"),
        back_(backend, problem.options.shape.tokens() * back_width(problem),
              "gradients: activations") {
    const Shape& s = problem.options.shape;
    const std::int64_t d = s.tokens() * s.width, inner = s.tokens() * s.inner;
    T* next = layer_.data();
    const auto give = [&](std::int64_t count, std::initializer_list<T**> wanted) {
      for (T** to : wanted) {
        *to = next;
        next += count;
      }
    };
    if (problem.unit == Unit::lm_head) give(d, {&y1});
    if (runs_layers(problem)) {
      give(d, {&y1, &x1, &y2, &added});
      give(inner, {&u, &a, &silu, &h});
    }
    next = back_.data();
    if (goes_back(problem)) give(d, {&dx, &dy, &other, &weighed});
    if (!layers_go_back(problem)) return;
    give(inner, {&dh, &du, &da});
    give(s.tokens() * s.query_width(), {&d_o});
  }

  T *y1 = nullptr, *x1 = nullptr, *y2 = nullptr, *added = nullptr, *u = nullptr, *a = nullptr,
    *silu = nullptr, *h = nullptr;
  T *dx = nullptr, *dy = nullptr, *other = nullptr, *weighed = nullptr, *dh = nullptr,
    *du = nullptr, *da = nullptr, *d_o = nullptr;

 private:
  // Numbers per token.
  static std::size_t layer_width(const Problem& p) {
    const Shape& s = p.options.shape;
    if (runs_layers(p)) return 4 * s.width + 4 * s.inner;
    return p.unit == Unit::lm_head ? s.width : 0;
  }
  static std::size_t back_width(const Problem& p) {
    const Shape& s = p.options.shape;
    const std::size_t head = goes_back(p) ? 4 * s.width : 0;
    return head + (layers_go_back(p) ? 3 * s.inner + s.query_width() : 0);
  }

  Buffer<T> layer_, back_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
