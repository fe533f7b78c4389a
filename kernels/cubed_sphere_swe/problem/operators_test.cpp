// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr double rounding = 1e-14;

using Matrix = std::vector<double>;

double at(const Matrix& m, int columns, int row, int column) {
  return m[static_cast<std::size_t>(row) * columns + column];
}

double spacing(int n) {
  return std::numbers::pi / (2 * n);
}

// Points in units of the spacing, vertex 0 at zero.
std::vector<double> vertices(int n) {
  std::vector<double> x;
  for (int i = 0; i <= n; ++i) x.push_back(i);
  return x;
}
std::vector<double> centers(int n) {
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(i + 0.5);
  return x;
}

// Largest error of an operator on x^degree over the rows [first, last], relative to the row's
// largest term.
double error_on_monomial(Operator which, int n, int degree, int first, int last) {
  const bool to_vertices = which == Operator::dcv || which == Operator::pcv;
  const bool derivative = which == Operator::dcv || which == Operator::dvc;
  const auto from = to_vertices ? centers(n) : vertices(n),
             to = to_vertices ? vertices(n) : centers(n);
  const Matrix matrix = dense(which, n);
  const int columns = static_cast<int>(from.size());
  double worst = 0;
  for (int row = first; row <= last; ++row) {
    double value = 0, scale = 1;
    // Centred on the row's own point, so that rounding does not grow with n.
    for (int column = 0; column < columns; ++column) {
      const double term = at(matrix, columns, row, column) * (derivative ? spacing(n) : 1) *
                          std::pow(from[column] - to[row], degree);
      value += term;
      scale = std::max(scale, std::abs(term));
    }
    const double exact = derivative ? (degree == 1 ? 1 : 0) : (degree == 0 ? 1 : 0);
    worst = std::max(worst, std::abs(value - exact) / scale);
  }
  return worst;
}

TEST(Operators, DerivativesAreExactOnQuadraticsOnEveryRow) {
  for (const int n : {8, 9, 24})
    for (int degree = 0; degree <= 2; ++degree) {
      EXPECT_LE(error_on_monomial(Operator::dcv, n, degree, 0, n), rounding) << n << " " << degree;
      EXPECT_LE(error_on_monomial(Operator::dvc, n, degree, 0, n - 1), rounding)
          << n << " " << degree;
    }
}

TEST(Operators, DerivativesAreExactOnQuarticsInside) {
  for (int degree = 3; degree <= 4; ++degree) {
    EXPECT_LE(error_on_monomial(Operator::dcv, 24, degree, 4, 20), rounding);
    EXPECT_LE(error_on_monomial(Operator::dvc, 24, degree, 3, 20), rounding);
  }
}

TEST(Operators, InterpolationsReproduceLinearsOnEveryRow) {
  for (const int n : {8, 9, 24})
    for (int degree = 0; degree <= 1; ++degree) {
      EXPECT_LE(error_on_monomial(Operator::pcv, n, degree, 0, n), rounding) << n << " " << degree;
      EXPECT_LE(error_on_monomial(Operator::pvc, n, degree, 0, n - 1), rounding)
          << n << " " << degree;
    }
}

TEST(Operators, InterpolationsReproduceCubicsInside) {
  for (int degree = 2; degree <= 3; ++degree) {
    EXPECT_LE(error_on_monomial(Operator::pcv, 24, degree, 4, 20), rounding);
    EXPECT_LE(error_on_monomial(Operator::pvc, 24, degree, 3, 20), rounding);
  }
}

TEST(Operators, ExtrapolationIsExactOnQuadratics) {
  constexpr int n = 11;
  const auto x = centers(n);
  for (int degree = 0; degree <= 2; ++degree) {
    double first = 0, last = 0;
    for (int i = 0; i < n; ++i) {
      first += extrapolation(n, false)[i] * std::pow(x[i], degree);
      last += extrapolation(n, true)[i] * std::pow(x[i] - n, degree);
    }
    EXPECT_NEAR(first, degree == 0, rounding);
    EXPECT_NEAR(last, degree == 0, rounding);
  }
}

TEST(Operators, GradientIsTheAdjointOfDivergenceUpToTheBorder) {
  for (const int n : {8, 9, 10, 24}) {
    const Matrix dcv = dense(Operator::dcv, n), dvc = dense(Operator::dvc, n);
    const auto hv = vertex_weights(n), hc = center_weights(n);
    const auto first = extrapolation(n, false), last = extrapolation(n, true);
    for (int c = 0; c < n; ++c)
      for (int v = 0; v <= n; ++v) {
        const double border = (v == n ? last[c] : 0) - (v == 0 ? first[c] : 0);
        EXPECT_NEAR(hc[c] * at(dvc, n + 1, c, v) + at(dcv, n, v, c) * hv[v], border, rounding) << n;
      }
  }
}

TEST(Operators, InterpolationsAreAdjointToEachOther) {
  for (const int n : {8, 9, 10, 24}) {
    const Matrix pcv = dense(Operator::pcv, n), pvc = dense(Operator::pvc, n);
    const auto hv = vertex_weights(n), hc = center_weights(n);
    for (int c = 0; c < n; ++c)
      for (int v = 0; v <= n; ++v)
        EXPECT_NEAR(hv[v] * at(pcv, n, v, c), at(pvc, n + 1, c, v) * hc[c], rounding * hv[v]) << n;
  }
}

TEST(Operators, FoldingThePenaltyIntoTheDivergenceMakesItTheExactAdjoint) {
  for (const int n : {8, 9, 24}) {
    const Matrix folded = dense(Operator::adjoint, n), dvc = dense(Operator::dvc, n),
                 dcv = dense(Operator::dcv, n);
    const auto hv = vertex_weights(n), hc = center_weights(n);
    const auto first = extrapolation(n, false), last = extrapolation(n, true);
    for (int v = 0; v <= n; ++v)
      for (int c = 0; c < n; ++c) {
        const double scaled = at(folded, n, v, c) * spacing(n);
        EXPECT_NEAR(scaled, -at(dvc, n + 1, c, v) * hc[c] / hv[v] * spacing(n), rounding);
        const double border = (v == 0 ? first[c] : 0) - (v == n ? last[c] : 0);
        EXPECT_NEAR(scaled, at(dcv, n, v, c) * spacing(n) + penalty * border, rounding);
      }
  }
}

// The published decimals of the closures.
TEST(Operators, InterpolationClosuresHaveTheirPublishedValues) {
  const Matrix pvc = dense(Operator::pvc, 12), pcv = dense(Operator::pcv, 12);
  const double expected_vc[3][5] = {
      {0.56670732280533287, 0.33669270544025998, 0.1264926207034815, -0.029892648949074313, 0},
      {-0.292164164406856, 1.0948561579574516, 0.18678017730566487, 0.01052782914373957, 0},
      {0.029375615717546183, -0.18983958634212966, 0.73155232553162075, 0.4889116450929627, -0.06}};
  const double expected_cv[4][5] = {
      {1.578684684957713, -0.65736936991542594, 0.078684684957712983, 0, 0},
      {0.32422260523876884, 0.85155478952246233, -0.17577739476123116, 0, 0},
      {0.13703367242877162, 0.16343265514245675, 0.76203367242877162, -0.0625, 0},
      {-0.032839811521518263, 0.0093415948740224342, 0.5164559631263691, 81. / 142, -9. / 142}};
  for (int column = 0; column < 5; ++column) {
    for (int row = 0; row < 3; ++row)
      EXPECT_NEAR(at(pvc, 13, row, column), expected_vc[row][column], rounding);
    for (int row = 0; row < 4; ++row)
      EXPECT_NEAR(at(pcv, 12, row, column), expected_cv[row][column], rounding);
  }
}

TEST(Operators, EndsMirrorEachOther) {
  for (const int n : {8, 9, 24}) {
    for (const Operator which : {Operator::dcv, Operator::pcv, Operator::adjoint}) {
      const Matrix m = dense(which, n);
      const double sign = which == Operator::pcv ? 1 : -1;
      for (int row = 0; row <= n; ++row)
        for (int column = 0; column < n; ++column)
          EXPECT_EQ(at(m, n, n - row, n - 1 - column), sign * at(m, n, row, column)) << n;
    }
    for (const Operator which : {Operator::dvc, Operator::pvc}) {
      const Matrix m = dense(which, n);
      const double sign = which == Operator::pvc ? 1 : -1;
      for (int row = 0; row < n; ++row)
        for (int column = 0; column <= n; ++column)
          EXPECT_EQ(at(m, n + 1, n - 1 - row, n - column), sign * at(m, n + 1, row, column)) << n;
    }
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
