// SPDX-License-Identifier: Apache-2.0
// A dense matrix product as data, the input of every backend's library.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/precision.hpp"
#include "runtime/base/problem_name.hpp"

namespace holdfast {

// C = alpha op(A) op(B) + beta C for `batch` row-major problems; strides in elements between
// consecutive problems, a stride of 0 uses the same matrix for all.
struct Gemm {
  Precision precision = Precision::f64;  // of A, B and the products
  std::optional<Precision> result = {};  // of C, if different
  int m = 0, n = 0, k = 0;               // op(A): [m, k], op(B): [k, n], C: [m, n]
  bool transpose_a = false, transpose_b = false;
  int lda = 0, ldb = 0, ldc = 0;  // row pitch, in elements
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int batch = 1;
  double alpha = 1, beta = 0;

  auto operator<=>(const Gemm&) const = default;
};

// A multiplication and an addition for each product.
constexpr std::int64_t flops(const Gemm& p) {
  return std::int64_t{2} * p.m * p.n * p.k * p.batch;
}

// Precision of C in memory.
constexpr Precision stored_result(const Gemm& problem) {
  const Precision given = problem.result.value_or(problem.precision);
  return given == Precision::tf32 ? Precision::f32 : given;
}

// Whether the library needs an algorithm chosen beforehand, once per problem: cuBLASLt does.
constexpr bool planned(const Gemm& problem) {
  return problem.precision == Precision::tf32 || problem.precision == Precision::bf16;
}

// "gemm [batch, m, k, n] f64"
inline std::string shown(const Gemm& problem) {
  auto words =
      problem_name("gemm", {problem.batch, problem.m, problem.k, problem.n}, problem.precision);
  if (problem.result && *problem.result != problem.precision)
    words.append(" to ").append(name(*problem.result));
  return words;
}

// The matrices of a product: D = alpha op(A) op(B) + beta C. d equals c unless the product is
// planned; D has the pitch and stride of C.
struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
};

// A and B read once, D written, and C read unless beta is 0: in 32-byte sectors that their rows lie
// in.
std::int64_t moved_bytes(const Gemm& problem, const GemmOperands& operands);

// A backend's own plan of a product, for any alpha and beta.
struct GemmPlan {
  explicit GemmPlan(const Gemm& what) : problem(what) {}
  virtual ~GemmPlan() = default;

  const Gemm problem;
};

// Bytes of device work area that a Blas allocates once: cuBLAS's workspace, set explicitly so that
// the peak is reproducible; and the limit for cuBLASLt's bf16 and tf32 algorithms.
inline constexpr std::size_t gemm_work_area_bytes = std::size_t{8} << 20;
inline constexpr std::size_t planned_gemm_work_area_bytes = std::size_t{32} << 20;

}  // namespace holdfast
