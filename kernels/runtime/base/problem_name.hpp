// SPDX-License-Identifier: Apache-2.0
// Names of library calls in recordings, graphs and messages: "gemm [6, 48, 49, 49] f64".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "runtime/base/precision.hpp"

namespace holdfast {

// Only appends to a string: a recording names every call, and a stream would cost more than the
// call.
inline std::string problem_name(std::string_view what, std::initializer_list<int> extents,
                                Precision precision) {
  std::string words(what);
  const char* separator = " [";
  for (const int extent : extents) {
    words += separator;
    words += std::to_string(extent);
    separator = ", ";
  }
  words += "] ";
  words += name(precision);
  return words;
}

}  // namespace holdfast
