// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

std::string_view replaced_sources() {
  const char* setting = std::getenv("HOLDFAST_SOURCES");
  return setting ? setting : "";
}

// Sources requested while HOLDFAST_SOURCES named this folder.
struct Asked {
  std::string folder = {}, last = {};  // last: a path
  int files = 0, found = 0;
};
std::mutex asking;
Asked asked;

void note(std::string_view path, bool found) {
  const std::lock_guard lock(asking);
  if (asked.folder != replaced_sources()) asked = {.folder = std::string(replaced_sources())};
  asked.last = path;
  ++asked.files;
  asked.found += found;
}

}  // namespace

void check_sources() {
  std::error_code failure;
  if (sources_overridden() && !std::filesystem::is_directory(replaced_sources(), failure))
    throw Error(Fault::bad_input,
                text("HOLDFAST_SOURCES is '", replaced_sources(),
                     "', which is no folder: name one that holds .cu files, or unset it"));
}

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
  check_sources();
  const std::filesystem::path root = replaced_sources();
  for (const auto& file : {root / path, root / short_name(path), root / bare_name(path)}) {
    if (!std::filesystem::is_regular_file(file)) continue;
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream contents;
    contents << stream.rdbuf();
    if (!stream)
      throw Error(Fault::bad_input, text("failed to read ", file.string(),
                                         ", which HOLDFAST_SOURCES puts in place of ", path));
    log(LogLevel::info, text(path, " is read from ", file.string()));
    note(path, true);
    return contents.str();
  }
  note(path, false);
  return std::string(embedded);
}

void warn_of_unused_sources() {
  const std::lock_guard lock(asking);
  if (asked.folder != replaced_sources() || asked.files == 0 || asked.found > 0) return;
  log(LogLevel::warn,
      text("HOLDFAST_SOURCES is '", asked.folder, "', which holds nothing of what was compiled (",
           plural(asked.files, "file"), ", the last ", asked.last,
           "): the built-in device code was; name another folder, or unset it"));
}

}  // namespace holdfast
