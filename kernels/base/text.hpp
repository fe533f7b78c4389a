// SPDX-License-Identifier: Apache-2.0
// Sentences out of parts.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

// text("allocate ", 12, " bytes") is everything that << prints, in a row.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return std::move(stream).str();
}

// "1 case", "2 cases".
inline std::string plural(std::size_t count, std::string_view thing) {
  return text(count, ' ', thing, count == 1 ? "" : "s");
}

// Whether it says nothing: white space alone.
inline bool is_blank(std::string_view words) {
  return words.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

}  // namespace holdfast
