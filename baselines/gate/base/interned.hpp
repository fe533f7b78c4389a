// SPDX-License-Identifier: Apache-2.0
// A text that stands in many places and is kept once, for as long as the program runs.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <unordered_set>

namespace holdfast::gate {

class Interned {
 public:
  Interned(std::string_view text = "") : text_(&*all().emplace(text).first) {}
  Interned(const std::string& text) : Interned(std::string_view(text)) {}
  Interned(const char* text) : Interned(std::string_view(text)) {}

  const std::string& text() const { return *text_; }
  operator const std::string&() const { return *text_; }
  bool operator==(const Interned& other) const { return text_ == other.text_; }
  friend std::ostream& operator<<(std::ostream& out, const Interned& interned) {
    return out << interned.text();
  }

 private:
  const std::string* text_;

  static std::unordered_set<std::string>& all() {
    static std::unordered_set<std::string> texts;
    return texts;
  }
};

}  // namespace holdfast::gate
