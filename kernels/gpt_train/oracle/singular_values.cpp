// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>

#include "gpt_train/oracle/oracle.hpp"
#include "gpt_train/oracle/products.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

// Rotates two rows of `width` numbers within their plane until they are orthogonal; returns whether
// they were not.
bool turn_apart(double* a, double* b, int width) {
  double of_a = 0, of_b = 0, both = 0;
  for (int k = 0; k < width; ++k) {
    of_a += a[k] * a[k];
    of_b += b[k] * b[k];
    both += a[k] * b[k];
  }
  if (std::abs(both) <= 1e-15 * std::sqrt(of_a * of_b)) return false;
  const double ratio = (of_b - of_a) / (2 * both);
  const double tangent = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::sqrt(1 + ratio * ratio));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
  for (int k = 0; k < width; ++k) {
    const double old = a[k];
    a[k] = cosine * old - sine * b[k];
    b[k] = sine * old + cosine * b[k];
  }
  return true;
}

}  // namespace

// By Jacobi: rotates pairs of rows until all are orthogonal; their norms are the singular values.
Values singular_values(Values x, int rows, int columns) {
  constexpr int sweeps = 30;
  if (rows > columns) return singular_values(transposed(rows, columns, x.data()), columns, rows);
  const auto row = [&](int i) { return x.data() + std::ptrdiff_t{i} * columns; };
  bool turned = true;
  for (int sweep = 0; turned && sweep < sweeps; ++sweep) {
    turned = false;
    for (int i = 0; i < rows; ++i)
      for (int j = i + 1; j < rows; ++j) turned |= turn_apart(row(i), row(j), columns);
  }
  Values all;
  for (int i = 0; i < rows; ++i) all.push_back(norm(Values(row(i), row(i) + columns)));
  std::sort(all.begin(), all.end(), std::greater<>());
  return all;
}

}  // namespace holdfast::gpt_train::oracle
