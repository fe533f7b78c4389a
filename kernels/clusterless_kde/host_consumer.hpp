// SPDX-License-Identifier: Apache-2.0
// What a filter takes from a row of out: ln sum_p exp(out) and where out is largest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "clusterless_kde/formulas.hpp"
#include "clusterless_kde/host_vectors.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

struct RowSummary {
  double log_sum = 0;
  std::int64_t largest = 0;  // the first of them
};

template <class T>
RowSummary summary_of(const T* out, std::int64_t bins) {
  constexpr int lanes = Lanes<T>::count;
  const std::int64_t largest = std::max_element(out, out + bins) - out;
  const T most = out[largest];
  Vector<T> sum = {};
  for (std::int64_t p = 0; p < bins; p += lanes) {
    Vector<T> x = everywhere(most) - T(2) * Format<T>::bias;  // far below: adds 0
    if (bins - p >= lanes)
      x = load(out + p);
    else
      for (int k = 0; k < bins - p; ++k) x[k] = out[p + k];
    sum += exp2<T>((x - most) * T(log2_of_e));
  }
  double total = 0;
  for (int k = 0; k < lanes; ++k) total += sum[k];
  return {most + std::log(total), largest};
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
