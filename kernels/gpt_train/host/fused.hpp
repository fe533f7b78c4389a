// SPDX-License-Identifier: Apache-2.0
// The model's stages, fused: products joined, attention in tiles, the classifier in chunks of rows.
// Compiled once for each instruction set.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gpt_train/host/products.hpp"
#include "gpt_train/host/rows.hpp"
#include "gpt_train/host/update.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/stepped/inputs.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

inline constexpr std::int64_t chunk_rows = 128;  // of logits that are held at once

template <class T>
class Fused {
 public:
  Fused(Backend& backend, const Problem& problem)
      : problem_(problem),
        s_(problem.options.shape),
        n_(s_.tokens()),
        qkv_width_(s_.query_width() + 2 * s_.key_width()),
        product_(backend),
        parameters_(backend,
                    problem.has_attention() ? std::vector<Tensor>() : tensors_of(problem.unit, s_),
                    Layout::joined, "state: parameters"),
        gradients_(backend, has_gradients() ? tensors_of(problem.unit, s_) : std::vector<Tensor>(),
                   Layout::joined, "result: gradients"),
        held_layers_(problem.passes_back()  ? s_.layers
                     : runs_layers(problem) ? 1
                                            : 0),
        segments_(backend, on_tokens(1, problem.unit != Unit::update), "inputs: segments"),
        losses_(backend, on_tokens(1, problem.has_head()), "result: losses"),
        x_(backend, streams() * n_ * s_.width, "activations"),
        x1_(backend, held_layers_ * n_ * s_.width, "activations"),
        qkv_(backend, (problem.has_attention() ? 2 : held_layers_) * n_ * qkv_width_,
             "activations"),
        o_(backend, attentions() * n_ * s_.query_width(), "activations"),
        log_sums_(backend, attentions() * n_ * s_.heads(), "activations"),
        both_(backend, held_layers_ * n_ * 2 * s_.inner, "activations"),
        inverses_(backend, (2 * held_layers_ + problem.has_head()) * n_, "activations"),
        y_(backend, on_tokens(s_.width, runs_layers(problem) || problem.has_head()), "scratch"),
        h_(backend, on_tokens(s_.inner, runs_layers(problem)), "scratch"),
        dx_(backend, on_tokens(s_.width, goes_back(problem)), "gradients: stream"),
        dy_(backend, on_tokens(s_.width, goes_back(problem)), "scratch"),
        d_both_(backend, on_tokens(2 * s_.inner, layers_go_back(problem)), "scratch"),
        d_qkv_(backend, on_tokens(qkv_width_, attention_goes_back(problem)), "scratch"),
        d_o_(backend, on_tokens(s_.query_width(), attention_goes_back(problem)), "scratch"),
        partial_(backend, goes_back(problem) ? (n_ + norm_rows - 1) / norm_rows * s_.width : 0,
                 "scratch"),
        incoming_(backend, on_tokens(s_.width, problem.unit == Unit::layer_backward), "inputs"),
        logits_(backend, problem.has_head() ? std::min(chunk_rows, n_) * s_.vocabulary : 0,
                "logits") {
    if (runs_layers(problem) || problem.has_attention())
      attention_.emplace(backend, s_, attention_goes_back(problem));
    if (problem.trains()) update_.emplace(backend, problem.options, Layout::joined);
  }

  void draw() {
    parameters_.draw(problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) gradients_.draw_gradient();
  }
  void take(const std::vector<double>& x) { std::copy(x.begin(), x.end(), x_.data()); }
  void take(const Projected& in) {
    const int da = s_.query_width(), dk = s_.key_width();
    for (std::int64_t row = 0; row < n_; ++row) {
      T* to = qkv_.data() + row * qkv_width_;
      to = std::copy_n(in.q.begin() + row * da, da, to);
      to = std::copy_n(in.k.begin() + row * dk, dk, to);
      std::copy_n(in.v.begin() + row * dk, dk, to);
    }
  }
  void take_incoming(const std::vector<double>& d) {
    std::copy(d.begin(), d.end(), problem_.has_attention() ? d_o_.data() : incoming_.data());
  }
  void restore_incoming() { std::copy_n(incoming_.data(), n_ * s_.width, dx_.data()); }
  void take(const Batch& batch, const Targets& targets) {
    tokens_ = batch.tokens;
    targets_ = targets;
    std::copy(targets.segments.begin(), targets.segments.end(), segments_.data());
  }

  void embed() {
    const T* e = parameters_.of(Kind::embedding);
    for (std::int64_t row = 0; row < n_; ++row)
      std::copy_n(e + std::int64_t{tokens_[row]} * s_.width, s_.width, x_.data() + row * s_.width);
  }

  void layer_forward(int l) {
    const Slot at(*this, l);
    const int d = s_.width, da = s_.query_width(), inner = s_.inner;
    norm(at.x, parameters_.of(Kind::norm1, l), n_, d, y_.data(), at.r1, at.x1);
    product_(n_, qkv_width_, d, y_.data(), parameters_.of(Kind::query, l), at.qkv);
    {
      const Scope scope("attention");
      attention_->rotate(at.qkv, at.qkv, false);
      attention_->forward(at.qkv, segments_.data(), at.o, at.log_sums);
    }
    product_(n_, d, da, at.o, parameters_.of(Kind::out, l), at.x1, 1);
    const Scope scope("gated_mlp");
    norm(at.x1, parameters_.of(Kind::norm2, l), n_, d, y_.data(), at.r2, at.next);
    product_(n_, 2 * inner, d, y_.data(), parameters_.of(Kind::up, l), at.both);
    gated(at.both, n_, inner, h_.data());
    product_(n_, d, inner, h_.data(), parameters_.of(Kind::down, l), at.next, 1);
  }

  void layer_backward(int l) {
    const Slot at(*this, l);
    const int d = s_.width, da = s_.query_width(), inner = s_.inner;
    T *dx = dx_.data(), *y = y_.data(), *dy = dy_.data(), *h = h_.data();
    {
      const Scope scope("gated_mlp");
      product_.by_transposed(n_, inner, d, dx, parameters_.of(Kind::down, l), h);
      gated_backward(at.both, n_, inner, h, d_both_.data());
      product_.transposed(inner, d, n_, h, dx, gradients_.of(Kind::down, l));
      norm_again(at.x1, parameters_.of(Kind::norm2, l), at.r2, n_, d, y);
      product_.transposed(d, 2 * inner, n_, y, d_both_.data(), gradients_.of(Kind::up, l));
      product_.by_transposed(n_, d, 2 * inner, d_both_.data(), parameters_.of(Kind::up, l), dy);
      norm_backward(at.x1, parameters_.of(Kind::norm2, l), at.r2, dy, n_, d, true, dx,
                    gradients_.of(Kind::norm2, l), partial_.data());
    }
    const Scope scope("attention");
    product_.transposed(da, d, n_, at.o, dx, gradients_.of(Kind::out, l));
    product_.by_transposed(n_, da, d, dx, parameters_.of(Kind::out, l), d_o_.data());
    attention_->backward(at.qkv, segments_.data(), at.o, at.log_sums, d_o_.data(), d_qkv_.data());
    attention_->rotate(d_qkv_.data(), d_qkv_.data(), true);
    norm_again(at.x, parameters_.of(Kind::norm1, l), at.r1, n_, d, y);
    product_.transposed(d, qkv_width_, n_, y, d_qkv_.data(), gradients_.of(Kind::query, l));
    product_.by_transposed(n_, d, qkv_width_, d_qkv_.data(), parameters_.of(Kind::query, l), dy);
    norm_backward(at.x, parameters_.of(Kind::norm1, l), at.r1, dy, n_, d, true, dx,
                  gradients_.of(Kind::norm1, l), partial_.data());
  }

  // Inputs stay as they are: what is rotated lies behind them.
  void attention_forward() {
    T* rotated = qkv_.data() + n_ * qkv_width_;
    attention_->rotate(qkv_.data(), rotated, false);
    attention_->forward(rotated, segments_.data(), o_.data(), log_sums_.data());
  }
  void attention_backward() {
    attention_->backward(qkv_.data() + n_ * qkv_width_, segments_.data(), o_.data(),
                         log_sums_.data(), d_o_.data(), d_qkv_.data());
    attention_->rotate(d_qkv_.data(), d_qkv_.data(), true);
  }

  // Norm, logits, loss and, of all but a forward pass, the gradients of y and of the matrix, while
  // a chunk's logits are there.
  void head() {
    const int d = s_.width, v = s_.vocabulary;
    const bool back = problem_.head_passes_back();
    const T* w = parameters_.of(Kind::head);
    const T scale = static_cast<T>(1 / std::sqrt(double(targets_.count)));
    norm<T>(last(), parameters_.of(Kind::final_norm), n_, d, y_.data(), inverse_of_last(), nullptr);
    T *z = logits_.data(), *losses = losses_.data();
    for (std::int64_t first = 0; first < n_; first += chunk_rows) {
      const std::int64_t rows = std::min(chunk_rows, n_ - first);
      product_(rows, v, d, y_.data() + first * d, w, z);
      each_long<T>(rows, 16 * v, [=, this](std::int64_t row) {
        losses[first + row] = classify(z + row * v, v, targets_.targets[first + row],
                                       targets_.counted[first + row] != 0, scale, back);
      });
      if (!back) continue;
      product_.by_transposed(rows, d, v, z, w, dy_.data() + first * d);
      product_.transposed(d, v, rows, y_.data() + first * d, z, gradients_.of(Kind::head),
                          first > 0);
    }
  }
  void head_backward() {
    norm_backward(last(), parameters_.of(Kind::final_norm), inverse_of_last(), dy_.data(), n_,
                  s_.width, false, dx_.data(), gradients_.of(Kind::final_norm), partial_.data());
  }

  void embed_backward() {
    T* de = gradients_.of(Kind::embedding);
    std::fill_n(de, std::int64_t{s_.vocabulary} * s_.width, T(0));
    for (std::int64_t row = 0; row < n_; ++row) {
      T* to = de + std::int64_t{tokens_[row]} * s_.width;
      const T* from = dx_.data() + row * s_.width;
#pragma omp simd
      for (int j = 0; j < s_.width; ++j) to[j] += from[j];
    }
  }

  void update(const Rates& rates) {
    (*update_)(product_.blas(), rates, gradients_, parameters_);
  }

  const T* losses() const {
    return losses_.data();
  }
  double gradient_norm() const {
    double squares = 0;
    for (const T value : gradients_.all()) squares += double(value) * double(value);
    return std::sqrt(squares);
  }
  void tell_parameters(std::vector<double>& to) const {
    parameters_.tell(to);
  }
  void tell(std::vector<double>& to) const {
    const auto add = [&](const T* from, std::int64_t count) {
      to.insert(to.end(), from, from + count);
    };
    if (problem_.unit == Unit::forward) add(losses_.data(), n_);
    if (problem_.unit == Unit::layer_forward) add(x_.data() + n_ * s_.width, n_ * s_.width);
    if (problem_.unit == Unit::attention_forward) add(o_.data(), n_ * s_.query_width());
    if (problem_.unit == Unit::attention_backward) {
      const int da = s_.query_width(), dk = s_.key_width();
      for (const auto& [first, width] : {std::pair{0, da}, {da, dk}, {da + dk, dk}})
        for (std::int64_t row = 0; row < n_; ++row)
          add(d_qkv_.data() + row * qkv_width_ + first, width);
    }
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::lm_head)
      add(dx_.data(), n_ * s_.width);
    gradients_.tell(to);
  }

 private:
  bool has_gradients() const {
    return goes_back(problem_) || problem_.unit == Unit::update;
  }
  std::size_t on_tokens(int width, bool needed) const {
    return needed ? n_ * width : 0;
  }
  std::size_t streams() const {
    return runs_layers(problem_) ? held_layers_ + 1 : problem_.unit == Unit::lm_head;
  }
  std::size_t attentions() const {
    return problem_.has_attention() ? 1 : held_layers_;
  }

  // What a layer keeps. Where nothing goes back all layers share one slot, and the stream changes
  // between two places.
  struct Slot {
    Slot(const Fused& of, int l) {
      const bool keeps = layers_go_back(of.problem_);
      const std::int64_t n = of.n_, d = of.s_.width, held = keeps ? l : 0;
      x = of.x_.data() + (keeps ? l : l % 2) * n * d;
      next = of.x_.data() + (keeps ? l + 1 : 1 - l % 2) * n * d;
      x1 = of.x1_.data() + held * n * d;
      qkv = of.qkv_.data() + held * n * of.qkv_width_;
      o = of.o_.data() + held * n * of.s_.query_width();
      log_sums = of.log_sums_.data() + held * n * of.s_.heads();
      both = of.both_.data() + held * n * 2 * of.s_.inner;
      r1 = of.inverses_.data() + 2 * held * n;
      r2 = r1 + n;
    }
    T *x, *next, *x1, *qkv, *o, *log_sums, *both, *r1, *r2;
  };
  const T* last() const {
    const std::int64_t place = !runs_layers(problem_)   ? 0
                               : problem_.passes_back() ? s_.layers
                                                        : s_.layers % 2;
    return x_.data() + place * n_ * s_.width;
  }
  T* inverse_of_last() const {
    return inverses_.data() + 2 * held_layers_ * n_;
  }

  Problem problem_;
  Shape s_;
  std::int64_t n_;
  int qkv_width_;
  Products<T> product_;
  Held<T> parameters_, gradients_;
  std::size_t held_layers_;
  std::vector<int> tokens_ = {};
  Targets targets_ = {};
  Buffer<int> segments_;
  Buffer<T> losses_, x_, x1_, qkv_, o_, log_sums_, both_, inverses_, y_, h_, dx_, dy_, d_both_,
      d_qkv_, d_o_, partial_, incoming_, logits_;
  std::optional<FusedAttention<T>> attention_ = {};
  std::optional<FusedUpdate<T>> update_ = {};
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
