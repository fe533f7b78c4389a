// SPDX-License-Identifier: Apache-2.0
// A text that stands in many places and is kept once, for as long as the program runs.
#pragma once

#include <cstdint>
#include <deque>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdfast::gate {

class Interned {
 public:
  Interned(std::string_view text = "") : number_(number_of(text)) {}
  Interned(const std::string& text) : Interned(std::string_view(text)) {}
  Interned(const char* text) : Interned(std::string_view(text)) {}

  const std::string& text() const { return all()[number_]; }
  operator const std::string&() const { return text(); }
  bool operator==(const Interned& other) const { return number_ == other.number_; }
  friend std::ostream& operator<<(std::ostream& out, const Interned& interned) {
    return out << interned.text();
  }

 private:
  std::uint32_t number_;  // half a pointer: a long history holds tens of millions

  static std::deque<std::string>& all() {
    static std::deque<std::string> texts;
    return texts;
  }
  static std::uint32_t number_of(std::string_view text) {
    static std::unordered_map<std::string_view, std::uint32_t> numbers;  // views of all()
    if (const auto at = numbers.find(text); at != numbers.end()) return at->second;
    const auto number = static_cast<std::uint32_t>(all().size());
    numbers.emplace(all().emplace_back(text), number);
    return number;
  }
};

}  // namespace holdfast::gate
