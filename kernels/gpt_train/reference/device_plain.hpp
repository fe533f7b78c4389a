// SPDX-License-Identifier: Apache-2.0
// The model's stages on a device as written: each product and each operation by itself with a
// result of its own, attention over the whole square, a layer computed again for its backward pass,
// all logits at once in four forms.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "gpt_train/device/angles.hpp"
#include "gpt_train/device/feed.hpp"
#include "gpt_train/device/places.hpp"
#include "gpt_train/device/products.hpp"
#include "gpt_train/reference/device_results.hpp"
#include "gpt_train/reference/device_update.hpp"
#include "gpt_train/reference/plain_attention.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

class DevicePlain {
 public:
  DevicePlain(Backend& backend, const Problem& problem, const Feed& feed)
      : device_(*backend.device),
        problem_(problem),
        s_(problem.options.shape),
        n_(s_.tokens()),
        in_(feed.inputs()),
        sums_(feed.sums()),
        shared_(*backend.compiler),
        kernels_(*backend.compiler),
        products_(backend),
        tensors_(backend, tensors_of(problem.unit, s_),
                 {.master = problem.trains(), .gradients = has_gradients()}, Layout::apart),
        streams_(backend, streams() * n_ * s_.width, "activations"),
        at_(backend, problem),
        segments_(backend, problem.unit == Unit::update ? 0 : n_, "inputs: segments"),
        losses_(backend, problem.has_head() ? n_ : 0, "result: losses"),
        logits_(backend,
                problem.has_head() ? (problem.head_passes_back() ? 3 : 2) * logit_count() : 0,
                "logits"),
        shares_(backend, problem.has_head() && problem.head_passes_back() ? logit_count() : 0,
                "logits"),
        incoming_(backend, incoming_size(), "inputs") {
    if (runs_attention()) {
      attention_.emplace(backend, kernels_, products_.blas(), s_, attention_goes_back(problem_));
      angles_.emplace(backend, s_);
    }
    if (problem_.trains()) update_.emplace(backend, problem_.options, tensors_);
  }

  // As before the first step, but for the batch.
  void draw() {
    tensors_.draw(shared_, problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) tensors_.draw_gradients(shared_);
  }
  // Of isolated stages, with a batch in place: x = E[tok], and for attention q, k and v of it.
  void draw_stream() {
    const Tensor e = tensors_of(s_).front();
    const bool bench = problem_.options.start == Start::bench;
    see();
    shared_.draw_stream(
        flat_shape(n_ * s_.width), in_,
        {e.stream, 0, 0, bench ? e.sigma : e.upstream_sigma, n_, s_.width, s_.width}, stream(0));
    if (!problem_.has_attention()) return;
    norm(stream(0), Kind::norm1, 0, at_.y1);
    project(0);
  }
  void draw_incoming() {
    const int width = problem_.has_attention() ? s_.query_width() : s_.width;
    shared_.draw(flat_shape(n_ * width), {90, 0, 0, 1 / std::sqrt(double(n_)), n_, width, width},
                 nullptr, incoming_.data());
  }
  void restore_incoming() {
    const std::size_t bytes = static_cast<std::size_t>(n_) * s_.width * sizeof(Bf16);
    device_.copy(at_.dx, incoming_.data(), bytes);
    restored_bytes_ += 2 * static_cast<std::int64_t>(bytes);
  }

  void embed() {
    see();
    const std::int64_t pairs = n_ * s_.width / 2;
    kernels_.gather(plain_flat(pairs), in_, tensors_.copy(Kind::embedding), pairs, s_.width,
                    stream(0));
  }

  void layer_forward(int l) { layer(l, stream(l + 1)); }

  void layer_backward(int l) {
    const int d = s_.width, da = s_.query_width(), dk = s_.key_width(), inner = s_.inner;
    const std::int64_t pairs = n_ * inner / 2;
    layer(l, nullptr);
    {
      const Scope scope("gated_mlp");
      back(d, inner, at_.h, Kind::down, l, at_.dx, at_.dh);
      kernels_.multiply(plain_flat(pairs), at_.dh, at_.silu, pairs, at_.du);
      kernels_.silu_slope(plain_flat(pairs), at_.dh, at_.u, at_.a, pairs, at_.da);
      back(inner, d, at_.y2, Kind::up, l, at_.du, at_.dy);
      back(inner, d, at_.y2, Kind::gate, l, at_.da, at_.other);
      add(at_.dy, at_.other, at_.dy);
      norm_backward(at_.x1, Kind::norm2, l, true);
    }
    const Scope scope("attention");
    back(d, da, attention_->o(), Kind::out, l, at_.dx, at_.d_o);
    attention_->backward(angles_->cosines.data(), angles_->sines.data(), at_.d_o);
    back(da, d, at_.y1, Kind::query, l, attention_->d_q(), at_.dy);
    back(dk, d, at_.y1, Kind::key, l, attention_->d_k(), at_.other);
    add(at_.dy, at_.other, at_.dy);
    back(dk, d, at_.y1, Kind::value, l, attention_->d_v(), at_.other);
    add(at_.dy, at_.other, at_.dy);
    norm_backward(stream(l), Kind::norm1, l, true);
  }

  void attention_forward() {
    attention_->forward(angles_->cosines.data(), angles_->sines.data(), segments_.data());
  }
  void attention_backward() {
    attention_->backward(angles_->cosines.data(), angles_->sines.data(), incoming_.data());
  }

  void head() {
    const int v = s_.vocabulary;
    const std::int64_t pairs = logit_count() / 2;
    Bf16 *z = logits_.data(), *capped = z + logit_count();
    norm(last(), Kind::final_norm, -1, at_.y1);
    products_(n_, v, s_.width, at_.y1, tensors_.copy(Kind::head), z);
    kernels_.cap(plain_flat(pairs), z, pairs, limit, capped);
    kernels_.row_losses(plain_rows(n_), in_, capped, v, limit, losses_.data());
    shared_.sum_losses({.block = {sum_threads}}, in_, losses_.data(), sums_);
  }
  void head_backward() {
    const int v = s_.vocabulary, d = s_.width;
    const std::int64_t pairs = logit_count() / 2;
    const Bf16* capped = logits_.data() + logit_count();
    Bf16* dz = logits_.data() + 2 * logit_count();
    kernels_.softmax_logits(plain_rows(n_), capped, v, limit, shares_.data());
    kernels_.logit_slopes(plain_flat(pairs), in_, shares_.data(), pairs, v, dz);
    kernels_.cap_slope(plain_flat(pairs), capped, pairs, limit, dz);
    products_.transposed(d, v, n_, at_.y1, dz, tensors_.gradient(Kind::head), false);
    products_.by_transposed(n_, d, v, dz, tensors_.copy(Kind::head), at_.dy);
    norm_backward(last(), Kind::final_norm, -1, false);
  }

  void embed_backward() {
    const int d = s_.width;
    float* const de = tensors_.gradient(Kind::embedding);
    device_.fill_zero(de, std::size_t(s_.vocabulary) * std::size_t(d) * sizeof(float));
    LaunchShape shape = row_shape(n_);
    shape.grid.y = blocks(d, 64);
    shared_.embed_backward(shape, in_, at_.dx, d, de);
  }

  // Bytes so far that were read and written to lie elsewhere, and not to compute.
  std::int64_t layout_bytes() const {
    return restored_bytes_ + (attention_ ? attention_->layout_bytes() : 0) +
           (update_ ? update_->layout_bytes() : 0);
  }

  void update(const Rates& rates) { (*update_)(products_.blas(), rates); }

  void tell_parameters(std::vector<double>& to) const { tensors_.tell_parameters(to); }
  double gradient_norm() const {
    std::vector<double> all;
    tensors_.tell_gradients(all);
    double squares = 0;
    for (const double value : all) squares += value * value;
    return std::sqrt(squares);
  }
  void tell(std::vector<double>& to) const {
    const std::int64_t d = n_ * s_.width;
    if (problem_.unit == Unit::forward)
      for (const float loss : losses_.to_host()) to.push_back(double{loss});
    if (problem_.unit == Unit::layer_forward) tell(stream(1), d, to);
    if (problem_.unit == Unit::attention_forward) tell(attention_->o(), n_ * s_.query_width(), to);
    if (problem_.unit == Unit::attention_backward) {
      tell(attention_->d_q(), n_ * s_.query_width(), to);
      tell(attention_->d_k(), n_ * s_.key_width(), to);
      tell(attention_->d_v(), n_ * s_.key_width(), to);
    }
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::lm_head)
      tell(at_.dx, d, to);
    if (has_gradients()) tensors_.tell_gradients(to);
  }

 private:
  static constexpr float limit = static_cast<float>(logit_cap);
  static constexpr float epsilon = static_cast<float>(norm_epsilon);

  bool runs_attention() const { return runs_layers(problem_) || problem_.has_attention(); }
  bool has_gradients() const { return goes_back(problem_) || problem_.unit == Unit::update; }
  std::size_t streams() const {
    if (problem_.has_layers()) return static_cast<std::size_t>(s_.layers) + 1;
    if (problem_.has_layer()) return 2;
    return problem_.unit == Unit::update ? 0 : 1;
  }
  Bf16* stream(int l) const { return streams_.data() + l * n_ * s_.width; }
  const Bf16* last() const { return stream(problem_.has_layers() ? s_.layers : 0); }
  std::int64_t logit_count() const { return n_ * s_.vocabulary; }
  std::size_t incoming_size() const {
    if (problem_.unit == Unit::layer_backward) return static_cast<std::size_t>(n_ * s_.width);
    return problem_.unit == Unit::attention_backward
               ? static_cast<std::size_t>(n_ * s_.query_width())
               : 0;
  }
  void see() { shared_.segment(flat_shape(n_), in_, segments_.data()); }
  void add(const Bf16* a, const Bf16* b, Bf16* out) {
    const std::int64_t pairs = n_ * s_.width / 2;
    kernels_.add(plain_flat(pairs), a, b, pairs, out);
  }
  void norm(const Bf16* x, Kind kind, int l, Bf16* y) {
    const int d = s_.width;
    const std::int64_t pairs = n_ * d / 2;
    kernels_.inverse_roots(plain_warps(n_), x, n_, d, epsilon, at_.roots);
    kernels_.scale_rows(plain_flat(pairs), x, at_.roots, pairs, d, at_.other);
    kernels_.scale_columns(plain_flat(pairs), at_.other, tensors_.copy(kind, l), pairs, d, y);
  }
  // Of dy: dx += or =, dg.
  void norm_backward(const Bf16* x, Kind kind, int l, bool adds) {
    const int d = s_.width;
    const std::int64_t pairs = n_ * d / 2;
    const auto parts = static_cast<unsigned>(norm_parts(n_));
    kernels_.inverse_roots(plain_warps(n_), x, n_, d, epsilon, at_.roots);
    kernels_.scale_rows(plain_flat(pairs), x, at_.roots, pairs, d, at_.other);
    kernels_.column_products(
        {.grid = {blocks(d / 2, plain_row_threads), parts}, .block = {plain_row_threads}}, at_.dy,
        at_.other, static_cast<int>(n_), d, at_.partial);
    kernels_.sum_parts({.grid = {blocks(d, plain_row_threads)}, .block = {plain_row_threads}},
                       at_.partial, static_cast<int>(parts), d, tensors_.gradient(kind, l));
    kernels_.scale_columns(plain_flat(pairs), at_.dy, tensors_.copy(kind, l), pairs, d,
                           at_.weighed);
    kernels_.row_means(plain_warps(n_), at_.weighed, at_.other, n_, d, at_.means);
    kernels_.norm_slope(plain_flat(pairs), at_.weighed, at_.other, at_.means, at_.roots, pairs, d,
                        adds ? at_.weighed : at_.dx);
    if (adds) add(at_.dx, at_.weighed, at_.dx);
  }
  // Of out = in w, with w [k, n]: its gradient, and that of in.
  void back(int n, int k, const Bf16* in, Kind kind, int l, const Bf16* d_out, Bf16* d_in) {
    products_.transposed(k, n, n_, in, d_out, tensors_.matrix_gradient(kind, l));
    products_.by_transposed(n_, k, n, d_out, tensors_.copy(kind, l), d_in);
  }
  // y1 to q, k and v.
  void project(int l) {
    const int d = s_.width, dk = s_.key_width();
    products_(n_, s_.query_width(), d, at_.y1, tensors_.copy(Kind::query, l), attention_->q());
    products_(n_, dk, d, at_.y1, tensors_.copy(Kind::key, l), attention_->k());
    products_(n_, dk, d, at_.y1, tensors_.copy(Kind::value, l), attention_->v());
  }

  // out: null where the layer is computed again and its end is not needed.
  void layer(int l, Bf16* out) {
    const int d = s_.width, inner = s_.inner;
    const std::int64_t pairs = n_ * inner / 2;
    norm(stream(l), Kind::norm1, l, at_.y1);
    project(l);
    {
      const Scope scope("attention");
      attention_->forward(angles_->cosines.data(), angles_->sines.data(), segments_.data());
    }
    products_(n_, d, s_.query_width(), attention_->o(), tensors_.copy(Kind::out, l), at_.added);
    add(stream(l), at_.added, at_.x1);
    const Scope scope("gated_mlp");
    norm(at_.x1, Kind::norm2, l, at_.y2);
    products_(n_, inner, d, at_.y2, tensors_.copy(Kind::up, l), at_.u);
    products_(n_, inner, d, at_.y2, tensors_.copy(Kind::gate, l), at_.a);
    kernels_.silu(plain_flat(pairs), at_.a, pairs, at_.silu);
    kernels_.multiply(plain_flat(pairs), at_.u, at_.silu, pairs, at_.h);
    if (!out) return;
    products_(n_, d, inner, at_.h, tensors_.copy(Kind::down, l), at_.added);
    add(at_.x1, at_.added, out);
  }

  void tell(const Bf16* from, std::int64_t count, std::vector<double>& to) const {
    std::vector<Bf16> all(static_cast<std::size_t>(count));
    device_.download(all.data(), from, all.size() * sizeof(Bf16));
    for (const Bf16 x : all) to.push_back(double{widened(x)});
  }

  Device& device_;
  Problem problem_;
  Shape s_;
  std::int64_t n_;
  Inputs in_;
  double* sums_;
  ModelKernels shared_;  // that draw, and add up by token
  PlainKernels kernels_;
  Products products_;
  DeviceTensors tensors_;
  Buffer<Bf16> streams_;
  DeviceResults at_;
  Buffer<int> segments_;
  Buffer<float> losses_;
  Buffer<Bf16> logits_;
  Buffer<float> shares_;
  Buffer<Bf16> incoming_;
  std::optional<Angles> angles_ = {};
  std::optional<PlainAttention> attention_ = {};
  std::optional<PlainDeviceUpdate> update_ = {};
  std::int64_t restored_bytes_ = 0;
};

}  // namespace holdfast::gpt_train
