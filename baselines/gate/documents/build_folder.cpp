// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/build_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "gate/base/json.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/options.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view list_suffix = ".list.json";

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

// The content of the build or, without a content.json, of the suite alone: its binary's hash, as
// its results have it.
std::optional<std::string> content_of_build(const fs::path& folder, const std::string& suite) {
  if (fs::exists(content_file(folder))) {
    const auto known = read_content(content_file(folder));
    return known ? std::optional(known->content) : std::nullopt;
  }
  if (!fs::is_regular_file(folder / suite)) return std::nullopt;
  return provenance(folder / suite).content;
}

}  // namespace

std::vector<std::string> suite_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > list_suffix.size() && name.ends_with(list_suffix))
      names.push_back(name.substr(0, name.size() - list_suffix.size()));
  }
  if (problem)
    throw Error(Fault::bad_input,
                text("cannot read the folder ", folder.string(), ": ", problem.message(),
                     "; give the folder of the suites as --bin-dir"));
  std::sort(names.begin(), names.end());
  return names;
}

fs::path list_path(const fs::path& folder, const std::string& suite) {
  return folder / text(suite, list_suffix);
}

fs::path find_suite(const std::string& suite, const fs::path& folder) {
  if (suite.find('/') != std::string::npos) {
    if (is_program(suite)) return fs::absolute(suite);
    std::error_code problem;
    throw Error(Fault::bad_input, text(fs::exists(suite, problem) ? suite + " is no program"
                                                                  : "there is no program " + suite,
                                       "; give the path of a suite's binary, or its name"));
  }
  if (is_program(folder / suite)) return fs::absolute(folder / suite);
  const std::vector<std::string> names = suite_names(folder);
  const auto meant = nearest(suite, names);
  throw Error(Fault::bad_input,
              text("there is no suite '", suite, "' in ", folder.string(), "; ",
                   meant ? text("did you mean ", *meant, "?")
                   : names.empty()
                       ? "no suite is built there: build them, or name their folder with --bin-dir"
                       : text("it has ", listed(names))));
}

std::optional<fs::path> find_program(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::path candidate = fs::path(folder) / name; ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  return std::nullopt;
}

Provenance provenance(const fs::path& suite_binary) {
  const fs::path path = content_file(suite_binary.parent_path());
  if (!fs::exists(path)) return {.content = sha256(read_file(suite_binary)), .dirty = true};
  if (const auto known = read_content(path)) return *known;
  throw Error(Fault::bad_input,
              text(path.string(), " is not what the build writes: build again to have it written"));
}

std::string not_of_binary(const Run& run, const fs::path& binary) {
  if (provenance(binary).content != run.content)
    return text("measured from other content than ", binary.string(), " is built from");
  if (run.binary && *run.binary != sha256(read_file(binary)))
    return text("measured from another build of its content than ", binary.string(),
                " (by other flags, another compiler or other libraries)");
  return "";
}

std::string other_content(const fs::path& folder, const std::string& suite,
                          const std::string& content) {
  const auto built = content_of_build(folder, suite);
  if (built == content) return "";
  return built ? text("measured of the content ", readable(content, ""), ", and the build in ",
                      folder.string(), " is of ", readable(*built, ""))
               : text("nothing tells which content the build is made of: ",
                      content_file(folder).string(), " is not there, or not what a build writes");
}

}  // namespace holdfast::gate
