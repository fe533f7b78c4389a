// SPDX-License-Identifier: Apache-2.0
#include "gate/base/shown_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace holdfast::gate {
namespace {

struct Range {
  unsigned first, last;
};
// Unicode's C1 controls, marks of direction, separators of lines, and what is no character.
constexpr std::array<Range, 8> unseen = {{{0x80, 0x9f},
                                          {0x61c, 0x61c},
                                          {0x200b, 0x200f},
                                          {0x2028, 0x202e},
                                          {0x2060, 0x2069},
                                          {0xfeff, 0xfeff},
                                          {0xfff9, 0xfffb},
                                          {0xfffe, 0xffff}}};

// The code point of two or three bytes that begins at `at`, which is well-formed UTF-8; else 0.
unsigned code_point(std::string_view rest, std::size_t& bytes) {
  const auto byte = [&](std::size_t i) {
    return i < rest.size() ? static_cast<unsigned>(static_cast<unsigned char>(rest[i])) : 0U;
  };
  const auto next = [&](std::size_t i) { return byte(i) & 0x3fU; };
  if (byte(0) >= 0xc2 && byte(0) < 0xe0) {
    bytes = 2;
    return (byte(0) & 0x1fU) << 6U | next(1);
  }
  if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
    bytes = 3;
    return (byte(0) & 0xfU) << 12U | next(1) << 6U | next(2);
  }
  return 0;
}

bool is_unseen(unsigned code) {
  for (const auto& [first, last] : unseen)
    if (code >= first && code <= last) return true;
  return false;
}

std::string hexadecimal(const char* format, unsigned code) {
  std::array<char, 16> out = {};
  (void)std::snprintf(out.data(), out.size(), format, code);
  return out.data();
}

std::string control(char letter) {
  switch (letter) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return hexadecimal("\\x%02x", static_cast<unsigned char>(letter));
  }
}

}  // namespace

std::string shown_text(std::string_view content) {
  const auto is_plain = [](char letter) {
    return letter >= ' ' && letter < '\x7f' && letter != '#';
  };
  if (std::all_of(content.begin(), content.end(), is_plain)) return std::string(content);
  std::string out;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto letter = static_cast<unsigned char>(content[i]);
    std::size_t bytes = 1;
    if (letter < 0x20 || letter == 0x7f) {
      out += control(content[i]);
    } else if (content.substr(i).starts_with("##[")) {
      out += "##\\[";
      i += 2;
    } else if (const unsigned code = code_point(content.substr(i), bytes); is_unseen(code)) {
      out += hexadecimal("\\u%04x", code);
      i += bytes - 1;
    } else {
      out += content[i];
    }
  }
  return out;
}

}  // namespace holdfast::gate
