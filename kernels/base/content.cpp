// SPDX-License-Identifier: Apache-2.0
#include "base/content.hpp"

#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>

namespace holdfast {

std::filesystem::path binary_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path content_file(const std::filesystem::path& folder) {
  return folder / "content.json";
}

// One form, with blanks anywhere and git's two keys in either order: no reason for a parser of
// JSON.
std::optional<Provenance> read_content(const std::filesystem::path& file) {
  static const std::regex form(
      R"re(\{"content":"([^"\\]+)","git":\{(?:"sha":(?:null|"(\w*)"),)?"dirty":(true|false))re"
      R"re((?:,"sha":(?:null|"(\w*)"))?\}\})re");
  std::ifstream stream(file, std::ios::binary);
  std::string json((std::istreambuf_iterator<char>(stream)), {});
  std::erase_if(json, [](unsigned char letter) { return std::isspace(letter) != 0; });
  std::smatch found;
  if (!std::regex_match(json, found, form)) return std::nullopt;
  Provenance known{.content = found[1], .dirty = found[3] == "true"};
  for (const std::size_t sha : {2, 4})
    if (found[sha].length() > 0) known.git_sha = found[sha];
  return known;
}

}  // namespace holdfast
