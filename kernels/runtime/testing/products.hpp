// SPDX-License-Identifier: Apache-2.0
// For tests of matrix products: operands of each format, and their numbers in double.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "runtime/device_code/bf16.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast {

template <class T>
std::vector<T> field(unsigned tag, std::size_t elements) {
  std::vector<T> values;
  for (std::size_t i = 0; i < elements; ++i) {
    if constexpr (std::is_same_v<T, Bf16>)
      values.push_back(narrowed(static_cast<float>(value(tag, i))));
    else
      values.push_back(static_cast<T>(value(tag, i)));
  }
  return values;
}

inline double number(Bf16 x) {
  return double{widened(x)};
}
inline double number(float x) {
  return double{x};
}

}  // namespace holdfast
