// SPDX-License-Identifier: Apache-2.0
#include "gate/report/markdown_text.hpp"

#include <algorithm>
#include <cctype>

#include "gate/base/shown_text.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_bytes = 1500;
// Invisible; breaks a mention, a reference or a link.
constexpr std::string_view nothing = "&#8203;";

std::string cut(std::string content) {
  if (content.size() <= most_bytes) return content;
  return std::string(beginning(content, most_bytes)) + " ...";
}

std::string escaped(char letter) {
  switch (letter) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '$':
      return "&#36;";
    default:
      return std::string_view("\\`*~[]|").find(letter) == std::string_view::npos
                 ? std::string(1, letter)
                 : std::string{'\\', letter};
  }
}

// Ignores the case of letters.
bool ends_in(std::string_view content, std::string_view word) {
  return content.size() >= word.size() &&
         std::equal(
             word.begin(), word.end(), content.end() - static_cast<std::ptrdiff_t>(word.size()),
             [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

// More backticks than any row of them in the content.
std::string fence_around(std::string_view content, std::size_t fewest) {
  std::size_t longest = 0, row = 0;
  for (const char letter : content) {
    row = letter == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  return std::string(std::max(longest + 1, fewest), '`');
}

}  // namespace

std::string markdown_text(std::string_view content) {
  const std::string shown = cut(shown_text(content));
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::string_view before = std::string_view(shown).substr(0, i),
                           rest = std::string_view(shown).substr(i);
    if (rest.starts_with("://") || rest.starts_with('@') || rest.starts_with('#') ||
        (rest.starts_with('.') && ends_in(before, "www")) ||
        (rest.starts_with('-') && ends_in(before, "gh")))
      out += nothing;
    out += escaped(shown[i]);
    if (rest.starts_with('@') || rest.starts_with('#')) out += nothing;
  }
  return out;
}

std::string markdown_code(std::string_view content, Within where) {
  std::string shown = cut(shown_text(content));
  if (shown.empty()) return "-";
  const std::string fence = fence_around(shown, 1);
  if (where == Within::table)
    for (std::size_t at = shown.find('|'); at != shown.npos; at = shown.find('|', at + 2))
      shown.insert(at, 1, '\\');
  const std::string_view space = shown.front() == '`' || shown.back() == '`' ? " " : "";
  return fence + std::string(space) + shown + std::string(space) + fence;
}

std::string markdown_block(std::string_view lines) {
  const std::string fence = fence_around(lines, 3);
  return fence + '\n' + std::string(lines) + fence + '\n';
}

}  // namespace holdfast::gate
