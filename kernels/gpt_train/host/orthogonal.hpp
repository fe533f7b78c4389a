// SPDX-License-Identifier: Apache-2.0
// Muon's update: matrices of one shape go through Newton-Schulz in batches that the caches hold.
// Compiled once for each instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arrays/host_loops.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/stepped/held.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class Orthogonal {
 public:
  Orthogonal(Backend& backend, const std::vector<Tensor>& tensors)
      : groups_(groups_of(tensors)),
        scratch_(backend, scratch_size(groups_), "scratch: Newton-Schulz") {}

  void operator()(Blas& blas, const Rates& rates, const Held<T>& gradients,
                  std::vector<Held<T>>& moments, Held<T>& parameters) const {
    for (const auto& [sizes, members] : groups_)
      for (std::size_t i = 0; i < rates.timescales.size(); ++i) {
        const auto count = static_cast<std::int64_t>(members.size());
        const std::int64_t at_a_time = slots(sizes, count);
        for (std::int64_t first = 0; first < count; first += at_a_time)
          some(blas, rates, i, sizes, members.data() + first, std::min(at_a_time, count - first),
               gradients, moments[i], parameters);
      }
  }

 private:
  using Groups = std::map<std::pair<int, int>, std::vector<std::size_t>>;  // by least, most

  static std::int64_t slots(const std::pair<int, int>& sizes, std::int64_t members) {
    return matrices_at_a_time(sizes.first, sizes.second, members, sizeof(T));
  }

  // One timescale of different matrices of one shape: what is added to a parameter for one
  // timescale after the other is what all add up to.
  void some(Blas& blas, const Rates& rates, std::size_t i, const std::pair<int, int>& sizes,
            const std::size_t* members, std::int64_t count, const Held<T>& gradients,
            const Held<T>& moments, Held<T>& parameters) const {
    const auto [m, q] = sizes;
    const std::int64_t each = std::int64_t{m} * q, square = std::int64_t{m} * m;
    T *x = scratch_.data(), *next = x + count * each, *gram = next + count * each,
      *factor = gram + count * square;
    const std::vector<Tensor>& tensors = parameters.tensors();
    arrays::HOLDFAST_ISA::each_long<T>(count, 16 * each, [&, m = m](std::int64_t k) {
      const Tensor& tensor = tensors[members[k]];
      gather(rates.timescales[i], m, tensor, gradients.at(members[k]),
             moments.of(tensor.kind, tensor.layer), gradients.pitch(members[k]), x + k * each);
    });
    iterate(blas, m, q, static_cast<int>(count), x, next, gram, factor);
    arrays::HOLDFAST_ISA::each_long<T>(count, 16 * each, [&, m = m](std::int64_t k) {
      apply(rates, i, m, tensors[members[k]], x + k * each, parameters.pitch(members[k]),
            parameters.at(members[k]));
    });
  }

  static Groups groups_of(const std::vector<Tensor>& tensors) {
    Groups groups;
    for (std::size_t k = 0; k < tensors.size(); ++k)
      if (tensors[k].role == Role::matrix)
        groups[std::minmax({tensors[k].rows, tensors[k].columns})].push_back(k);
    return groups;
  }
  static std::size_t scratch_size(const Groups& groups) {
    std::int64_t most = 0;
    for (const auto& [sizes, members] : groups) {
      const std::int64_t m = sizes.first, q = sizes.second;
      const auto count = static_cast<std::int64_t>(members.size());
      most = std::max(most, slots(sizes, count) * 2 * (m * q + m * m));
    }
    return most;
  }

  // body(place in the tensor, place in x): x is transposed where the tensor has more rows than
  // columns. In squares, so that both are read in whole lines.
  template <class Body>
  static void each_place(const Tensor& tensor, int m, int pitch, const Body& body) {
    constexpr int side = 16;
    const int rows = tensor.rows, columns = tensor.columns;
    if (m == rows) {
      for (int i = 0; i < rows; ++i)
#pragma omp simd
        for (int j = 0; j < columns; ++j)
          body(std::int64_t{i} * pitch + j, std::int64_t{i} * columns + j);
      return;
    }
    for (int i0 = 0; i0 < rows; i0 += side)
      for (int j0 = 0; j0 < columns; j0 += side)
        for (int i = i0; i < std::min(i0 + side, rows); ++i)
#pragma omp simd
          for (int j = j0; j < std::min(j0 + side, columns); ++j)
            body(std::int64_t{i} * pitch + j, std::int64_t{j} * rows + i);
  }

  // The moment goes on, and what is made orthogonal is put into x with norm 1.
  static void gather(const Timescale& scale, int m, const Tensor& tensor, const T* gradient,
                     T* moment, int pitch, T* x) {
    const T gain = static_cast<T>(scale.gain), beta = static_cast<T>(scale.beta);
    const T own = static_cast<T>(1 - scale.beta);
    each_place(tensor, m, pitch, [=](std::int64_t at, std::int64_t to) {
      const T g = gradient[at], next = gain * g + beta * moment[at];
      moment[at] = next;
      x[to] = own * g + beta * next;
    });
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t k = 0; k < tensor.size(); ++k) squares += double(x[k]) * double(x[k]);
    const T factor = static_cast<T>(1 / (std::sqrt(squares) + newton_schulz_epsilon));
#pragma omp simd
    for (std::int64_t k = 0; k < tensor.size(); ++k) x[k] *= factor;
  }

  // With A = x x^T, a + b A + c A^2 = c (A + b / 2c)^2 + a - b^2 / 4c: three products and two
  // diagonals, no pass over anything else.
  static void iterate(Blas& blas, int m, int q, int batch, T*& x, T*& next, T* gram, T* factor) {
    const auto [a, b, c] = gpt_train::newton_schulz;
    const Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
    const std::int64_t square = std::int64_t{m} * m, each = std::int64_t{m} * q;
    const Gemm outer = {.precision = precision,
                        .m = m,
                        .n = m,
                        .k = q,
                        .transpose_b = true,
                        .lda = q,
                        .ldb = q,
                        .ldc = m,
                        .stride_a = each,
                        .stride_b = each,
                        .stride_c = square,
                        .batch = batch};
    const Gemm inner = {.precision = precision,
                        .m = m,
                        .n = m,
                        .k = m,
                        .lda = m,
                        .ldb = m,
                        .ldc = m,
                        .stride_a = square,
                        .stride_b = square,
                        .stride_c = square,
                        .batch = batch,
                        .alpha = c};
    const Gemm last = {.precision = precision,
                       .m = m,
                       .n = q,
                       .k = m,
                       .lda = m,
                       .ldb = q,
                       .ldc = q,
                       .stride_a = square,
                       .stride_b = each,
                       .stride_c = each,
                       .batch = batch};
    const auto add_to_diagonals = [=](T* of, double what) {
      for (std::int64_t k = 0; k < batch; ++k)
        for (int i = 0; i < m; ++i) of[k * square + i * (m + 1)] += static_cast<T>(what);
    };
    for (int step = 0; step < newton_schulz_steps; ++step) {
      blas(outer, x, x, gram);
      add_to_diagonals(gram, b / (2 * c));
      blas(inner, gram, gram, factor);
      add_to_diagonals(factor, a - b * b / (4 * c));
      blas(last, factor, x, next);
      std::swap(x, next);
    }
  }

  // Decay belongs to the first timescale, which still finds the parameters as they were.
  static void apply(const Rates& rates, std::size_t i, int m, const Tensor& tensor, const T* o,
                    int pitch, T* p) {
    const double rate = rates.muon_rate * muon_stretch(tensor.rows, tensor.columns);
    const T step = static_cast<T>(rate * rates.timescales[i].weight);
    const T kept = static_cast<T>(i == 0 ? 1 - rate * muon_decay : 1);
    each_place(tensor, m, pitch,
               [=](std::int64_t at, std::int64_t from) { p[at] = kept * p[at] - step * o[from]; });
  }

  Groups groups_;
  Buffer<T> scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
