// SPDX-License-Identifier: Apache-2.0
#include "gate/base/git.hpp"

#include <algorithm>

#include "gate/base/error.hpp"
#include "gate/base/process.hpp"

namespace holdfast::gate {
namespace {

constexpr double patience_seconds = 60;

Outcome git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"git", "-C", folder.string()});
  return run_task({.program = "/usr/bin/env",
                   .arguments = std::move(arguments),
                   .timeout_seconds = patience_seconds});
}

std::vector<std::string> split_at_nul(const std::string& output) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\0', begin), output.size());
    names.push_back(output.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

// Empty where the folder is in no repository.
std::filesystem::path top_of_repository(const std::filesystem::path& folder) {
  std::filesystem::path top = std::filesystem::weakly_canonical(folder);
  for (; top.has_relative_path(); top = top.parent_path())
    if (std::filesystem::exists(top / ".git")) return top;
  return "";
}

bool succeeded(const Outcome& outcome) {
  return outcome.ending == Ending::exited && outcome.code == 0;
}

}  // namespace

std::string merge_base(const std::filesystem::path& folder, const std::string& reference) {
  const Outcome found = git(folder, {"merge-base", "HEAD", reference});
  if (!succeeded(found))
    throw Error(Fault::bad_input,
                text("--baseline-ref=", reference, ": git finds no merge base with it (",
                     last_lines(found.complaints, 1),
                     "); fetch it with its history, or name another commit"));
  return found.output.substr(0, found.output.find('\n'));
}

std::optional<std::string> file_at(const std::filesystem::path& folder, const std::string& relative,
                                   const std::string& commit) {
  const Outcome listed = git(folder, {"ls-tree", "--name-only", commit, "--", relative});
  if (!succeeded(listed))
    throw Error(Fault::bad_input, text("git cannot list ", relative, " at ", commit, ": ",
                                       last_lines(listed.complaints, 1)));
  if (listed.output.empty()) return std::nullopt;
  const Outcome shown = git(folder, {"show", commit + ":./" + relative});
  if (!succeeded(shown))
    throw Error(Fault::bad_input, text("git cannot show ", relative, " at ", commit, ": ",
                                       last_lines(shown.complaints, 1)));
  return shown.output;
}

std::vector<std::string> files_at(const std::filesystem::path& folder, const std::string& under,
                                  const std::string& commit) {
  const Outcome listed = git(folder, {"ls-tree", "-r", "-z", "--name-only", commit, "--", under});
  if (!succeeded(listed))
    throw Error(Fault::bad_input, text("git cannot list ", under, " at ", commit, ": ",
                                       last_lines(listed.complaints, 1)));
  return split_at_nul(listed.output);
}

std::vector<std::string> tracked_files(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder) || top_of_repository(folder).empty()) return {};
  const Outcome listed = git(folder, {"ls-files", "-z", "--cached"});
  return succeeded(listed) ? split_at_nul(listed.output) : std::vector<std::string>();
}

std::filesystem::path path_in_repository(const std::filesystem::path& folder) {
  const std::filesystem::path top = top_of_repository(folder);
  if (top.empty()) return "baselines";
  return std::filesystem::weakly_canonical(folder).lexically_relative(top);
}

}  // namespace holdfast::gate
