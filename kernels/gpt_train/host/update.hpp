// SPDX-License-Identifier: Apache-2.0
// An optimiser's update in one pass over each tensor. Compiled per instruction set.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "gpt_train/host/orthogonal.hpp"
#include "gpt_train/stepped/moments.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class FusedUpdate {
 public:
  FusedUpdate(Backend& backend, const Options& options, Layout layout)
      : optimizer_(options.optimizer), moments_(moments_held<T>(backend, options, layout)) {
    if (optimizer_ != Optimizer::adamw) orthogonal_.emplace(backend, tensors_of(options.shape));
  }

  void clear() {
    for (Held<T>& moment : moments_) moment.clear();
  }

  void operator()(Blas& blas, const Rates& rates, const Held<T>& gradients, Held<T>& parameters) {
    const std::vector<Tensor>& tensors = parameters.tensors();
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      const Tensor& tensor = tensors[k];
      if (tensor.role == Role::matrix && orthogonal_) continue;
      T* p = parameters.at(k);
      const T* g = gradients.at(k);
      T* m = moments_[0].of(tensor.kind, tensor.layer);
      if (tensor.role == Role::norm) {
        lion(rates.norm, g, m, p, tensor.columns);
        continue;
      }
      const Adam& rule = tensor.role == Role::embedding ? rates.embedding
                         : tensor.role == Role::head    ? rates.head
                                                        : rates.matrix;
      adam(rule, tensor, parameters.pitch(k), g, m, moments_[1].of(tensor.kind, tensor.layer), p);
    }
    if (orthogonal_) (*orthogonal_)(blas, rates, gradients, moments_, parameters);
  }

 private:
  // Rows of the embedding are projected as they are written.
  static void adam(const Adam& rule, const Tensor& tensor, int pitch, const T* g, T* m, T* v,
                   T* p) {
    const T first = static_cast<T>(rule.rate / rule.correction1);
    const T second = static_cast<T>(1 / std::sqrt(rule.correction2));
    const T decay = static_cast<T>(rule.rate * rule.decay);
    const int columns = tensor.columns;
    const bool project = tensor.role == Role::embedding;
    arrays::HOLDFAST_ISA::each_long<T>(tensor.rows, 8 * columns, [=](std::int64_t row) {
      T squares = 0;
      const std::int64_t end = row * pitch + columns;
#pragma omp simd reduction(+ : squares)
      for (std::int64_t k = row * pitch; k < end; ++k) {
        const T mean = T(beta1) * m[k] + T(1 - beta1) * g[k];
        const T square = T(beta2) * v[k] + T(1 - beta2) * g[k] * g[k];
        const T next =
            p[k] - (first * mean / (std::sqrt(square) * second + T(adam_epsilon)) + decay * p[k]);
        m[k] = mean;
        v[k] = square;
        p[k] = next;
        squares += next * next;
      }
      const T size = std::sqrt(squares / T(columns));
      if (!project || size <= T(greatest_row)) return;
#pragma omp simd
      for (std::int64_t k = row * pitch; k < end; ++k) p[k] /= size;
    });
  }

  static void lion(const Lion& rule, const T* g, T* m, T* p, int count) {
    const T rate = static_cast<T>(rule.rate), beta = T(lion_beta);
    for (int k = 0; k < count; ++k) {
      const T c = (1 - beta) * g[k] + beta * m[k];
      const T sign = T((c > 0) - (c < 0));
      p[k] -= rate * (sign + T(lion_decay) * p[k]);
      m[k] = beta * m[k] + (1 - beta) * g[k];
    }
  }

  Optimizer optimizer_;
  std::vector<Held<T>> moments_;
  std::optional<Orthogonal<T>> orthogonal_ = {};
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
