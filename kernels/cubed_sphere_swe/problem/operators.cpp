// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/operators.hpp"

#include <cstddef>
#include <numbers>

namespace holdfast::cubed_sphere_swe {
namespace {

using Rows = const double (*)[5];

struct Shape {
  Rows rows = nullptr;
  bool to_vertices = false;
  bool derivative = false;
};

Shape shape(Operator which) {
  switch (which) {
    case Operator::dcv:
      return {operators.dcv, true, true};
    case Operator::adjoint:
      return {operators.adjoint, true, true};
    case Operator::pcv:
      return {operators.pcv, true, false};
    case Operator::dvc:
      return {operators.dvc, false, true};
    case Operator::pvc:
      return {operators.pvc, false, false};
  }
  return {};
}

double spacing(int n) {
  return std::numbers::pi / (2 * n);
}

// Quadrature weights: `upper` at either end, 1 between, times dx.
std::vector<double> weights(int points, double dx, std::initializer_list<double> upper) {
  std::vector<double> all(static_cast<std::size_t>(points), dx);
  int i = 0;
  for (const double weight : upper) {
    all[i] = all[points - 1 - i] = weight * dx;
    ++i;
  }
  return all;
}

}  // namespace

std::vector<double> dense(Operator which, int n) {
  const Shape op = shape(which);
  const int rows = op.to_vertices ? n + 1 : n, columns = op.to_vertices ? n : n + 1;
  const double scale = op.derivative ? 1 / spacing(n) : 1;
  std::vector<double> matrix(static_cast<std::size_t>(rows) * columns);
  for (int row = 0; row < rows; ++row) {
    const double* taps = op.rows[op.to_vertices ? cv_class(row, n) : vc_class(row, n)];
    const int start = op.to_vertices ? cv_start(row, n) : vc_start(row, n);
    // The fifth tap of an interior row is zero and may lie beyond the last column.
    for (int tap = 0; tap < 5; ++tap)
      if (taps[tap] != 0)
        matrix[static_cast<std::size_t>(row) * columns + start + tap] = scale * taps[tap];
  }
  return matrix;
}

std::vector<double> apply(Operator which, int direction, int n, std::span<const double> x) {
  const Shape op = shape(which);
  const int rows = op.to_vertices ? n + 1 : n, columns = op.to_vertices ? n : n + 1, lines = n + 1;
  const double scale = op.derivative ? 1 / spacing(n) : 1;
  // Strides of neighbours along the direction, and of consecutive lines.
  const int step = direction == 1 ? lines : 1;
  const int line_in = direction == 1 ? 1 : columns, line_out = direction == 1 ? 1 : rows;
  std::vector<double> all(std::size_t{6} * rows * lines);
  for (int panel = 0; panel < 6; ++panel)
    for (int row = 0; row < rows; ++row) {
      const double* taps = op.rows[op.to_vertices ? cv_class(row, n) : vc_class(row, n)];
      const int start = op.to_vertices ? cv_start(row, n) : vc_start(row, n);
      const double* in = x.data() + std::size_t(panel) * columns * lines + start * step;
      double* out = all.data() + std::size_t(panel) * rows * lines + row * step;
      for (int line = 0; line < lines; ++line) {
        double value = 0;
        for (int tap = 0; tap < 5; ++tap)
          if (taps[tap] != 0) value += taps[tap] * in[line * line_in + tap * step];
        out[line * line_out] = scale * value;
      }
    }
  return all;
}

std::vector<double> vertex_weights(int n) {
  return weights(n + 1, spacing(n), {7. / 18, 9. / 8, 1., 71. / 72});
}

std::vector<double> center_weights(int n) {
  return weights(n, spacing(n), {13. / 12, 7. / 8, 25. / 24});
}

std::vector<double> extrapolation(int n, bool last) {
  std::vector<double> row(static_cast<std::size_t>(n));
  const double taps[3] = {extrapolate(1., 0., 0.), extrapolate(0., 1., 0.),
                          extrapolate(0., 0., 1.)};
  for (int i = 0; i < 3; ++i) row[last ? n - 1 - i : i] = taps[i];
  return row;
}

}  // namespace holdfast::cubed_sphere_swe
