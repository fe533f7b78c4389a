// SPDX-License-Identifier: Apache-2.0
// Loops over fields and dense operators. Of the reference host variant alone, compiled for each
// instruction set in a namespace of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cubed_sphere_swe/host_values.hpp"
#include "cubed_sphere_swe/operators.hpp"
#include "cubed_sphere_swe/sphere.hpp"
#include "runtime/blas.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// Elements of a field from which threads share them; below, waking a thread costs more than it
// brings.
inline constexpr std::size_t worth_sharing = 1 << 15;

// body(k) for every element of a field of T.
template <class T, class Body>
void for_each(std::size_t count, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (count >= worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for simd schedule(static) nowait
    for (std::size_t k = 0; k < count; ++k) body(k);
  }
}

// body(k, k modulo one panel) for every element of a field of T with `per_panel` elements.
template <class T, class Body>
void for_each_on_panels(int per_panel, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (std::size_t{panels} * per_panel >= \
                                                            worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for schedule(static) nowait
    for (int panel = 0; panel < panels; ++panel) {
      const int first = panel * per_panel;
#pragma omp simd
      for (int k = 0; k < per_panel; ++k) body(first + k, k);
    }
  }
}

// Matrix products of T; every matrix without transposition unless said.
template <class T>
class Products {
 public:
  explicit Products(Backend& backend) : blas_(backend) {}
  void operator()(Gemm problem, const T* a, const T* b, T* c) {
    problem.precision = std::is_same_v<T, float> ? Precision::f32 : Precision::f64;
    blas_(problem, a, b, c);
  }

 private:
  Blas blas_;
};

// An operator as a matrix [rows, depth], n+1 or n of either.
template <class T>
class DenseOperator {
 public:
  DenseOperator(Backend& backend, Operator which, int n)
      : onto_vertices_(which == Operator::dcv || which == Operator::pcv),
        rows_(onto_vertices_ ? n + 1 : n),
        depth_(onto_vertices_ ? n : n + 1),
        lines_(n + 1),
        matrix_(table<T>(backend, dense(which, n), "operators")) {}

  // y = A x along x1, per panel: x [6, depth, n+1], y [6, rows, n+1].
  void along_x1(Products<T>& products, const T* x, T* y, double alpha = 1, double beta = 0) const {
    products({.m = rows_,
              .n = lines_,
              .k = depth_,
              .lda = depth_,
              .ldb = lines_,
              .ldc = lines_,
              .stride_b = std::int64_t{depth_} * lines_,
              .stride_c = std::int64_t{rows_} * lines_,
              .batch = panels,
              .alpha = alpha,
              .beta = beta},
             matrix_.data(), x, y);
  }
  // y = x A^T, the same along x2: x [6, n+1, depth], y [6, n+1, rows].
  void along_x2(Products<T>& products, const T* x, T* y, double alpha = 1, double beta = 0) const {
    products({.m = lines_,
              .n = rows_,
              .k = depth_,
              .transpose_b = true,
              .lda = depth_,
              .ldb = depth_,
              .ldc = rows_,
              .stride_a = std::int64_t{lines_} * depth_,
              .stride_c = std::int64_t{lines_} * rows_,
              .batch = panels,
              .alpha = alpha,
              .beta = beta},
             x, matrix_.data(), y);
  }
  // y = A x for one line whose elements are `step` apart.
  void to_line(Products<T>& products, const T* x, int step, T* y) const {
    products({.m = rows_, .n = 1, .k = depth_, .lda = depth_, .ldb = step, .ldc = 1},
             matrix_.data(), x, y);
  }

 private:
  bool onto_vertices_;
  int rows_, depth_, lines_;
  Buffer<T> matrix_;
};

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
