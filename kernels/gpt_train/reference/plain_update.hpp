// SPDX-License-Identifier: Apache-2.0
// An update as a chain of operations on each tensor, Newton-Schulz matrix by matrix. Compiled per
// instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpt_train/reference/plain_newton_schulz.hpp"
#include "gpt_train/stepped/moments.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class PlainUpdate {
 public:
  PlainUpdate(Backend& backend, const Options& options)
      : options_(options),
        largest_(largest(options, [](const Tensor& tensor) { return tensor.size(); })),
        square_(largest(options,
                        [](const Tensor& t) {
                          const std::int64_t least = std::min(t.rows, t.columns);
                          return t.role == Role::matrix ? least * least : 0;
                        })),
        moments_(moments_held<T>(backend, options, Layout::apart)),
        scratch_(backend, 4 * largest_ + 3 * square_, "scratch: update") {}

  void clear() {
    for (Held<T>& moment : moments_) moment.clear();
  }

  void operator()(Blas& blas, const Rates& rates, const Held<T>& gradients, Held<T>& parameters) {
    for (std::size_t k = 0; k < parameters.tensors().size(); ++k) {
      const Tensor& tensor = parameters.tensors()[k];
      T* p = parameters.at(k);
      const T* g = gradients.at(k);
      if (tensor.role == Role::norm)
        lion(rates.norm, g, moment(0, tensor), p, tensor.size());
      else if (tensor.role == Role::matrix && !rates.timescales.empty())
        muon(blas, rates, tensor, g, p);
      else
        adam(tensor.role == Role::embedding ? rates.embedding
             : tensor.role == Role::head    ? rates.head
                                            : rates.matrix,
             tensor, g, p);
    }
  }

 private:
  template <class Size>
  static std::int64_t largest(const Options& options, const Size& size) {
    std::int64_t most = 0;
    for (const Tensor& tensor : tensors_of(options.shape))
      most = std::max<std::int64_t>(most, size(tensor));
    return most;
  }
  T* moment(int i, const Tensor& tensor) const { return moments_[i].of(tensor.kind, tensor.layer); }
  T* temporary(int i) const { return scratch_.data() + i * largest_; }

  // keep = keep beta + what (1 - beta)
  static void average(const T* what, double beta, std::int64_t count, T* keep) {
    const T own = static_cast<T>(beta), other = static_cast<T>(1 - beta);
    plain::each<T>(count, [=](std::int64_t k) { keep[k] = own * keep[k] + other * what[k]; });
  }
  // p -= rate (step + decay p)
  void apply(double rate, double decay, const T* step, std::int64_t count, T* decayed, T* p) const {
    plain::scale(p, decay, count, decayed);
    plain::add(step, decayed, count, decayed);
    plain::scale(decayed, -rate, count, decayed);
    plain::add(p, decayed, count, p);
  }

  void adam(const Adam& rule, const Tensor& tensor, const T* g, T* p) const {
    const std::int64_t count = tensor.size();
    T *m = moment(0, tensor), *v = moment(1, tensor);
    T *squares = temporary(0), *first = temporary(1), *second = temporary(2), *last = temporary(3);
    average(g, beta1, count, m);
    plain::multiply(g, g, count, squares);
    average(squares, beta2, count, v);
    plain::scale(m, 1 / rule.correction1, count, first);
    plain::scale(v, 1 / rule.correction2, count, second);
    plain::each<T>(count, [=](std::int64_t k) {
      last[k] = first[k] / (std::sqrt(second[k]) + T(adam_epsilon));
    });
    apply(rule.rate, rule.decay, last, count, first, p);
    if (tensor.role == Role::embedding) project(tensor, p);
  }

  void project(const Tensor& tensor, T* p) const {
    const int d = tensor.columns;
    T* squares = temporary(0);
    plain::row_means_of_products(p, p, tensor.rows, d, squares);
    plain::each_row<T>(tensor.rows, d, [=](std::int64_t i, std::int64_t j) {
      const T size = std::sqrt(squares[i]);
      if (size > T(greatest_row)) p[i * d + j] /= size;
    });
  }

  void lion(const Lion& rule, const T* g, T* m, T* p, std::int64_t count) const {
    T *mixed = temporary(0), *sign = temporary(1);
    plain::each<T>(
        count, [=](std::int64_t k) { mixed[k] = T(1 - lion_beta) * g[k] + T(lion_beta) * m[k]; });
    plain::each<T>(count, [=](std::int64_t k) { sign[k] = T((mixed[k] > 0) - (mixed[k] < 0)); });
    apply(rule.rate, lion_decay, sign, count, mixed, p);
    average(g, lion_beta, count, m);
  }

  void muon(Blas& blas, const Rates& rates, const Tensor& tensor, const T* g, T* p) const {
    const std::int64_t count = tensor.size();
    T *x = temporary(0), *sum = temporary(1);
    std::fill_n(sum, count, T(0));
    for (std::size_t i = 0; i < rates.timescales.size(); ++i) {
      const Timescale scale = rates.timescales[i];
      T* m = moment(static_cast<int>(i), tensor);
      plain::each<T>(count,
                     [=](std::int64_t k) { m[k] = T(scale.gain) * g[k] + T(scale.beta) * m[k]; });
      plain::each<T>(
          count, [=](std::int64_t k) { x[k] = T(1 - scale.beta) * g[k] + T(scale.beta) * m[k]; });
      plain::make_orthogonal(blas, tensor.rows, tensor.columns, x, temporary(2), temporary(3),
                             scratch_.data() + 4 * largest_, square_);
      plain::each<T>(count, [=](std::int64_t k) { sum[k] += T(scale.weight) * x[k]; });
    }
    apply(rates.muon_rate * muon_stretch(tensor.rows, tensor.columns), muon_decay, sum, count, x,
          p);
  }

  Options options_;
  std::int64_t largest_, square_;
  std::vector<Held<T>> moments_;
  Buffer<T> scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
