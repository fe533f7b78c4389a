// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/blas.hpp"

#include <gtest/gtest.h>

#include "runtime/backend/buffer.hpp"
#include "runtime/testing/products.hpp"

namespace holdfast {
namespace {

// The product by its definition, in double.
template <class Real>
std::vector<double> expected(const Gemm& p, const std::vector<Real>& a, const std::vector<Real>& b,
                             const std::vector<Real>& c) {
  std::vector<double> result(c.begin(), c.end());
  for (int s = 0; s < p.batch; ++s)
    for (int i = 0; i < p.m; ++i)
      for (int j = 0; j < p.n; ++j) {
        double sum = 0;
        for (int l = 0; l < p.k; ++l)
          sum += double{a[s * p.stride_a + (p.transpose_a ? l * p.lda + i : i * p.lda + l)]} *
                 double{b[s * p.stride_b + (p.transpose_b ? j * p.ldb + l : l * p.ldb + j)]};
        double& element = result[s * p.stride_c + i * p.ldc + j];
        element = p.alpha * sum + p.beta * element;
      }
  return result;
}

template <class Real>
void expect_product(const Gemm& p, double tolerance, std::size_t elements = 1000) {
  const auto backend = open_backend("host");
  const auto a = field<Real>(1, elements), b = field<Real>(2, elements),
             c = field<Real>(3, elements);
  const Buffer<Real> da(*backend, a, "a"), db(*backend, b, "b"), dc(*backend, c, "c");
  Blas blas(*backend);
  blas(p, da.data(), db.data(), dc.data());
  const auto result = dc.to_host();
  const auto wanted = expected(p, a, b, c);
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_NEAR(result[i], wanted[i], tolerance) << "element " << i;
}

// Pitches are larger than the rows, so that a wrong one shows; m, n, k differ for the same reason.
Gemm problem(bool transpose_a, bool transpose_b) {
  return {.m = 5,
          .n = 7,
          .k = 3,
          .transpose_a = transpose_a,
          .transpose_b = transpose_b,
          .lda = 9,
          .ldb = 11,
          .ldc = 8,
          .stride_a = 60,
          .stride_b = 90,
          .stride_c = 50,
          .batch = 4,
          .alpha = 1.5,
          .beta = -0.5};
}

TEST(HostBlas, AgreesWithTheDefinitionInEveryTransposition) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) expect_product<double>(problem(a, b), 1e-13);
}

TEST(HostBlas, AgreesInSinglePrecision) {
  auto p = problem(true, false);
  p.precision = Precision::f32;
  expect_product<float>(p, 1e-5);
}

TEST(HostBlas, AStrideOfZeroUsesTheSameMatrixForAll) {
  auto p = problem(false, false);
  p.stride_b = 0;
  expect_product<double>(p, 1e-13);
}

// 2.05 MFLOP; the batches above are a thousand times smaller.
TEST(HostBlas, ABatchLargeEnoughForSeveralThreadsAgreesToo) {
  constexpr int n = 40, size = n * n, batch = 16;
  expect_product<double>({.m = n,
                          .n = n,
                          .k = n,
                          .lda = n,
                          .ldb = n,
                          .ldc = n,
                          .stride_a = size,
                          .stride_b = size,
                          .stride_c = size,
                          .batch = batch},
                         1e-12, size * batch);
}

TEST(HostBlas, CountsOneLibraryCallPerBatch) {
  const auto backend = open_backend("host");
  const Buffer<double> x(*backend, std::vector<double>(1000), "x");
  Blas blas(*backend);
  blas(problem(false, false), x.data(), x.data(), x.data());
  EXPECT_EQ(backend->ledger.counts.library_calls, 1);
}

TEST(HostBlas, RefusesAWorkAreaThatIsSmallerThanALibraryIsTold) {
  const auto backend = open_backend("host");
  EXPECT_THROW(Blas(*backend, gemm_work_area_bytes - 1), Error);
}

TEST(HostBlas, RefusesAPitchShorterThanARow) {
  const auto backend = open_backend("host");
  auto p = problem(false, true);
  p.ldb = 2;
  Blas blas(*backend);
  EXPECT_THROW(blas(p, nullptr, nullptr, nullptr), Error);
}

}  // namespace
}  // namespace holdfast
