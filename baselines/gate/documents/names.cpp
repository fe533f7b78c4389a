// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/names.hpp"

#include <algorithm>

#include "gate/base/shown_text.hpp"
#include "gate/documents/case_name.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_bytes_of_a_name = 100, most_bytes_of_an_id = 400;

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// A part begins with no mark: neither "..", which leads elsewhere, nor an option.
bool is_part(std::string_view content, std::string_view marks) {
  return !content.empty() && is_letter(content.front()) &&
         std::all_of(content.begin(), content.end(), [&](char letter) {
           return is_letter(letter) || marks.find(letter) != marks.npos;
         });
}

// Blanks of all widths, fillers and marks of variants: those of Unicode's unseen letters that are
// not told by their numbers (shown_text).
constexpr char32_t drawn_as_nothing[][2] = {
    {0x20, 0x20},     {0xa0, 0xa0},     {0xad, 0xad},     {0x34f, 0x34f},    {0x115f, 0x1160},
    {0x1680, 0x1680}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x2000, 0x200a},  {0x202f, 0x202f},
    {0x205f, 0x205f}, {0x206a, 0x206f}, {0x2800, 0x2800}, {0x3000, 0x3000},  {0x3164, 0x3164},
    {0xfe00, 0xfe0f}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0xe0080, 0xe0fff}};

bool is_within_a_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// Of a letter's bytes in UTF-8.
char32_t code_of(std::string_view letter) {
  char32_t code = static_cast<unsigned char>(letter.front());
  if (letter.size() > 1) code &= 0x7fU >> letter.size();
  for (const char byte : letter.substr(1))
    code = code << 6U | (static_cast<unsigned char>(byte) & 0x3fU);
  return code;
}

// As much of it as a sentence bears.
std::string in_quotes(std::string_view content) {
  constexpr std::size_t enough = 80;
  return content.size() > enough ? text('\'', beginning(content, enough), "...'")
                                 : text('\'', content, '\'');
}

}  // namespace

bool is_name(std::string_view content) {
  return content.size() <= most_bytes_of_a_name && is_part(content, ".+-");
}

bool is_case_id(std::string_view content) {
  if (content.size() > most_bytes_of_an_id || content.find('/') == content.npos) return false;
  while (true) {
    const std::size_t end = content.find('/');
    if (!is_part(content.substr(0, end), ".+-:=")) return false;
    if (end == content.npos) return true;
    content.remove_prefix(end + 1);
  }
}

void require_name(const Reader& reader, std::string_view key) {
  if (!is_name(key))
    throw reader.wrong(text(in_quotes(key), " is no name: letters, digits and _ . + - make one, ",
                            most_bytes_of_a_name, " at most"));
}

const std::string& name_of(const Reader& reader) {
  require_name(reader, reader.string());
  return reader.string();
}

const std::string& case_id_of(const Reader& reader, std::string_view suite) {
  const std::string& id = reader.string();
  if (!is_case_id(id))
    throw reader.wrong(text(in_quotes(id),
                            " is no id of a case: letters, digits and _ . + - : = make one, in two "
                            "parts or more that '/' divides, ",
                            most_bytes_of_an_id, " at most"));
  if (suite_of(id) != suite)
    throw reader.wrong(text(in_quotes(id), " is no case of the suite ", suite));
  return id;
}

void require_entry_key(const Reader& reader, std::string_view key) {
  const std::size_t first = key.find('|'), second = key.rfind('|');
  if (first == key.npos || !is_case_id(key.substr(0, first)) || first == second ||
      !is_name(key.substr(first + 1, second - first - 1)) || !is_name(key.substr(second + 1)))
    throw reader.wrong(
        text("the entry ", in_quotes(key), " is not named 'case id|variant|metric'"));
}

std::string as_seen(std::string_view reason) {
  std::string seen;
  while (!reason.empty()) {
    std::size_t bytes = 1;
    while (bytes < std::min<std::size_t>(4, reason.size()) && is_within_a_letter(reason[bytes]))
      ++bytes;
    const std::string_view letter = reason.substr(0, bytes);
    const char32_t code = code_of(letter);
    if (std::ranges::none_of(drawn_as_nothing, [&](const auto& range) {
          return range[0] <= code && code <= range[1];
        }))
      seen += letter;
    reason.remove_prefix(bytes);
  }
  return seen;
}

const std::string& reason_of(const Reader& reader) {
  if (as_seen(reader.string()).empty()) throw reader.wrong("'why' is a reason, and is empty");
  return reader.string();
}

}  // namespace holdfast::gate
