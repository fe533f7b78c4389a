// SPDX-License-Identifier: Apache-2.0
// The model's stages, fused: joined products, tiled attention, the classifier in chunks of rows.
// Compiled per instruction set.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "gpt_train/host/attention.hpp"
#include "gpt_train/host/fused_results.hpp"
#include "gpt_train/host/products.hpp"
#include "gpt_train/host/rotation.hpp"
#include "gpt_train/host/update.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/stepped/inputs.hpp"
#include "gpt_train/stepped/shared_result.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

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
        at_(backend, problem) {
    if (runs_layers(problem) || problem.has_attention()) {
      rotate_.emplace(backend, s_);
      attention_.emplace(backend, s_, attention_goes_back(problem));
    }
    if (problem.trains()) update_.emplace(backend, problem.options, Layout::joined);
  }

  void draw() {
    parameters_.draw(problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) gradients_.draw_gradient();
  }
  void take(const std::vector<double>& x) { std::copy(x.begin(), x.end(), at_.x.data()); }
  void take(const Projected& in) {
    const int da = s_.query_width(), dk = s_.key_width();
    for (std::int64_t row = 0; row < n_; ++row) {
      T* to = at_.qkv.data() + row * qkv_width_;
      to = std::copy_n(in.q.begin() + row * da, da, to);
      to = std::copy_n(in.k.begin() + row * dk, dk, to);
      std::copy_n(in.v.begin() + row * dk, dk, to);
    }
  }
  void take_incoming(const std::vector<double>& d) {
    std::copy(d.begin(), d.end(), problem_.has_attention() ? at_.d_o.data() : at_.incoming.data());
  }
  void restore_incoming() { std::copy_n(at_.incoming.data(), n_ * s_.width, at_.dx.data()); }
  void take(const Batch& batch, const Targets& targets) {
    tokens_ = batch.tokens;
    targets_ = targets;
    std::copy(targets.segments.begin(), targets.segments.end(), at_.segments.data());
  }

  void embed() {
    const T* e = parameters_.of(Kind::embedding);
    for (std::int64_t row = 0; row < n_; ++row)
      std::copy_n(e + std::int64_t{tokens_[row]} * s_.width, s_.width,
                  at_.x.data() + row * s_.width);
  }

  void layer_forward(int l) {
    const FusedSlot<T> here = at_.slot(l);
    const int d = s_.width, da = s_.query_width(), inner = s_.inner;
    norm(here.x, parameters_.of(Kind::norm1, l), n_, d, at_.y.data(), here.r1, here.x1);
    product_(n_, qkv_width_, d, at_.y.data(), parameters_.of(Kind::query, l), here.qkv);
    {
      const Scope scope("attention");
      (*rotate_)(here.qkv, here.qkv, false);
      attention_->forward(here.qkv, at_.segments.data(), here.o, here.log_sums);
    }
    product_(n_, d, da, here.o, parameters_.of(Kind::out, l), here.x1, 1);
    const Scope scope("gated_mlp");
    norm(here.x1, parameters_.of(Kind::norm2, l), n_, d, at_.y.data(), here.r2, here.next);
    product_(n_, 2 * inner, d, at_.y.data(), parameters_.of(Kind::up, l), here.both);
    gated(here.both, n_, inner, at_.h.data());
    product_(n_, d, inner, at_.h.data(), parameters_.of(Kind::down, l), here.next, 1);
  }

  void layer_backward(int l) {
    const FusedSlot<T> here = at_.slot(l);
    const int d = s_.width, da = s_.query_width(), inner = s_.inner;
    T *dx = at_.dx.data(), *y = at_.y.data(), *dy = at_.dy.data(), *h = at_.h.data();
    {
      const Scope scope("gated_mlp");
      product_.by_transposed(n_, inner, d, dx, parameters_.of(Kind::down, l), h);
      gated_backward(here.both, n_, inner, h, at_.d_both.data());
      product_.transposed(inner, d, n_, h, dx, gradients_.of(Kind::down, l));
      norm_again(here.x1, parameters_.of(Kind::norm2, l), here.r2, n_, d, y);
      product_.transposed(d, 2 * inner, n_, y, at_.d_both.data(), gradients_.of(Kind::up, l));
      product_.by_transposed(n_, d, 2 * inner, at_.d_both.data(), parameters_.of(Kind::up, l), dy);
      norm_backward(here.x1, parameters_.of(Kind::norm2, l), here.r2, dy, n_, d, true, dx,
                    gradients_.of(Kind::norm2, l), at_.partial.data());
    }
    const Scope scope("attention");
    product_.transposed(da, d, n_, here.o, dx, gradients_.of(Kind::out, l));
    product_.by_transposed(n_, da, d, dx, parameters_.of(Kind::out, l), at_.d_o.data());
    attention_->backward(here.qkv, at_.segments.data(), here.o, here.log_sums, at_.d_o.data(),
                         at_.d_qkv.data());
    (*rotate_)(at_.d_qkv.data(), at_.d_qkv.data(), true);
    norm_again(here.x, parameters_.of(Kind::norm1, l), here.r1, n_, d, y);
    product_.transposed(d, qkv_width_, n_, y, at_.d_qkv.data(), gradients_.of(Kind::query, l));
    product_.by_transposed(n_, d, qkv_width_, at_.d_qkv.data(), parameters_.of(Kind::query, l), dy);
    norm_backward(here.x, parameters_.of(Kind::norm1, l), here.r1, dy, n_, d, true, dx,
                  gradients_.of(Kind::norm1, l), at_.partial.data());
  }

  // Keeps the inputs: rotated ones are written behind them.
  void attention_forward() {
    T* rotated = at_.qkv.data() + n_ * qkv_width_;
    (*rotate_)(at_.qkv.data(), rotated, false);
    attention_->forward(rotated, at_.segments.data(), at_.o.data(), at_.log_sums.data());
  }
  void attention_backward() {
    attention_->backward(at_.qkv.data() + n_ * qkv_width_, at_.segments.data(), at_.o.data(),
                         at_.log_sums.data(), at_.d_o.data(), at_.d_qkv.data());
    (*rotate_)(at_.d_qkv.data(), at_.d_qkv.data(), true);
  }

  // Norm, logits, loss and, except in a forward pass, the gradients of y and of the matrix while a
  // chunk's logits are held.
  void head() {
    const int d = s_.width, v = s_.vocabulary;
    const bool back = problem_.head_passes_back();
    const T* w = parameters_.of(Kind::head);
    const T scale = static_cast<T>(1 / std::sqrt(double(targets_.count)));
    norm<T>(at_.last(), parameters_.of(Kind::final_norm), n_, d, at_.y.data(),
            at_.inverse_of_last(), nullptr);
    T *z = at_.logits.data(), *losses = at_.losses.data();
    for (std::int64_t first = 0; first < n_; first += chunk_rows) {
      const std::int64_t rows = std::min(chunk_rows, n_ - first);
      product_(rows, v, d, at_.y.data() + first * d, w, z);
      each_long<T>(rows, 16 * v, [=, this](std::int64_t row) {
        losses[first + row] = classify(z + row * v, v, targets_.targets[first + row],
                                       targets_.counted[first + row] != 0, scale, back);
      });
      if (!back) continue;
      product_.by_transposed(rows, d, v, z, w, at_.dy.data() + first * d);
      product_.transposed(d, v, rows, at_.y.data() + first * d, z, gradients_.of(Kind::head),
                          first > 0);
    }
  }
  void head_backward() {
    norm_backward(at_.last(), parameters_.of(Kind::final_norm), at_.inverse_of_last(),
                  at_.dy.data(), n_, s_.width, false, at_.dx.data(),
                  gradients_.of(Kind::final_norm), at_.partial.data());
  }

  void embed_backward() {
    T* de = gradients_.of(Kind::embedding);
    std::fill_n(de, std::int64_t{s_.vocabulary} * s_.width, T(0));
    for (std::int64_t row = 0; row < n_; ++row) {
      T* to = de + std::int64_t{tokens_[row]} * s_.width;
      const T* from = at_.dx.data() + row * s_.width;
#pragma omp simd
      for (int j = 0; j < s_.width; ++j) to[j] += from[j];
    }
  }

  void update(const Rates& rates) {
    (*update_)(product_.blas(), rates, gradients_, parameters_);
  }

  const T* losses() const {
    return at_.losses.data();
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
    if (problem_.unit == Unit::forward)
      to.insert(to.end(), at_.losses.data(), at_.losses.data() + n_);
    gpt_train::tell(shared_result(), n_, to);
    gradients_.tell(to);
  }
  SharedResult<T> shared_result() const {
    const int da = s_.query_width(), dk = s_.key_width(), d = s_.width;
    T* const d_qkv = at_.d_qkv.data();
    switch (problem_.unit) {
      case Unit::layer_forward:
        return {whole_rows(at_.x.data() + n_ * d, d)};
      case Unit::attention_forward:
        return {whole_rows(at_.o.data(), da)};
      case Unit::attention_backward:
        return {{d_qkv, qkv_width_, 0, da},
                {d_qkv, qkv_width_, da, dk},
                {d_qkv, qkv_width_, da + dk, dk}};
      case Unit::layer_backward:
      case Unit::lm_head:
        return {whole_rows(at_.dx.data(), d)};
      default:
        return {};
    }
  }

 private:
  bool has_gradients() const {
    return goes_back(problem_) || problem_.unit == Unit::update;
  }

  Problem problem_;
  Shape s_;
  std::int64_t n_;
  int qkv_width_;
  Products<T> product_;
  Held<T> parameters_, gradients_;
  FusedResults<T> at_;
  std::vector<int> tokens_ = {};
  Targets targets_ = {};
  std::optional<RotationByPosition<T>> rotate_ = {};
  std::optional<FusedAttention<T>> attention_ = {};
  std::optional<FusedUpdate<T>> update_ = {};
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
