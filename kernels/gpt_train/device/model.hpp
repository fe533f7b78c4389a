// SPDX-License-Identifier: Apache-2.0
// The model's stages on a device, fused as on the host: joined products, tiled attention, the
// classifier in chunks of rows. Nothing here waits for the device.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpt_train/device/feed.hpp"
#include "gpt_train/device/model_memory.hpp"
#include "gpt_train/device/products.hpp"
#include "gpt_train/device/rotated_attention.hpp"
#include "gpt_train/device/update.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

class DeviceModel {
 public:
  DeviceModel(Backend& backend, const Problem& problem, const Feed& feed)
      : device_(*backend.device),
        problem_(problem),
        s_(problem.options.shape),
        n_(s_.tokens()),
        wide_(s_.query_width() + 2 * s_.key_width()),
        in_(feed.inputs()),
        sums_(feed.sums()),
        kernels_(*backend.compiler),
        products_(backend),
        tensors_(backend, tensors_of(problem.unit, s_),
                 {.master = problem.trains(), .gradients = has_gradients()}),
        memory_(backend, problem),
        places_(memory_.places) {
    if (runs_layers(problem_) || problem_.has_attention()) {
      attention_.emplace(backend, s_, kernels_.rotate);
    }
    if (problem_.trains())
      update_.emplace(backend, problem_, tensors_, memory_.activations.data(),
                      memory_.logits.data());
  }

  // Restores the state before the first step, except for the batch.
  void draw() {
    tensors_.draw(kernels_, problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) tensors_.draw_gradients(kernels_);
  }
  // The stream of isolated stages, given a batch: x = E[tok], and for attention its q, k and v.
  void draw_stream() {
    const Tensor e = tensors_of(s_).front();
    const bool bench = problem_.options.start == Start::bench;
    kernels_.segment(flat_shape(n_), in_, memory_.segments.data());
    kernels_.draw_stream(
        flat_shape(n_ * s_.width), in_,
        {e.stream, 0, 0, bench ? e.sigma : e.upstream_sigma, n_, s_.width, s_.width},
        at(places_.x));
    see();
    if (!problem_.has_attention()) return;
    norm(at(places_.x), Kind::norm1, 0, at(places_.inverses));
    products_(n_, wide_, s_.width, at(places_.y), tensors_.copy(Kind::query, 0), at(places_.qkv));
  }
  void draw_incoming() {
    const bool attention = problem_.has_attention();
    const int width = attention ? s_.query_width() : s_.width;
    kernels_.draw(flat_shape(n_ * width), {90, 0, 0, 1 / std::sqrt(double(n_)), n_, width, width},
                  nullptr, attention ? at(places_.d_o) : at(places_.incoming));
  }
  void restore_incoming() {
    const std::size_t bytes = n_ * s_.width * sizeof(Bf16);
    device_.copy(at(places_.dx), at(places_.incoming), bytes);
    layout_bytes_ += 2 * std::int64_t(bytes);
  }

  void embed() {
    kernels_.segment(flat_shape(n_), in_, memory_.segments.data());
    see();
    kernels_.embed(row_shape(n_), in_, tensors_.copy(Kind::embedding),
                   tensors_.copy(Kind::norm1, 0), s_.width, epsilon, at(places_.x), at(places_.y),
                   at(places_.inverses));
    embedded_ = true;
  }

  void layer_forward(int l) {
    const LayerSlot here = memory_.slot(l);
    const int d = s_.width, da = s_.query_width(), inner = s_.inner;
    if (!std::exchange(embedded_, false)) norm(here.x, Kind::norm1, l, here.r1);
    products_(n_, wide_, d, at(places_.y), tensors_.copy(Kind::query, l), here.qkv);
    {
      const Scope scope("attention");
      attention_->forward(here.qkv, here.qkv, here.o, here.log_sums);
    }
    products_(n_, d, da, here.o, tensors_.copy(Kind::out, l), here.x1, here.x);
    const Scope scope("gated_mlp");
    norm(here.x1, Kind::norm2, l, here.r2);
    products_(n_, 2 * inner, d, at(places_.y), tensors_.copy(Kind::up, l), here.both);
    kernels_.gated(flat_shape(n_ * inner, 8), here.both, n_, inner, at(places_.h));
    products_(n_, d, inner, at(places_.h), tensors_.copy(Kind::down, l), here.next, here.x1);
  }

  void layer_backward(int l) {
    const LayerSlot here = memory_.slot(l);
    const int d = s_.width, da = s_.query_width(), inner = s_.inner;
    Bf16 *dx = at(places_.dx), *dy = at(places_.dy), *y = at(places_.y), *h = at(places_.h);
    {
      const Scope scope("gated_mlp");
      Bf16 *dh = at(places_.dh), *d_both = at(places_.d_both);
      products_.by_transposed(n_, inner, d, dx, tensors_.copy(Kind::down, l), dh);
      kernels_.gated_backward(flat_shape(n_ * inner, 8), here.both, dh, n_, inner, d_both, h);
      products_.transposed(inner, d, n_, h, dx, tensors_.matrix_gradient(Kind::down, l));
      products_.by_transposed(n_, d, 2 * inner, d_both, tensors_.copy(Kind::up, l), dy);
      norm_backward(here.x1, Kind::norm2, l, here.r2, true, y);
      products_.transposed(d, 2 * inner, n_, y, d_both, tensors_.matrix_gradient(Kind::up, l));
    }
    const Scope scope("attention");
    Bf16 *d_qkv = at(places_.d_qkv), *d_o = at(places_.d_o);
    products_.transposed(da, d, n_, here.o, dx, tensors_.matrix_gradient(Kind::out, l));
    products_.by_transposed(n_, da, d, dx, tensors_.copy(Kind::out, l), d_o);
    attention_->backward(here.qkv, here.o, here.log_sums, d_o, at(places_.whole), d_qkv);
    products_.by_transposed(n_, d, wide_, d_qkv, tensors_.copy(Kind::query, l), dy);
    norm_backward(here.x, Kind::norm1, l, here.r1, true, y);
    products_.transposed(d, wide_, n_, y, d_qkv, tensors_.matrix_gradient(Kind::query, l));
  }

  void attention_forward() {
    attention_->forward(at(places_.qkv), at(places_.qkv) + n_ * wide_, at(places_.o),
                        at(places_.log_sums));
  }
  void attention_backward() {
    attention_->backward(at(places_.qkv) + n_ * wide_, at(places_.o), at(places_.log_sums),
                         at(places_.d_o), at(places_.whole), at(places_.d_qkv));
  }

  // Norm, logits, losses and, except in a forward pass, the gradients of y and of the matrix while
  // a chunk's logits are held.
  void head() {
    const int d = s_.width, v = s_.vocabulary;
    const bool back = problem_.head_passes_back();
    const Bf16* const w = tensors_.copy(Kind::head);
    Bf16* const z = memory_.logits.data();
    norm(memory_.last(), Kind::final_norm, -1, memory_.inverse_of_last());
    for (std::int64_t first = 0; first < n_; first += logit_rows) {
      const std::int64_t rows = std::min(logit_rows, n_ - first);
      const Bf16* const y = at(places_.y) + first * d;
      products_(rows, v, d, y, w, z);
      kernels_.classify({.grid = {static_cast<unsigned>(rows)},
                         .block = {classifier_threads},
                         .shared_bytes = static_cast<std::size_t>(v) * sizeof(Bf16)},
                        in_, static_cast<int>(first), v, float(logit_cap), back, z,
                        memory_.losses.data());
      if (!back) continue;
      products_.by_transposed(rows, d, v, z, w, at(places_.dy) + first * d);
      products_.transposed(d, v, rows, y, z, tensors_.gradient(Kind::head), first > 0);
    }
    kernels_.sum_losses({.block = {sum_threads}}, in_, memory_.losses.data(), sums_);
  }
  void head_backward() {
    norm_backward(memory_.last(), Kind::final_norm, -1, memory_.inverse_of_last(), false, nullptr);
  }

  void embed_backward() {
    const int d = s_.width;
    float* const de = tensors_.gradient(Kind::embedding);
    device_.fill_zero(de, std::size_t(s_.vocabulary) * d * sizeof(float));
    LaunchShape shape = row_shape(n_);
    shape.grid.y = blocks(d, 64);
    kernels_.embed_backward(shape, in_, at(places_.dx), d, de);
  }

  // Bytes read and written so far only to change a layout, not to compute.
  std::int64_t layout_bytes() const { return layout_bytes_; }

  void update() { (*update_)(products_.blas(), in_.schedule); }

  void tell_parameters(std::vector<double>& to) const { tensors_.tell_parameters(to); }
  double gradient_norm() const { return tensors_.gradient_norm(); }
  void tell(std::vector<double>& to) const {
    memory_.tell(to);
    if (has_gradients()) tensors_.tell_gradients(to);
  }
  SharedResult<Bf16> shared_result() const { return memory_.shared_result(); }

 private:
  static constexpr float epsilon = float(norm_epsilon);

  bool has_gradients() const { return goes_back(problem_) || problem_.unit == Unit::update; }

  template <class T>
  T* at(Part<T> part) const {
    return memory_.at(part);
  }

  void see() {
    if (attention_) attention_->see(memory_.segments.data());
  }
  void norm(const Bf16* x, Kind kind, int l, float* inverse) {
    kernels_.normalise(row_shape(n_), x, tensors_.copy(kind, l), static_cast<int>(n_), s_.width,
                       epsilon, at(places_.y), inverse);
  }
  // The backward pass of a norm, from dy: added to dx or written there; y again unless it is null.
  void norm_backward(const Bf16* x, Kind kind, int l, const float* inverse, bool adds, Bf16* y) {
    const auto parts = static_cast<unsigned>(back_parts(n_));
    kernels_.norm_backward({.grid = {parts}, .block = {norm_threads}}, x, tensors_.copy(kind, l),
                           inverse, at(places_.dy), static_cast<int>(n_), s_.width, adds,
                           at(places_.dx), y, at(places_.partial));
    kernels_.sum_rows({.grid = {blocks(s_.width, tile_edge)}, .block = {tile_edge, tile_rows}},
                      at(places_.partial), static_cast<int>(parts), s_.width,
                      tensors_.gradient(kind, l));
  }
  Device& device_;
  Problem problem_;
  Shape s_;
  std::int64_t n_;
  int wide_;  // of q | k | v
  Inputs in_;
  double* sums_;
  ModelKernels kernels_;
  Products products_;
  DeviceTensors tensors_;
  ModelMemory memory_;
  const Activations& places_;
  std::optional<RotatedAttention> attention_ = {};
  std::optional<DeviceUpdate> update_ = {};
  bool embedded_ = false;  // whether the first norm is done
  std::int64_t layout_bytes_ = 0;
};

}  // namespace holdfast::gpt_train
