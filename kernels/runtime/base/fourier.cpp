// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/fourier.hpp"

#include <cmath>

#include "runtime/base/problem_name.hpp"

namespace holdfast {

std::int64_t Fft::flops() const {
  const double points = double(rows) * columns;
  return std::llround((real() ? 2.5 : 5) * points * std::log2(points) * batch);
}

std::int64_t Fft::moved_bytes() const {
  const std::int64_t frequencies = real() ? columns / 2 + 1 : columns;
  const std::int64_t numbers = (real() ? columns : 2 * columns) + 2 * frequencies;
  return stored_bytes(precision) * numbers * rows * batch;
}

std::size_t Fft::work_area_bytes() const {
  const std::size_t frequencies = real() ? columns / 2 + 1 : columns;
  const std::size_t complex_bytes = precision == Precision::f64 ? 16 : 8;
  return 2 * complex_bytes * batch * rows * frequencies;
}

std::string shown(const Fft& problem) {
  constexpr std::string_view kinds[] = {"fft complex_forward", "fft complex_backward",
                                        "fft real_forward", "fft real_backward"};
  return problem_name(kinds[static_cast<std::size_t>(problem.kind)],
                      {problem.batch, problem.rows, problem.columns}, problem.precision);
}

}  // namespace holdfast
