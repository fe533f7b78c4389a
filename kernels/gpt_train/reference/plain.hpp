// SPDX-License-Identifier: Apache-2.0
// The model's stages as written: each product and operation separate with its own result, attention
// over the whole square, a layer recomputed for its backward pass. Compiled per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "gpt_train/host/products.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/reference/plain_results.hpp"
#include "gpt_train/reference/plain_square.hpp"
#include "gpt_train/reference/plain_update.hpp"
#include "gpt_train/stepped/inputs.hpp"
#include "gpt_train/stepped/shared_result.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class Plain {
 public:
  Plain(Backend& backend, const Problem& problem)
      : problem_(problem),
        s_(problem.options.shape),
        n_(s_.tokens()),
        product_(backend),
        parameters_(backend,
                    problem.has_attention() ? std::vector<Tensor>() : tensors_of(problem.unit, s_),
                    Layout::apart, "state: parameters"),
        gradients_(backend, has_gradients() ? tensors_of(problem.unit, s_) : std::vector<Tensor>(),
                   Layout::apart, "result: gradients"),
        segments_(backend, problem.unit == Unit::update ? 0 : n_, "inputs: segments"),
        losses_(backend, problem.has_head() ? n_ : 0, "result: losses"),
        x_(backend, streams() * n_ * s_.width, "activations"),
        incoming_(backend, incoming_size(), "inputs"),
        at_(backend, problem),
        square_(backend, product_, s_, runs_layers(problem) || problem.has_attention(),
                attention_goes_back(problem)),
        inverses_(backend, 2 * n_, "activations"),
        logits_(backend,
                problem.has_head() ? (problem.head_passes_back() ? 4 : 2) * n_ * s_.vocabulary : 0,
                "logits") {
    if (problem.trains()) update_.emplace(backend, problem.options);
  }

  void draw() {
    parameters_.draw(problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) gradients_.draw_gradient();
  }
  void take(const std::vector<double>& x) { std::copy(x.begin(), x.end(), x_.data()); }
  void take(const Projected& in) {
    std::copy(in.q.begin(), in.q.end(), square_.q());
    std::copy(in.k.begin(), in.k.end(), square_.k());
    std::copy(in.v.begin(), in.v.end(), square_.v());
  }
  void take_incoming(const std::vector<double>& d) {
    std::copy(d.begin(), d.end(), incoming_.data());
  }
  void restore_incoming() { std::copy_n(incoming_.data(), n_ * s_.width, at_.dx); }
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

  void layer_forward(int l) { layer(l, stream(l + 1)); }

  void layer_backward(int l) {
    const int d = s_.width, da = s_.query_width(), dk = s_.key_width(), inner = s_.inner;
    const std::int64_t wide = n_ * inner;
    layer(l, nullptr);
    {
      const Scope scope("gated_mlp");
      back(d, inner, at_.h, Kind::down, l, at_.dx, at_.dh);
      plain::multiply(at_.dh, at_.silu, wide, at_.du);
      plain::silu_slope(at_.dh, at_.u, at_.a, wide, at_.da);
      back(inner, d, at_.y2, Kind::up, l, at_.du, at_.dy);
      back(inner, d, at_.y2, Kind::gate, l, at_.da, at_.other);
      plain::add(at_.dy, at_.other, n_ * d, at_.dy);
      norm_backward(at_.x1, Kind::norm2, l, true);
    }
    const Scope scope("attention");
    back(d, da, square_.o(), Kind::out, l, at_.dx, at_.d_o);
    square_.backward(at_.d_o);
    back(da, d, at_.y1, Kind::query, l, square_.dq(), at_.dy);
    back(dk, d, at_.y1, Kind::key, l, square_.dk(), at_.other);
    plain::add(at_.dy, at_.other, n_ * d, at_.dy);
    back(dk, d, at_.y1, Kind::value, l, square_.dv(), at_.other);
    plain::add(at_.dy, at_.other, n_ * d, at_.dy);
    norm_backward(stream(l), Kind::norm1, l, true);
  }

  void attention_forward() { square_.forward(segments_.data()); }
  void attention_backward() { square_.backward(incoming_.data()); }

  void head() {
    const std::int64_t all = n_ * s_.vocabulary;
    T *z = logits_.data(), *capped = z + all, *losses = losses_.data();
    norm(last(), Kind::final_norm, -1, at_.y1);
    product_(n_, s_.vocabulary, s_.width, at_.y1, parameters_.of(Kind::head), z);
    plain::cap(z, all, capped);
    plain::losses(capped, n_, s_.vocabulary, targets_, losses);
  }
  void head_backward() {
    const int v = s_.vocabulary;
    const std::int64_t all = n_ * v;
    T *capped = logits_.data() + all, *p = capped + all, *dz = p + all;
    const T scale = static_cast<T>(1 / std::sqrt(double(targets_.count)));
    plain::softmax(capped, n_, v, p);
    plain::each_row<T>(n_, v, [=, this](std::int64_t i, std::int64_t j) {
      const T hit = j == targets_.targets[i] ? T(1) : T(0);
      dz[i * v + j] = targets_.counted[i] ? (p[i * v + j] - hit) * scale : T(0);
    });
    plain::each<T>(all, [=](std::int64_t k) {
      const T t = capped[k] / T(logit_cap);
      dz[k] *= 1 - t * t;
    });
    back(v, s_.width, at_.y1, Kind::head, -1, dz, at_.dy);
    norm_backward(last(), Kind::final_norm, -1, false);
  }

  void embed_backward() {
    T* de = gradients_.of(Kind::embedding);
    std::fill_n(de, std::int64_t{s_.vocabulary} * s_.width, T(0));
    for (std::int64_t row = 0; row < n_; ++row)
      for (int j = 0; j < s_.width; ++j)
        de[std::int64_t{tokens_[row]} * s_.width + j] += at_.dx[row * s_.width + j];
  }

  void update(const Rates& rates) { (*update_)(product_.blas(), rates, gradients_, parameters_); }

  const T* losses() const { return losses_.data(); }
  double gradient_norm() const {
    double squares = 0;
    for (const T value : gradients_.all()) squares += double(value) * double(value);
    return std::sqrt(squares);
  }
  void tell_parameters(std::vector<double>& to) const { parameters_.tell(to); }
  void tell(std::vector<double>& to) const {
    if (problem_.unit == Unit::forward) to.insert(to.end(), losses_.data(), losses_.data() + n_);
    gpt_train::tell(shared_result(), n_, to);
    gradients_.tell(to);
  }
  SharedResult<T> shared_result() const {
    switch (problem_.unit) {
      case Unit::layer_forward:
        return {whole_rows(stream(1), s_.width)};
      case Unit::attention_forward:
        return {whole_rows(square_.o(), s_.query_width())};
      case Unit::attention_backward:
        return {whole_rows(square_.dq(), s_.query_width()),
                whole_rows(square_.dk(), s_.key_width()), whole_rows(square_.dv(), s_.key_width())};
      case Unit::layer_backward:
      case Unit::lm_head:
        return {whole_rows(at_.dx, s_.width)};
      default:
        return {};
    }
  }

 private:
  bool has_gradients() const { return goes_back(problem_) || problem_.unit == Unit::update; }
  std::size_t streams() const {
    if (problem_.has_layers()) return s_.layers + 1;
    return problem_.has_layer() ? 2 : problem_.unit == Unit::lm_head;
  }
  std::size_t incoming_size() const {
    if (problem_.unit == Unit::layer_backward) return n_ * s_.width;
    return problem_.unit == Unit::attention_backward ? n_ * s_.query_width() : 0;
  }
  T* stream(int l) const { return x_.data() + l * n_ * s_.width; }
  const T* last() const { return stream(problem_.has_layers() ? s_.layers : 0); }

  void norm(const T* x, Kind kind, int l, T* y) {
    T* r = inverses_.data();
    plain::inverse_roots(x, n_, s_.width, r);
    plain::scale_rows(x, r, n_, s_.width, y);
    plain::scale_columns(y, parameters_.of(kind, l), n_, s_.width, y);
  }
  // The backward pass of a norm, from dy: dx += or =, dg.
  void norm_backward(const T* x, Kind kind, int l, bool add) {
    const int d = s_.width;
    T *r = inverses_.data(), *mean = r + n_;
    plain::inverse_roots(x, n_, d, r);
    plain::scale_rows(x, r, n_, d, at_.other);
    plain::column_sums_of_products(at_.dy, at_.other, n_, d, gradients_.of(kind, l));
    plain::scale_columns(at_.dy, parameters_.of(kind, l), n_, d, at_.weighed);
    plain::row_means_of_products(at_.weighed, at_.other, n_, d, mean);
    if (!add) return plain::norm_slope(at_.weighed, at_.other, mean, r, n_, d, at_.dx);
    plain::norm_slope(at_.weighed, at_.other, mean, r, n_, d, at_.weighed);
    plain::add(at_.dx, at_.weighed, n_ * d, at_.dx);
  }

  // out: null if the layer is recomputed and its output is not needed.
  void layer(int l, T* out) {
    const int d = s_.width, da = s_.query_width(), dk = s_.key_width(), inner = s_.inner;
    norm(stream(l), Kind::norm1, l, at_.y1);
    product_(n_, da, d, at_.y1, parameters_.of(Kind::query, l), square_.q());
    product_(n_, dk, d, at_.y1, parameters_.of(Kind::key, l), square_.k());
    product_(n_, dk, d, at_.y1, parameters_.of(Kind::value, l), square_.v());
    {
      const Scope scope("attention");
      square_.forward(segments_.data());
    }
    product_(n_, d, da, square_.o(), parameters_.of(Kind::out, l), at_.added);
    plain::add(stream(l), at_.added, n_ * d, at_.x1);
    const Scope scope("gated_mlp");
    norm(at_.x1, Kind::norm2, l, at_.y2);
    product_(n_, inner, d, at_.y2, parameters_.of(Kind::up, l), at_.u);
    product_(n_, inner, d, at_.y2, parameters_.of(Kind::gate, l), at_.a);
    plain::silu(at_.a, n_ * inner, at_.silu);
    plain::multiply(at_.u, at_.silu, n_ * inner, at_.h);
    if (!out) return;
    product_(n_, d, inner, at_.h, parameters_.of(Kind::down, l), at_.added);
    plain::add(at_.x1, at_.added, n_ * d, out);
  }

  // The backward pass of out = in w, with w [k, n]: the gradients of w and of in.
  void back(int n, int k, const T* in, Kind kind, int l, const T* d_out, T* d_in) {
    product_.transposed(k, n, n_, in, d_out, gradients_.of(kind, l));
    product_.by_transposed(n_, k, n, d_out, parameters_.of(kind, l), d_in);
  }

  Problem problem_;
  Shape s_;
  std::int64_t n_;
  Products<T> product_;
  Held<T> parameters_, gradients_;
  std::vector<int> tokens_ = {};
  Targets targets_ = {};
  Buffer<int> segments_;
  Buffer<T> losses_, x_, incoming_;
  PlainResults<T> at_;
  PlainSquare<T> square_;
  Buffer<T> inverses_, logits_;
  std::optional<PlainUpdate<T>> update_ = {};
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
