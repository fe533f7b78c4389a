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
// Unicode's C1 controls, direction marks, line separators, tags and noncharacters.
constexpr std::array<Range, 9> unseen = {{{0x80, 0x9f},
                                          {0x61c, 0x61c},
                                          {0x200b, 0x200f},
                                          {0x2028, 0x202e},
                                          {0x2060, 0x2069},
                                          {0xfeff, 0xfeff},
                                          {0xfff9, 0xfffb},
                                          {0xfffe, 0xffff},
                                          {0xe0000, 0xe007f}}};

// Besides those: blanks of all widths, fillers and variation selectors.
constexpr std::array<Range, 18> drawn_as_nothing = {{{0x00, 0x20},
                                                     {0x7f, 0xa0},
                                                     {0xad, 0xad},
                                                     {0x34f, 0x34f},
                                                     {0x115f, 0x1160},
                                                     {0x1680, 0x1680},
                                                     {0x17b4, 0x17b5},
                                                     {0x180b, 0x180f},
                                                     {0x2000, 0x200a},
                                                     {0x202f, 0x202f},
                                                     {0x205f, 0x205f},
                                                     {0x206a, 0x206f},
                                                     {0x2800, 0x2800},
                                                     {0x3000, 0x3000},
                                                     {0x3164, 0x3164},
                                                     {0xfe00, 0xfe0f},
                                                     {0xffa0, 0xffa0},
                                                     {0xe0080, 0xe0fff}}};

struct Letter {
  unsigned code = 0;
  std::size_t bytes = 0;  // 0: it is not UTF-8
};
constexpr std::size_t most_bytes = 4;

std::size_t bytes_of(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc0) return 0;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
}

Letter first_letter(std::string_view rest) {
  constexpr std::array<unsigned, most_bytes + 1> least = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(rest.front());
  const std::size_t bytes = bytes_of(lead);
  if (bytes == 0 || bytes > rest.size()) return {};
  unsigned code = bytes == 1 ? lead : lead & (0x7fU >> bytes);
  for (const char next : rest.substr(1, bytes - 1)) {
    if ((static_cast<unsigned char>(next) & 0xc0U) != 0x80U) return {};
    code = code << 6U | (static_cast<unsigned char>(next) & 0x3fU);
  }
  const bool half = code >= 0xd800 && code <= 0xdfff;
  if (code < least[bytes] || code > 0x10ffff || half) return {};
  return {code, bytes};
}

bool is_within(const auto& ranges, unsigned code) {
  return std::ranges::any_of(
      ranges, [&](const Range& range) { return range.first <= code && code <= range.last; });
}

bool is_unseen(unsigned code) {
  return is_within(unseen, code);
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

std::string as_seen(std::string_view content) {
  std::string seen;
  while (!content.empty()) {
    const Letter letter = first_letter(content);
    const std::size_t bytes = std::max<std::size_t>(letter.bytes, 1);
    const bool is_nothing = is_unseen(letter.code) || is_within(drawn_as_nothing, letter.code);
    if (letter.bytes == 0 || !is_nothing) seen += content.substr(0, bytes);
    content.remove_prefix(bytes);
  }
  return seen;
}

std::string shown_text(std::string_view content) {
  const auto is_plain = [](char letter) {
    return letter >= ' ' && letter < '\x7f' && letter != '#';
  };
  if (std::all_of(content.begin(), content.end(), is_plain)) return std::string(content);
  std::string out;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto byte = static_cast<unsigned char>(content[i]);
    if (byte < 0x20 || byte == 0x7f) {
      out += control(content[i]);
    } else if (content.substr(i).starts_with("##[")) {
      out += "##\\[";
      i += 2;
    } else if (const Letter letter = first_letter(content.substr(i)); letter.bytes == 0) {
      out += hexadecimal("\\x%02x", byte);
    } else {
      out += is_unseen(letter.code) ? hexadecimal("\\u%04x", letter.code)
                                    : std::string(content.substr(i, letter.bytes));
      i += letter.bytes - 1;
    }
  }
  return out;
}

std::string shell_word(std::string_view content) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (!content.empty() && content.find_first_not_of(plain) == std::string_view::npos)
    return std::string(content);
  std::string out = "'";
  for (const char letter : content) out += letter == '\'' ? "'\\''" : std::string(1, letter);
  return out + "'";
}

std::string_view beginning(std::string_view content, std::size_t most) {
  if (content.size() <= most) return content;
  while (most > 0 && (static_cast<unsigned char>(content[most]) & 0xc0U) == 0x80U) --most;
  return content.substr(0, most);
}

}  // namespace holdfast::gate
