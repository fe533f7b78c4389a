// SPDX-License-Identifier: Apache-2.0
// The three products that the oracle needs, as loops.
#pragma once

#include <cstdint>
#include <vector>

namespace holdfast::gpt_train::oracle {

// a: [m, k], b: [k, n]; added to c: [m, n].
inline void add_product(std::int64_t m, int n, int k, const double* a, const double* b, double* c) {
  for (std::int64_t i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * k + l] * b[std::int64_t{l} * n + j];
}
// a: [k, m], transposed.
inline void add_transposed_product(int m, int n, std::int64_t k, const double* a, const double* b,
                                   double* c) {
  for (std::int64_t l = 0; l < k; ++l)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) c[std::int64_t{i} * n + j] += a[l * m + i] * b[l * n + j];
}
inline std::vector<double> transposed(int rows, int columns, const double* a) {
  std::vector<double> out(std::int64_t{rows} * columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out[std::int64_t{j} * rows + i] = a[std::int64_t{i} * columns + j];
  return out;
}

// x [m, k] w [k, n].
inline std::vector<double> product(std::int64_t m, int n, int k, const std::vector<double>& x,
                                   const std::vector<double>& w) {
  std::vector<double> out(m * n);
  add_product(m, n, k, x.data(), w.data(), out.data());
  return out;
}
// The backward pass of out = x w: adds to dw and dx, given dout.
inline void product_backward(std::int64_t m, int n, int k, const std::vector<double>& x,
                             const std::vector<double>& w, const std::vector<double>& dout,
                             std::vector<double>& dw, std::vector<double>& dx) {
  add_transposed_product(k, n, m, x.data(), dout.data(), dw.data());
  const std::vector<double> back = transposed(k, n, w.data());
  add_product(m, k, n, dout.data(), back.data(), dx.data());
}

}  // namespace holdfast::gpt_train::oracle
