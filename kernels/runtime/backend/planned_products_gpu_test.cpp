// SPDX-License-Identifier: Apache-2.0
// Products in bf16 and tf32 on a real GPU, compared with those of the host.
#include <gtest/gtest.h>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/testing/products.hpp"
#include "testing/expect_values.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast {
namespace {

constexpr std::size_t elements = 40000;

template <class T>
std::vector<double> numbers(const std::vector<T>& values) {
  std::vector<double> all;
  for (const T value : values) all.push_back(number(value));
  return all;
}

// D apart from C, with pitches and a batch.
Gemm problem(Precision precision, bool transpose_a, bool transpose_b) {
  return {.precision = precision,
          .m = 64,
          .n = 96,
          .k = 40,
          .transpose_a = transpose_a,
          .transpose_b = transpose_b,
          .lda = transpose_a ? 72 : 48,
          .ldb = transpose_b ? 40 : 104,
          .ldc = 112,
          .stride_a = 4096,
          .stride_b = 0,
          .stride_c = 8192,
          .batch = 3,
          .alpha = 1.5,
          .beta = -0.5};
}

template <class T, class Result>
std::vector<Result> multiplied(std::string_view name, const Gemm& p) {
  const auto backend = open_backend(name);
  const Buffer<T> a(*backend, field<T>(1, elements), "a"), b(*backend, field<T>(2, elements), "b");
  const Buffer<Result> c(*backend, field<Result>(3, elements), "c"),
      d(*backend, field<Result>(4, elements), "d");
  Blas blas(*backend, planned_gemm_work_area_bytes);
  blas(p, {a.data(), b.data(), c.data(), d.data()});
  return d.to_host();
}

template <class T, class Result>
void expect_product(const Gemm& p, double tolerance) {
  expect_values(shown(p), numbers(multiplied<T, Result>("cuda", p)),
                numbers(multiplied<T, Result>("host", p)), tolerance);
}

TEST(GpuProducts, AgreeWithTheHostInEveryTransposition) {
  for (const bool a : {false, true})
    for (const bool b : {false, true}) {
      expect_product<Bf16, Bf16>(problem(Precision::bf16, a, b), 0.13);  // a last place of 16
      // Operands may be truncated or rounded to ten bits.
      expect_product<float, float>(problem(Precision::tf32, a, b), 0.05);
      auto p = problem(Precision::bf16, a, b);
      p.result = Precision::f32;
      expect_product<Bf16, float>(p, 1e-4);
    }
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
