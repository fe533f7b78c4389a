// SPDX-License-Identifier: Apache-2.0
// Properties of Newton-Schulz for any matrix: it applies an odd polynomial to the singular values
// five times.
#include <gtest/gtest.h>

#include <cmath>

#include "gpt_train/oracle/oracle.hpp"
#include "gpt_train/oracle/products.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

constexpr int rows = 12, columns = 20;

Values numbers(std::uint64_t stream, std::int64_t count) {
  Values x;
  for (std::int64_t k = 0; k < count; ++k) x.push_back(near_normal(stream, std::uint64_t(k), 7));
  return x;
}

double off(const Values& found, const Values& expected) {
  Values difference = found;
  for (std::size_t k = 0; k < found.size(); ++k) difference[k] -= expected[k];
  return norm(difference) / norm(expected);
}

// `count` orthonormal rows of `width` numbers, by Gram-Schmidt.
Values orthonormal(std::uint64_t stream, int count, int width) {
  Values all = numbers(stream, std::int64_t{count} * width);
  for (int i = 0; i < count; ++i) {
    double* const own = all.data() + std::ptrdiff_t{i} * width;
    for (int pass = 0; pass < 2; ++pass)
      for (int j = 0; j < i; ++j) {
        const double* const other = all.data() + std::ptrdiff_t{j} * width;
        double along = 0;
        for (int k = 0; k < width; ++k) along += own[k] * other[k];
        for (int k = 0; k < width; ++k) own[k] -= along * other[k];
      }
    double squares = 0;
    for (int k = 0; k < width; ++k) squares += own[k] * own[k];
    for (int k = 0; k < width; ++k) own[k] /= std::sqrt(squares);
  }
  return all;
}

// U diag(s) V with orthonormal rows of V.
Values composed(const Values& u, const Values& singular, const Values& v) {
  Values scaled = v;
  for (std::size_t k = 0; k < scaled.size(); ++k) scaled[k] *= singular[k / columns];
  return product(rows, columns, rows, u, scaled);
}

TEST(NewtonSchulz, TakesEachSingularValueThroughItsPolynomialFiveTimes) {
  const Values u = orthonormal(1, rows, rows), v = orthonormal(2, rows, columns);
  Values singular, expected;
  for (int k = 0; k < rows; ++k) singular.push_back(100 * std::pow(0.7, k));
  const double size = norm(singular);
  const auto [a, b, c] = gpt_train::newton_schulz;
  for (const double value : singular) {
    double s = value / size;
    for (int step = 0; step < 5; ++step) s = a * s + b * s * s * s + c * s * s * s * s * s;
    expected.push_back(s);
    if (value > 0.05 * size) {
      EXPECT_GT(s, 0.68) << value;
      EXPECT_LT(s, 1.14) << value;
    }
  }
  EXPECT_LT(off(newton_schulz(composed(u, singular, v), rows, columns), composed(u, expected, v)),
            1e-8);
}

TEST(NewtonSchulz, SingularValuesAreThoseThatAMatrixIsMadeOf) {
  Values singular;
  for (int k = 0; k < rows; ++k) singular.push_back(std::pow(0.7, k));
  const Values x = composed(orthonormal(1, rows, rows), singular, orthonormal(2, rows, columns));
  EXPECT_LT(off(singular_values(x, rows, columns), singular), 1e-12);
  EXPECT_LT(off(singular_values(transposed(rows, columns, x.data()), columns, rows), singular),
            1e-12);
}

TEST(NewtonSchulz, OfATurnedMatrixIsTheTurnedResult) {
  const Values x = numbers(99, rows * columns);
  const Values turned = newton_schulz(transposed(rows, columns, x.data()), columns, rows);
  EXPECT_EQ(transposed(columns, rows, turned.data()), newton_schulz(x, rows, columns));
}

TEST(NewtonSchulz, DoesNotDependOnTheSizeOfItsMatrix) {
  const Values x = numbers(99, rows * columns);
  Values large = x;
  for (double& value : large) value *= 1000;
  EXPECT_LT(off(newton_schulz(large, rows, columns), newton_schulz(x, rows, columns)), 1e-8);
}

}  // namespace
}  // namespace holdfast::gpt_train::oracle
