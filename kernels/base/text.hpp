// SPDX-License-Identifier: Apache-2.0
// Helpers that compose sentences.
#pragma once

#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast {

// Concatenates everything that << can print: text("allocate ", 12, " bytes").
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

// Appends to a list in words: "a", then "a, b".
template <class Item>
void add_to(std::string& list, const Item& item, std::string_view between = ", ") {
  list += text(list.empty() ? std::string_view() : between, item);
}

// All items joined, "a, b, c"; empty if there are none.
template <class Items>
std::string listed(const Items& items, std::string_view between = ", ") {
  std::string list;
  for (const auto& item : items) add_to(list, item, between);
  return list;
}

}  // namespace holdfast
