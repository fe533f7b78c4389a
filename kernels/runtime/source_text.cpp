// SPDX-License-Identifier: Apache-2.0
#include "runtime/source_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/error.hpp"
#include "runtime/log.hpp"

namespace holdfast {
namespace {

std::string_view directory() {
  const char* setting = std::getenv("HOLDFAST_SOURCES");
  return setting ? setting : "";
}

}  // namespace

bool sources_overridden() {
  return !directory().empty();
}

std::string_view bare_name(std::string_view name) {
  return name.substr(name.rfind('/') + 1);
}

std::string source_text(std::string_view name, std::string_view embedded) {
  if (!sources_overridden()) return std::string(embedded);
  const std::filesystem::path root = directory();
  if (!std::filesystem::is_directory(root))
    throw Error(
        Fault::bad_input,
        text("HOLDFAST_SOURCES is '", directory(),
             "', which is no folder: name the folder that holds the .cu files, or unset it"));
  for (const auto& file : {root / name, root / bare_name(name)}) {
    if (!std::filesystem::is_regular_file(file)) continue;
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream contents;
    contents << stream.rdbuf();
    if (!stream)
      throw Error(Fault::bad_input, text("failed to read ", file.string(),
                                         ", which HOLDFAST_SOURCES puts in place of ", name));
    log(LogLevel::info, text(name, " is read from ", file.string()));
    return contents.str();
  }
  return std::string(embedded);
}

}  // namespace holdfast
