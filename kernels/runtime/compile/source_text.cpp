// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

std::string_view replaced_sources() {
  const char* setting = std::getenv("HOLDFAST_SOURCES");
  return setting ? setting : "";
}

}  // namespace

bool sources_overridden() {
  return !replaced_sources().empty();
}

std::string_view bare_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string short_name(std::string_view path) {
  const auto folder = path.find('/');
  return folder == path.npos ? std::string(path)
                             : text(path.substr(0, folder + 1), bare_name(path));
}

std::string source_text(std::string_view path, std::string_view embedded) {
  if (!sources_overridden()) return std::string(embedded);
  const std::filesystem::path root = replaced_sources();
  if (!std::filesystem::is_directory(root))
    throw Error(
        Fault::bad_input,
        text("HOLDFAST_SOURCES is '", replaced_sources(),
             "', which is no folder: name the folder that holds the .cu files, or unset it"));
  for (const auto& file : {root / path, root / short_name(path), root / bare_name(path)}) {
    if (!std::filesystem::is_regular_file(file)) continue;
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream contents;
    contents << stream.rdbuf();
    if (!stream)
      throw Error(Fault::bad_input, text("failed to read ", file.string(),
                                         ", which HOLDFAST_SOURCES puts in place of ", path));
    log(LogLevel::info, text(path, " is read from ", file.string()));
    return contents.str();
  }
  return std::string(embedded);
}

}  // namespace holdfast
