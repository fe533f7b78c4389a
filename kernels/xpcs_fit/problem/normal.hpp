// SPDX-License-Identifier: Apache-2.0
// F, g and N of a whole fit from the sums of its groups of angles: one group if contrast and offset
// are shared, one per angle if not.
#pragma once

#include <span>
#include <vector>

#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

// The size of F, g [p], N [p, p] in a row, the result of normal equations.
constexpr std::size_t normal_count(int p) {
  return 1 + static_cast<std::size_t>(p) + static_cast<std::size_t>(p) * p;
}

inline int group_count(const Options& options, int angles) {
  return options.scaling == Scaling::per_angle ? angles : 1;
}

// sums: [groups, sum_count]; out: normal_count(p) values.
inline void assemble(const Options& options, int angles, std::span<const double> sums,
                     std::span<const double> parameters, double* out) {
  const int own = local_parameters(options.mode), p = parameter_count(options, angles);
  const bool per_angle = options.scaling == Scaling::per_angle;
  for (std::size_t k = 0; k < normal_count(p); ++k) out[k] = 0;
  double *const g = out + 1, *const n = g + p;
  for (int a = 0; a < group_count(options, angles); ++a) {
    const double* from = sums.data() + a * sum_count(own);
    const double contrast = parameters[global_parameter(0, a, angles, per_angle)];
    out[0] += from[0] / 2;
    for (int k = 0; k < own; ++k) {
      const int row = global_parameter(k, a, angles, per_angle);
      const double by = carries_contrast(k) ? contrast : 1;
      g[row] += by * from[1 + k];
      for (int l = 0; l <= k; ++l) {
        const int column = global_parameter(l, a, angles, per_angle);
        const double both = carries_contrast(l) ? by * contrast : by;
        n[row * p + column] += both * from[1 + own + packed(k, l)];
      }
    }
  }
  // Only one order of each pair of parameters was summed.
  for (int row = 0; row < p; ++row)
    for (int column = 0; column < row; ++column) {
      const double entry = n[row * p + column] + n[column * p + row];
      n[row * p + column] = n[column * p + row] = entry;
    }
}

}  // namespace holdfast::xpcs_fit
