// SPDX-License-Identifier: Apache-2.0
// A model's tensors on a device, generated there: the copy in bf16 that products read, the master
// in f32 that an optimiser updates, and gradients. Each is one piece: first the tensors with f32
// gradients (E, W_head, norms), then the matrices, joined as in the optimized products or apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/problem/tensors.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/base/large_pages.hpp"

namespace holdfast::gpt_train {

class DeviceTensors {
 public:
  struct Holds {
    bool copy = true, master = false, gradients = false;
  };
  // The numbers of one rule, counted from the start of their sort: f32 gradients or matrices.
  struct Range {
    std::int64_t offset = 0, count = 0;
  };

  DeviceTensors(Backend& backend, std::vector<Tensor> tensors, Holds holds,
                Layout layout = Layout::joined)
      : tensors_(std::move(tensors)), layout_(layout), places_(tensors_.size()) {
    place(false);
    place(true);
    const auto all = static_cast<std::size_t>(others_ + matrices_);
    const auto made = [&](auto& buffer, bool held, std::int64_t count, const char* site) {
      if (held) buffer.emplace(backend, static_cast<std::size_t>(count), site);
    };
    made(copy_, holds.copy, std::int64_t(all), "parameters: copy");
    made(master_, holds.master, std::int64_t(all), "state: parameters");
    made(gradients_, holds.gradients && others_ > 0, others_, "result: gradients");
    made(matrix_gradients_, holds.gradients && matrices_ > 0, matrices_, "result: gradients");
  }

  std::int64_t matrix_count() const { return matrices_; }

  const Bf16* copy(Kind kind, int layer = -1) const {
    return copy_->data() + whole(at(kind, layer));
  }
  float* gradient(Kind kind, int layer = -1) const {
    return gradients_->data() + places_[at(kind, layer)].offset;
  }
  Bf16* matrix_gradient(Kind kind, int layer) const {
    return matrix_gradients_->data() + places_[at(kind, layer)].offset;
  }

  // An optimiser's numbers of one sort.
  float* masters(bool of_matrices) const { return master_->data() + (of_matrices ? others_ : 0); }
  Bf16* copies(bool of_matrices) const { return copy_->data() + (of_matrices ? others_ : 0); }
  const float* gradients() const { return gradients_->data(); }
  const Bf16* matrix_gradients() const { return matrix_gradients_->data(); }
  Range range(Role role) const {
    Range range = {};
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      if (tensors_[k].role != role) continue;
      if (range.count == 0) range.offset = places_[k].offset;
      range.count += tensors_[k].size();
    }
    return range;
  }
  // Calls body(tensor, its first number among matrices, row pitch).
  template <class Body>
  void each_matrix(const Body& body) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      if (tensors_[k].role == Role::matrix) body(tensors_[k], places_[k].offset, places_[k].pitch);
  }

  // For tensors apart: calls body(tensor, parameters, their copy, gradient in f32 or in bf16).
  template <class Body>
  void each(const Body& body) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const bool matrix = tensors_[k].role == Role::matrix;
      body(tensors_[k], master_->data() + whole(k), copy_->data() + whole(k),
           matrix ? nullptr : gradients_->data() + places_[k].offset,
           matrix ? matrix_gradients_->data() + places_[k].offset : nullptr);
    }
  }

  void draw(const ModelKernels& kernels, Start start) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const Tensor& tensor = tensors_[k];
      const double sigma = start == Start::bench ? tensor.sigma : tensor.upstream_sigma;
      put(kernels, k,
          {tensor.stream, std::uint64_t(tensor.first), tensor.role == Role::norm ? 1. : 0., sigma},
          master_ ? master_->data() + whole(k) : nullptr, copy_->data() + whole(k));
    }
  }
  // Draws the gradients of an isolated update.
  void draw_gradients(const ModelKernels& kernels) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      const Drawing what = {91000 + tensors_[k].stream, std::uint64_t(tensors_[k].first), 0, 1e-3};
      const bool matrix = tensors_[k].role == Role::matrix;
      put(kernels, k, what, matrix ? nullptr : gradients_->data() + places_[k].offset,
          matrix ? matrix_gradients_->data() + places_[k].offset : nullptr);
    }
  }

  // Appends tensor after tensor, each row-major.
  void tell_parameters(std::vector<double>& to) const {
    const std::vector<float> all = master_->to_host();
    double* at = grow(to, all.size());
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      each_row(k, all.data() + whole(k),
               [&](const float* row, int n) { at = std::copy_n(row, n, at); });
  }
  void tell_gradients(std::vector<double>& to) const {
    double* at = grow(to, static_cast<std::size_t>(others_ + matrices_));
    each_gradient_row([&](const auto* row, int n) {
      at = std::transform(row, row + n, at, [](auto x) { return wide(x); });
    });
  }

  double gradient_norm() const {
    double squares = 0;
    each_gradient_row([&](const auto* row, int n) {
      for (int j = 0; j < n; ++j) squares += wide(row[j]) * wide(row[j]);
    });
    return std::sqrt(squares);
  }

 private:
  void place(bool matrices) {
    std::vector<Tensor> sort;
    std::vector<std::size_t> which;
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      if ((tensors_[k].role == Role::matrix) == matrices) {
        sort.push_back(tensors_[k]);
        which.push_back(k);
      }
    const std::vector<Place> places = places_of(sort, layout_);
    std::int64_t& count = matrices ? matrices_ : others_;
    for (std::size_t k = 0; k < which.size(); ++k) {
      places_[which[k]] = places[k];
      count += sort[k].size();
    }
  }
  std::size_t at(Kind kind, int layer) const {
    std::size_t k = 0;
    while (tensors_[k].kind != kind || tensors_[k].layer != layer) ++k;
    return k;
  }
  std::int64_t whole(std::size_t k) const {
    return places_[k].offset + (tensors_[k].role == Role::matrix ? others_ : 0);
  }
  void put(const ModelKernels& kernels, std::size_t k, Drawing what, float* wide,
           Bf16* narrow) const {
    constexpr std::int64_t numbers_of_a_thread = 16;
    what.rows = tensors_[k].rows;
    what.columns = tensors_[k].columns;
    what.pitch = places_[k].pitch;
    kernels.draw(flat_shape(tensors_[k].size(), numbers_of_a_thread), what, wide, narrow);
  }
  static double wide(float x) { return x; }
  static double wide(Bf16 x) { return widened(x); }

  // Calls body(numbers of a row, how many), from the first number of tensor k on.
  template <class T, class Body>
  void each_row(std::size_t k, const T* from, const Body& body) const {
    for (int i = 0; i < tensors_[k].rows; ++i, from += places_[k].pitch)
      body(from, tensors_[k].columns);
  }
  // Tensor after tensor, copied to the host.
  template <class Body>
  void each_gradient_row(const Body& body) const {
    const std::vector<float> others = gradients_ ? gradients_->to_host() : std::vector<float>();
    const std::vector<Bf16> matrices =
        matrix_gradients_ ? matrix_gradients_->to_host() : std::vector<Bf16>();
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      if (tensors_[k].role == Role::matrix)
        each_row(k, matrices.data() + places_[k].offset, body);
      else
        each_row(k, others.data() + places_[k].offset, body);
  }

  std::vector<Tensor> tensors_;
  Layout layout_;
  std::vector<Place> places_;
  std::int64_t others_ = 0, matrices_ = 0;
  std::optional<Buffer<Bf16>> copy_ = {}, matrix_gradients_ = {};
  std::optional<Buffer<float>> master_ = {}, gradients_ = {};
};

}  // namespace holdfast::gpt_train
