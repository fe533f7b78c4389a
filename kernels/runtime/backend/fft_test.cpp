// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "runtime/backend/buffer.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> complex_field(std::size_t size) {
  std::vector<Complex> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = {value(1, i), value(2, i)};
  return values;
}

std::vector<double> real_field(std::size_t size) {
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = value(3, i);
  return values;
}

// x, result: [rows, columns]; the discrete Fourier transform by its definition. sign -1 is forward.
std::vector<Complex> definition(const std::vector<Complex>& x, int rows, int columns, int sign) {
  std::vector<Complex> result(x.size());
  for (int p = 0; p < rows; ++p)
    for (int q = 0; q < columns; ++q)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
          result[p * columns + q] +=
              x[i * columns + j] *
              std::polar(1.0, sign * 2 * std::numbers::pi *
                                  (double(p * i) / rows + double(q * j) / columns));
  return result;
}

struct HostFft : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_F(HostFft, ComplexTransformsAgreeWithTheDefinition) {
  const int rows = 6, columns = 10;
  const auto x = complex_field(rows * columns);
  for (const auto& [kind, sign] :
       {std::pair{Fft::Kind::complex_forward, -1}, std::pair{Fft::Kind::complex_backward, 1}}) {
    const Buffer<Complex> in(*backend, x, "in"), out(*backend, x.size(), "out");
    Transform(*backend, {.kind = kind, .rows = rows, .columns = columns})(in.data(), out.data());
    const auto result = out.to_host();
    const auto wanted = definition(x, rows, columns, sign);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LT(std::abs(result[i] - wanted[i]), 1e-12);
  }
}

TEST_F(HostFft, ATransformInPlaceGivesTheSame) {
  const auto x = complex_field(30);
  const Buffer<Complex> inout(*backend, x, "x");
  Transform(*backend, {.kind = Fft::Kind::complex_forward, .columns = 30})(inout.data(),
                                                                           inout.data());
  const auto result = inout.to_host();
  const auto wanted = definition(x, 1, 30, -1);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LT(std::abs(result[i] - wanted[i]), 1e-12);
}

TEST_F(HostFft, RealTransformsKeepHalfOfTheFrequenciesOfEachOfABatch) {
  const int rows = 4, columns = 9, half = columns / 2 + 1, batch = 3;
  const auto x = real_field(batch * rows * columns);
  const Buffer<double> in(*backend, x, "in");
  const Buffer<Complex> out(*backend, batch * rows * half, "out");
  Transform(*backend, {.rows = rows, .columns = columns, .batch = batch})(in.data(), out.data());
  const auto result = out.to_host();
  for (int b = 0; b < batch; ++b) {
    const auto begin = x.begin() + b * rows * columns;
    const auto wanted =
        definition(std::vector<Complex>(begin, begin + rows * columns), rows, columns, -1);
    for (int p = 0; p < rows; ++p)
      for (int q = 0; q < half; ++q)
        ASSERT_LT(std::abs(result[(b * rows + p) * half + q] - wanted[p * columns + q]), 1e-12);
  }
}

TEST_F(HostFft, BackwardAfterForwardMultipliesByTheNumberOfElements) {
  const int rows = 5, columns = 8;
  const auto x = real_field(rows * columns);
  const Buffer<double> in(*backend, x, "in"), back(*backend, x.size(), "back");
  const Buffer<Complex> spectrum(*backend, rows * (columns / 2 + 1), "spectrum");
  Transform(*backend, {.rows = rows, .columns = columns})(in.data(), spectrum.data());
  Transform(*backend, {.kind = Fft::Kind::real_backward, .rows = rows, .columns = columns})(
      spectrum.data(), back.data());
  const auto result = back.to_host();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(result[i], rows * columns * x[i], 1e-12);
}

TEST_F(HostFft, SinglePrecisionRoundTripsToo) {
  const std::vector<float> x = {1, -2, 3, 0.5, 7, -1, 2, 4};
  const Buffer<float> in(*backend, x, "in"), back(*backend, x.size(), "back");
  const Buffer<std::complex<float>> spectrum(*backend, 5, "spectrum");
  Transform(*backend, {.precision = Precision::f32, .columns = 8})(in.data(), spectrum.data());
  Transform(*backend,
            {.precision = Precision::f32, .kind = Fft::Kind::real_backward, .columns = 8})(
      spectrum.data(), back.data());
  const auto result = back.to_host();
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(result[i], 8 * x[i], 1e-4);
}

TEST_F(HostFft, CountsItsPlanAndEachCall) {
  const Buffer<Complex> x(*backend, complex_field(8), "x");
  Transform transform(*backend, {.kind = Fft::Kind::complex_forward, .columns = 8});
  transform(x.data(), x.data());
  transform(x.data(), x.data());
  EXPECT_EQ(backend->ledger.counts.plans, 1);
  EXPECT_EQ(backend->ledger.counts.library_calls, 2);
}

TEST_F(HostFft, RefusesAnEmptyTransform) {
  EXPECT_THROW(Transform(*backend, {.rows = 4, .columns = 0}), Error);
}

TEST_F(HostFft, RefusesARealTransformInPlace) {
  const Buffer<double> x(*backend, 20, "x");
  Transform transform(*backend, {.columns = 8});
  EXPECT_THROW(transform(x.data(), x.data()), Error);
}

TEST_F(HostFft, RefusesAnArrayOffFftwsAlignment) {
  const Buffer<Complex> out(*backend, 5, "out");
  const Buffer<double> x(*backend, real_field(9), "x");
  Transform transform(*backend, {.columns = 8});
  EXPECT_THROW(transform(x.data() + 1, out.data()), Error);
}

TEST(FftWorkArea, IsTwiceTheComplexElements) {
  EXPECT_EQ((Fft{.rows = 4, .columns = 8, .batch = 3}.work_area_bytes()), 2u * 16 * 3 * 4 * 5);
  EXPECT_EQ((Fft{.precision = Precision::f32, .kind = Fft::Kind::complex_forward, .columns = 8}
                 .work_area_bytes()),
            2u * 8 * 8);
}

}  // namespace
}  // namespace holdfast
