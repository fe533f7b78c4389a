// SPDX-License-Identifier: Apache-2.0
// The model's stages on a device as written: each product and operation separate with its own
// result, attention over the whole square, a layer recomputed for its backward pass, all logits at
// once in four forms.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "gpt_train/device/angles.hpp"
#include "gpt_train/device/feed.hpp"
#include "gpt_train/device/places.hpp"
#include "gpt_train/device/products.hpp"
#include "gpt_train/device/shared_result.hpp"
#include "gpt_train/reference/device_head.hpp"
#include "gpt_train/reference/device_norm.hpp"
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
        norm_(kernels_, s_, at_),
        segments_(backend, problem.unit == Unit::update ? 0 : n_, "inputs: segments"),
        incoming_(backend, incoming_size(), "inputs") {
    if (runs_attention()) {
      attention_.emplace(backend, kernels_, products_.blas(), s_, attention_goes_back(problem_));
      angles_.emplace(backend, s_);
    }
    if (problem_.has_head())
      head_.emplace(backend, kernels_, products_, s_, problem_.head_passes_back());
    if (problem_.trains()) update_.emplace(backend, problem_.options, tensors_);
  }

  // Restores the state before the first step, except for the batch.
  void draw() {
    tensors_.draw(shared_, problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) tensors_.draw_gradients(shared_);
  }
  // The stream of isolated stages, given a batch: x = E[tok], and for attention its q, k and v.
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
    norm(last(), Kind::final_norm, -1, at_.y1);
    head_->forward(in_, at_.y1, tensors_.copy(Kind::head));
    shared_.sum_losses({.block = {sum_threads}}, in_, head_->losses(), sums_);
  }
  void head_backward() {
    head_->backward(in_, at_.y1, tensors_.copy(Kind::head), tensors_.gradient(Kind::head), at_.dy);
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

  // Bytes read and written so far only to change a layout, not to compute.
  std::int64_t layout_bytes() const {
    return restored_bytes_ + (attention_ ? attention_->layout_bytes() : 0) +
           (update_ ? update_->layout_bytes() : 0);
  }

  void update(const Rates& rates) { (*update_)(products_.blas(), rates); }

  void tell_parameters(std::vector<double>& to) const { tensors_.tell_parameters(to); }
  double gradient_norm() const { return tensors_.gradient_norm(); }
  void tell(std::vector<double>& to) const {
    if (problem_.unit == Unit::forward) head_->tell(to);
    gpt_train::tell(device_, shared_result(), n_, to);
    if (has_gradients()) tensors_.tell_gradients(to);
  }
  SharedResult<Bf16> shared_result() const {
    switch (problem_.unit) {
      case Unit::layer_forward:
        return {whole_rows(stream(1), s_.width)};
      case Unit::attention_forward:
        return {whole_rows(attention_->o(), s_.query_width())};
      case Unit::attention_backward:
        return {whole_rows(attention_->d_q(), s_.query_width()),
                whole_rows(attention_->d_k(), s_.key_width()),
                whole_rows(attention_->d_v(), s_.key_width())};
      case Unit::layer_backward:
      case Unit::lm_head:
        return {whole_rows(at_.dx, s_.width)};
      default:
        return {};
    }
  }

 private:
  bool runs_attention() const { return runs_layers(problem_) || problem_.has_attention(); }
  bool has_gradients() const { return goes_back(problem_) || problem_.unit == Unit::update; }
  std::size_t streams() const {
    if (problem_.has_layers()) return static_cast<std::size_t>(s_.layers) + 1;
    if (problem_.has_layer()) return 2;
    return problem_.unit == Unit::update ? 0 : 1;
  }
  Bf16* stream(int l) const { return streams_.data() + l * n_ * s_.width; }
  const Bf16* last() const { return stream(problem_.has_layers() ? s_.layers : 0); }
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
    norm_.forward(x, tensors_.copy(kind, l), y);
  }
  // The backward pass of a norm, from dy: dx += or =, dg.
  void norm_backward(const Bf16* x, Kind kind, int l, bool adds) {
    norm_.backward(x, tensors_.copy(kind, l), adds, tensors_.gradient(kind, l));
  }
  // The backward pass of out = in w, with w [k, n]: the gradients of w and of in.
  void back(int n, int k, const Bf16* in, Kind kind, int l, const Bf16* d_out, Bf16* d_in) {
    products_.transposed(k, n, n_, in, d_out, tensors_.matrix_gradient(kind, l));
    products_.by_transposed(n_, k, n, d_out, tensors_.copy(kind, l), d_in);
  }
  // Projects y1 to q, k and v.
  void project(int l) {
    const int d = s_.width, dk = s_.key_width();
    products_(n_, s_.query_width(), d, at_.y1, tensors_.copy(Kind::query, l), attention_->q());
    products_(n_, dk, d, at_.y1, tensors_.copy(Kind::key, l), attention_->k());
    products_(n_, dk, d, at_.y1, tensors_.copy(Kind::value, l), attention_->v());
  }

  // out: null if the layer is recomputed and its output is not needed.
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

  Device& device_;
  Problem problem_;
  Shape s_;
  std::int64_t n_;
  Inputs in_;
  double* sums_;
  ModelKernels shared_;  // those that draw, and add up by token
  PlainKernels kernels_;
  Products products_;
  DeviceTensors tensors_;
  Buffer<Bf16> streams_;
  DeviceResults at_;
  DevicePlainNorm norm_;
  Buffer<int> segments_;
  Buffer<Bf16> incoming_;
  std::optional<Angles> angles_ = {};
  std::optional<PlainAttention> attention_ = {};
  std::optional<DevicePlainHead> head_ = {};
  std::optional<PlainDeviceUpdate> update_ = {};
  std::int64_t restored_bytes_ = 0;
};

}  // namespace holdfast::gpt_train
