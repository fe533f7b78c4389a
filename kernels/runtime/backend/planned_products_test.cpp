// SPDX-License-Identifier: Apache-2.0
// Products in bf16 and tf32: the same values on host and on the emulated device, the same counts
// everywhere.
#include <gmock/gmock.h>

#include <bit>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "runtime/testing/products.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

constexpr std::size_t elements = 1600;

// Pitches are larger than the rows, so that a wrong one shows; m, n, k differ for the same reason.
Gemm problem(bool transpose_a, bool transpose_b, Precision precision = Precision::bf16) {
  return {.precision = precision,
          .m = 16,
          .n = 24,
          .k = 8,
          .transpose_a = transpose_a,
          .transpose_b = transpose_b,
          .lda = 16,
          .ldb = 32,
          .ldc = 32,
          .stride_a = 264,
          .stride_b = 0,
          .stride_c = 520,
          .batch = 3,
          .alpha = 1.5,
          .beta = -0.5};
}

// The part of an operand that a matrix unit reads.
double seen(Bf16 x) {
  return number(x);
}
double seen(float x) {
  return double{std::bit_cast<float>(std::bit_cast<unsigned>(x) & 0xffffe000u)};
}

struct PlannedProducts : testing::TestWithParam<const char*> {
  static std::unique_ptr<Backend> open(std::string_view name) {
    return name == "emulated" ? make_emulated_backend({}) : open_backend(name);
  }

  // The backend's product `p` against its definition in double.
  template <class T, class Result>
  void expect_product(const Gemm& p, double tolerance) {
    const auto a = field<T>(1, elements), b = field<T>(2, elements);
    const auto c = field<Result>(3, elements);
    const Buffer<T> left(*backend, a, "a"), right(*backend, b, "b");
    const Buffer<Result> before(*backend, c, "c"), after(*backend, field<Result>(4, elements), "d");
    blas(p, {left.data(), right.data(), before.data(), after.data()});
    const auto d = after.to_host(), unchanged = before.to_host();
    for (int s = 0; s < p.batch; ++s)
      for (int i = 0; i < p.m; ++i)
        for (int j = 0; j < p.n; ++j) {
          double sum = 0;
          for (int l = 0; l < p.k; ++l)
            sum += seen(a[at(s * p.stride_a + (p.transpose_a ? l * p.lda + i : i * p.lda + l))]) *
                   seen(b[at(s * p.stride_b + (p.transpose_b ? j * p.ldb + l : l * p.ldb + j))]);
          const auto k = at(s * p.stride_c + i * p.ldc + j);
          ASSERT_NEAR(number(d[k]), p.alpha * sum + p.beta * number(c[k]), tolerance) << k;
          ASSERT_EQ(number(unchanged[k]), number(c[k]));
        }
  }
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::unique_ptr<Backend> backend = open(GetParam());
  Blas blas{*backend, planned_gemm_work_area_bytes};
  Ledger& ledger = backend->ledger;
  Buffer<Bf16> x{*backend, elements, "x"};

  void multiply(const Gemm& p) { blas(p, x.data(), x.data(), x.data()); }
};

using OnEach = PlannedProducts;
INSTANTIATE_TEST_SUITE_P(All, OnEach, testing::Values("host", "emulated", "cuda-dry:sm_90"),
                         [](const auto& tested) {
                           return std::string(std::string_view(tested.param).substr(0, 4));
                         });
struct WhereItExecutes : PlannedProducts {};
INSTANTIATE_TEST_SUITE_P(All, WhereItExecutes, testing::Values("host", "emulated"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(WhereItExecutes, Bf16AgreesWithTheDefinitionInEveryTransposition) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) expect_product<Bf16, Bf16>(problem(a, b), 8 * 0x1p-8);
}

// Far below bf16's rounding: both the sums and the result are f32.
TEST_P(WhereItExecutes, Bf16IsAddedUpIntoF32) {
  auto p = problem(false, true);
  p.result = Precision::f32;
  expect_product<Bf16, float>(p, 1e-5);
}

TEST_P(WhereItExecutes, Tf32ReadsTenBitsOfItsOperands) {
  expect_product<float, float>(problem(true, false, Precision::tf32), 1e-5);
}

// The old contents may be NaN.
TEST_P(WhereItExecutes, ABetaOfZeroReadsNothing) {
  auto p = problem(false, false);
  p.beta = 0;
  p.stride_b = 0;
  const Buffer<Bf16> ones(*backend, std::vector<Bf16>(elements, narrowed(1)), "ones");
  const Buffer<Bf16> d(*backend, std::vector<Bf16>(elements, Bf16{0xffff}), "d");
  blas(p, ones.data(), ones.data(), d.data());
  EXPECT_EQ(number(d.to_host()[0]), 1.5 * 8);
}

TEST_P(OnEach, AProblemIsPlannedOnceForEveryAlphaAndBeta) {
  auto p = problem(false, false);
  multiply(p);
  p.alpha = 2, p.beta = 1;
  multiply(p);
  EXPECT_EQ(ledger.counts.plans, 1);
  EXPECT_EQ(ledger.counts.library_calls, 2);
  p.m = 8;
  multiply(p);
  EXPECT_EQ(ledger.counts.plans, 2);
}

TEST_P(OnEach, APitchABatchOrAStrideMakesAnotherProblem) {
  const Gemm p = problem(false, false);
  std::vector<Gemm> others(6, p);
  others[0].lda += 8, others[1].ldb += 8, others[2].ldc += 8;
  others[3].batch = 1, others[4].stride_a += 8, others[5].stride_c += 8;
  blas.plan(p);
  for (const Gemm& other : others) blas.plan(other);
  EXPECT_EQ(ledger.counts.plans, 7);
}

TEST_P(OnEach, ASteadyStepMakesNoPlan) {
  blas.plan(problem(false, false));
  ledger.enter(Ledger::Phase::steady);
  EXPECT_NO_THROW(multiply(problem(false, false)));
  const Error refused = error_of([&] { multiply(problem(true, false)); });
  EXPECT_EQ(refused.fault(), Fault::broken_rule);
  EXPECT_THAT(refused.what(), HasSubstr("plans gemm [3, 16, 8, 24] bf16 in a steady step"));
}

TEST_P(OnEach, OtherFormatsNeedNoPlanAndPutTheirResultWhereCIs) {
  const Buffer<float> y(*backend, elements, "y"), z(*backend, elements, "z");
  auto p = problem(false, false, Precision::f32);
  blas(p, y.data(), y.data(), z.data());
  EXPECT_EQ(ledger.counts.plans, 0);
  EXPECT_THAT(error_of([&] {
                blas(p, {y.data(), y.data(), y.data(), z.data()});
              }).what(),
              HasSubstr("f32 puts its result where C is"));
}

TEST_P(OnEach, AnotherResultIsRefusedUnlessItIsTheSumsOfBf16) {
  auto p = problem(false, false, Precision::f32);
  p.result = Precision::bf16;
  EXPECT_THAT(error_of([&] { multiply(p); }).what(),
              HasSubstr("a matrix product of f32 into bf16"));
  p.precision = Precision::bf16;
  p.result = Precision::f64;
  EXPECT_THAT(error_of([&] { multiply(p); }).what(),
              HasSubstr("a matrix product of bf16 into f64"));
}

TEST_P(OnEach, AMatrixThatBeginsBetweenMultiplesOf16BytesIsRefused) {
  for (int which = 0; which < 4; ++which) {
    const auto at = [&](int matrix) { return x.data() + (matrix == which ? 4 : 0); };
    EXPECT_THAT(error_of([&] {
                  blas(problem(false, false), {at(0), at(1), at(2), at(3)});
                }).what(),
                HasSubstr("does not begin at a multiple of 16 bytes"))
        << which;
  }
}

TEST(PlannedProductsOfADevice, HaveTheLargerWorkArea) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const Blas blas(*backend, planned_gemm_work_area_bytes);
  EXPECT_EQ(backend->ledger.live_bytes, 32 << 20);
}

TEST(PlannedProductsOfADevice, AreCapturedOncePlanned) {
  const auto backend = open_backend("cuda-dry:sm_90");
  Device& device = *backend->device;
  Blas blas(*backend, planned_gemm_work_area_bytes);
  Buffer<Bf16> x(*backend, elements, "x");
  const auto step = [&] { blas(problem(false, false), x.data(), x.data(), x.data()); };
  EXPECT_THAT(error_of([&] { (void)device.capture(step); }).what(),
              HasSubstr("plans a matrix product while a graph is captured"));
  blas.plan(problem(false, false));
  const Graph graph = device.capture(step);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].library, "gemm [3, 16, 8, 24] bf16");
  EXPECT_EQ(graph.uses.size(), 2u);  // x and the work area
  device.replay(graph);
  EXPECT_EQ(backend->ledger.counts.library_calls, 1);
  EXPECT_EQ(backend->ledger.counts.plans, 1);
}

}  // namespace
}  // namespace holdfast
