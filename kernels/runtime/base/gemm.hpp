// SPDX-License-Identifier: Apache-2.0
// A dense matrix product as data: what every backend's library is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/precision.hpp"
#include "runtime/base/problem_name.hpp"

namespace holdfast {

// C = alpha op(A) op(B) + beta C for `batch` row-major problems; strides in elements between
// consecutive problems, a stride of 0 uses the same matrix for all.
struct Gemm {
  Precision precision = Precision::f64;
  int m = 0, n = 0, k = 0;  // op(A): [m, k], op(B): [k, n], C: [m, n]
  bool transpose_a = false, transpose_b = false;
  int lda = 0, ldb = 0, ldc = 0;  // row pitch, in elements
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int batch = 1;
  double alpha = 1, beta = 0;
};

// "gemm [batch, m, k, n] f64"
inline std::string shown(const Gemm& problem) {
  return problem_name("gemm", {problem.batch, problem.m, problem.k, problem.n}, problem.precision);
}

// Bytes of device work area a Blas takes once (cuBLAS's workspace, set by us so that the peak is
// reproducible).
inline constexpr std::size_t gemm_work_area_bytes = std::size_t{8} << 20;

}  // namespace holdfast
