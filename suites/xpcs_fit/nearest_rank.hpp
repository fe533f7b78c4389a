// SPDX-License-Identifier: Apache-2.0
// A percentile that is one of the values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace holdfast::xpcs_fit {

// The smallest of the values that at least `percent` percent of them, 1 to 100, do not exceed.
inline double nearest_rank(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() * percent + 99) / 100 - 1];
}

}  // namespace holdfast::xpcs_fit
