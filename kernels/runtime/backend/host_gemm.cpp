// SPDX-License-Identifier: Apache-2.0
// Matrix products on host memory.
#include <cblas.h>

#include <bit>
#include <vector>

#include "runtime/backend/host_library.hpp"
#include "runtime/backend/host_limits.hpp"
#include "runtime/device_code/bf16.hpp"

namespace holdfast {
namespace {

CBLAS_TRANSPOSE transposed(bool yes) {
  return yes ? CblasTrans : CblasNoTrans;
}

// A batch is shared among the threads, each product on one of them: for the small matrices of a
// panel this is faster and steadier than a team for every product. A single product gets the whole
// team.
void multiply(const Gemm& p, const GemmOperands& on) {
  const auto ta = transposed(p.transpose_a), tb = transposed(p.transpose_b);
  const bool shared = p.batch > 1 && static_cast<double>(flops(p)) >= flops_worth_sharing;
#pragma omp parallel for schedule(static) num_threads(host_limits().threads) if (shared)
  for (std::int64_t i = 0; i < p.batch; ++i) {
    if (p.precision == Precision::f64)
      cblas_dgemm(CblasRowMajor, ta, tb, p.m, p.n, p.k, p.alpha,
                  static_cast<const double*>(on.a) + i * p.stride_a, p.lda,
                  static_cast<const double*>(on.b) + i * p.stride_b, p.ldb, p.beta,
                  static_cast<double*>(on.d) + i * p.stride_c, p.ldc);
    else
      cblas_sgemm(CblasRowMajor, ta, tb, p.m, p.n, p.k, static_cast<float>(p.alpha),
                  static_cast<const float*>(on.a) + i * p.stride_a, p.lda,
                  static_cast<const float*>(on.b) + i * p.stride_b, p.ldb,
                  static_cast<float>(p.beta), static_cast<float*>(on.d) + i * p.stride_c, p.ldc);
  }
}

float read(const void* from, Precision stored, std::int64_t at) {
  return stored == Precision::bf16 ? widened(static_cast<const Bf16*>(from)[at])
                                   : static_cast<const float*>(from)[at];
}

float cut_to_tf32(float x) {
  return std::bit_cast<float>(std::bit_cast<unsigned>(x) & 0xffffe000u);
}

// An operand [rows, columns] as f32 without gaps, as the matrix units read it: tf32 truncated.
std::vector<float> operand(const void* from, Precision precision, std::int64_t at, int rows,
                           int columns, int pitch) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const float x = read(from, precision, at + row * pitch + column);
      values.push_back(precision == Precision::tf32 ? cut_to_tf32(x) : x);
    }
  return values;
}

// Multiplies product i of the batch.
void multiply_widened(const Gemm& p, const GemmOperands& on, std::int64_t i) {
  const auto a = operand(on.a, p.precision, i * p.stride_a, p.transpose_a ? p.k : p.m,
                         p.transpose_a ? p.m : p.k, p.lda);
  const auto b = operand(on.b, p.precision, i * p.stride_b, p.transpose_b ? p.n : p.k,
                         p.transpose_b ? p.k : p.n, p.ldb);
  std::vector<float> sums(static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n));
  cblas_sgemm(CblasRowMajor, transposed(p.transpose_a), transposed(p.transpose_b), p.m, p.n, p.k, 1,
              a.data(), p.transpose_a ? p.m : p.k, b.data(), p.transpose_b ? p.k : p.n, 0,
              sums.data(), p.n);
  const Precision stored = stored_result(p);
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  for (std::int64_t row = 0; row < p.m; ++row)
    for (std::int64_t column = 0; column < p.n; ++column) {
      const std::int64_t at = i * p.stride_c + row * p.ldc + column;
      float sum = alpha * sums[static_cast<std::size_t>(row * p.n + column)];
      if (beta != 0) sum += beta * read(on.c, stored, at);
      if (stored == Precision::bf16)
        static_cast<Bf16*>(on.d)[at] = narrowed(sum);
      else
        static_cast<float*>(on.d)[at] = sum;
    }
}

}  // namespace

void gemm_on_host(const Gemm& problem, const GemmOperands& operands) {
  if (!planned(problem)) return multiply(problem, operands);
  for (std::int64_t i = 0; i < problem.batch; ++i) multiply_widened(problem, operands, i);
}

}  // namespace holdfast
