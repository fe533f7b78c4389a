// SPDX-License-Identifier: Apache-2.0
// Tensors of one sort (parameters, gradients, a moment) in one piece of memory of a host.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpt_train/data/data.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train {

template <class T>
class Held {
 public:
  Held(Backend& backend, std::vector<Tensor> tensors, Layout layout, std::string site)
      : tensors_(std::move(tensors)),
        places_(places_of(tensors_, layout)),
        memory_(backend, size_of(tensors_), std::move(site)) {
    clear();
  }

  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::span<T> all() const { return {memory_.data(), memory_.size()}; }
  T* at(std::size_t index) const { return memory_.data() + places_[index].offset; }
  int pitch(std::size_t index) const { return places_[index].pitch; }

  // The first number of the only tensor of its kind in a layer; layer -1: outside of layers.
  T* of(Kind kind, int layer = -1) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      if (tensors_[k].kind == kind && tensors_[k].layer == layer) return at(k);
    return nullptr;
  }

  void clear() { std::fill(all().begin(), all().end(), T(0)); }
  void draw(Start start) {
    for (std::size_t k = 0; k < tensors_.size(); ++k) put(k, drawn(tensors_[k], start));
  }
  // Draws the gradient of an isolated update.
  void draw_gradient() {
    for (std::size_t k = 0; k < tensors_.size(); ++k) {
      Tensor as_if = tensors_[k];
      as_if.stream += 91000;
      as_if.sigma = 1e-3;
      as_if.role = Role::matrix;
      put(k, drawn(as_if, Start::bench));
    }
  }
  // Appends tensor after tensor, each row-major.
  void tell(std::vector<double>& to) const {
    for (std::size_t k = 0; k < tensors_.size(); ++k)
      for (int i = 0; i < tensors_[k].rows; ++i)
        to.insert(to.end(), row(k, i), row(k, i) + tensors_[k].columns);
  }

 private:
  static std::size_t size_of(const std::vector<Tensor>& tensors) {
    std::size_t sum = 0;
    for (const Tensor& tensor : tensors) sum += tensor.size();
    return sum;
  }
  T* row(std::size_t index, int i) const { return at(index) + std::int64_t{i} * pitch(index); }
  void put(std::size_t index, const std::vector<double>& values) {
    const int columns = tensors_[index].columns;
    for (int i = 0; i < tensors_[index].rows; ++i)
      for (int j = 0; j < columns; ++j)
        row(index, i)[j] = static_cast<T>(values[std::int64_t{i} * columns + j]);
  }

  std::vector<Tensor> tensors_;
  std::vector<Place> places_;
  Buffer<T> memory_;
};

}  // namespace holdfast::gpt_train
