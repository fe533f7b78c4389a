// SPDX-License-Identifier: Apache-2.0
// The results that the fused stages keep for each other, and those they overwrite. Compiled per
// instruction set.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpt_train/host/rows.hpp"
#include "gpt_train/problem/problem.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

inline constexpr std::int64_t chunk_rows = 128;  // of logits held at once

// The results kept per layer.
template <class T>
struct FusedSlot {
  T *x, *next, *x1, *qkv, *o, *log_sums, *both, *r1, *r2;
};

// A result that the unit does not need is empty.
template <class T>
class FusedResults {
 public:
  FusedResults(Backend& backend, const Problem& problem)
      : problem_(problem),
        s_(problem.options.shape),
        n_(s_.tokens()),
        wide_(s_.query_width() + 2 * s_.key_width()),
        held_(problem.passes_back() ? s_.layers : std::int64_t{runs_layers(problem)}),
        segments(backend, on_tokens(1, problem.unit != Unit::update), "inputs: segments"),
        losses(backend, on_tokens(1, problem.has_head()), "result: losses"),
        x(backend, streams() * n_ * s_.width, "activations"),
        x1(backend, held_ * n_ * s_.width, "activations"),
        qkv(backend, (problem.has_attention() ? 2 : held_) * n_ * wide_, "activations"),
        o(backend, attentions() * n_ * s_.query_width(), "activations"),
        log_sums(backend, attentions() * n_ * s_.heads(), "activations"),
        both(backend, held_ * n_ * 2 * s_.inner, "activations"),
        inverses(backend, (2 * held_ + problem.has_head()) * n_, "activations"),
        y(backend, on_tokens(s_.width, runs_layers(problem) || problem.has_head()), "scratch"),
        h(backend, on_tokens(s_.inner, runs_layers(problem)), "scratch"),
        dx(backend, on_tokens(s_.width, goes_back(problem)), "gradients: stream"),
        dy(backend, on_tokens(s_.width, goes_back(problem)), "scratch"),
        d_both(backend, on_tokens(2 * s_.inner, layers_go_back(problem)), "scratch"),
        d_qkv(backend, on_tokens(wide_, attention_goes_back(problem)), "scratch"),
        d_o(backend, on_tokens(s_.query_width(), attention_goes_back(problem)), "scratch"),
        partial(backend, goes_back(problem) ? (n_ + norm_rows - 1) / norm_rows * s_.width : 0,
                "scratch"),
        incoming(backend, on_tokens(s_.width, problem.unit == Unit::layer_backward), "inputs"),
        logits(backend, problem.has_head() ? std::min(chunk_rows, n_) * s_.vocabulary : 0,
               "logits") {}

  // If nothing goes back, all layers share one slot, and the stream alternates between two places.
  FusedSlot<T> slot(int l) const {
    const bool keeps = layers_go_back(problem_);
    const std::int64_t d = s_.width, held = keeps ? l : 0;
    T* const r1 = inverses.data() + 2 * held * n_;
    return {x.data() + (keeps ? l : l % 2) * n_ * d,
            x.data() + (keeps ? l + 1 : 1 - l % 2) * n_ * d,
            x1.data() + held * n_ * d,
            qkv.data() + held * n_ * wide_,
            o.data() + held * n_ * s_.query_width(),
            log_sums.data() + held * n_ * s_.heads(),
            both.data() + held * n_ * 2 * s_.inner,
            r1,
            r1 + n_};
  }
  // The stream that the head reads.
  const T* last() const {
    const std::int64_t place = !runs_layers(problem_)   ? 0
                               : problem_.passes_back() ? s_.layers
                                                        : s_.layers % 2;
    return x.data() + place * n_ * s_.width;
  }
  T* inverse_of_last() const { return inverses.data() + 2 * held_ * n_; }

 private:
  std::size_t on_tokens(std::int64_t width, bool needed) const { return needed ? n_ * width : 0; }
  std::size_t streams() const {
    return runs_layers(problem_) ? held_ + 1 : problem_.unit == Unit::lm_head;
  }
  std::size_t attentions() const { return problem_.has_attention() ? 1 : held_; }

  Problem problem_;
  Shape s_;
  std::int64_t n_, wide_, held_;  // held: layers

 public:
  Buffer<int> segments;
  Buffer<T> losses, x, x1, qkv, o, log_sums, both, inverses, y, h, dx, dy, d_both, d_qkv, d_o,
      partial, incoming, logits;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
