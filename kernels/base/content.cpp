// SPDX-License-Identifier: Apache-2.0
#include "base/content.hpp"

#include <re2/re2.h>

#include <cctype>
#include <fstream>
#include <iterator>

extern const char holdfast_linked_content[] __attribute__((weak));  // in suites alone

namespace holdfast {

std::filesystem::path binary_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path content_file(const std::filesystem::path& folder) {
  return folder / "content.json";
}

std::string linked_content() {
  return holdfast_linked_content ? holdfast_linked_content : "";
}

// The file has one form, with blanks anywhere and git's two keys in either order, so it needs no
// JSON parser.
std::optional<Provenance> read_content(const std::filesystem::path& file) {
  static const RE2 form(
      R"re(\{"content":"([^"\\]+)","git":\{(?:"sha":(?:null|"(\w*)"),)?"dirty":(true|false))re"
      R"re((?:,"sha":(?:null|"(\w*)"))?\}\})re");
  std::error_code problem;  // opening a FIFO would block
  if (!std::filesystem::is_regular_file(file, problem)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  std::string json((std::istreambuf_iterator<char>(stream)), {});
  std::erase_if(json, [](unsigned char letter) { return std::isspace(letter) != 0; });
  Provenance known;
  std::string dirty, sha_before, sha_after;
  if (!RE2::FullMatch(json, form, &known.content, &sha_before, &dirty, &sha_after))
    return std::nullopt;
  known.dirty = dirty == "true";
  for (const std::string& sha : {sha_before, sha_after})
    if (!sha.empty()) known.git_sha = sha;
  return known;
}

}  // namespace holdfast
