// SPDX-License-Identifier: Apache-2.0
#include "gate/base/git.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "gate/base/error.hpp"
#include "gate/base/shown_text.hpp"

namespace holdfast::gate {
namespace {

// Empty where the folder is in no repository.
std::filesystem::path top_of_repository(const std::filesystem::path& folder) {
  std::filesystem::path top = std::filesystem::weakly_canonical(folder);
  for (; top.has_relative_path(); top = top.parent_path())
    if (std::filesystem::exists(top / ".git")) return top;
  return "";
}

}  // namespace

Outcome git(const std::filesystem::path& folder, std::vector<std::string> arguments,
            double patience_seconds, const std::filesystem::path& index) {
  arguments.insert(arguments.begin(), {"git", "-C", folder.string()});
  Task task{.program = "/usr/bin/env",
            .arguments = std::move(arguments),
            .environment = {{"TZ", "UTC"}, {"GIT_TERMINAL_PROMPT", "0"}},
            .timeout_seconds = patience_seconds};
  if (!index.empty()) task.environment["GIT_INDEX_FILE"] = index.string();
  Outcome outcome = run_task(task);
  if (outcome.ending == Ending::timed_out)
    outcome.complaints += text("\nfatal: it was not done after ", patience_seconds, " s");
  return outcome;
}

bool succeeded(const Outcome& outcome) {
  return outcome.ending == Ending::exited && outcome.code == 0;
}

std::string reason_of(std::string_view said) {
  constexpr std::string_view heading = "fatal:";
  const std::size_t begin =
      said.starts_with(heading) ? 0 : said.find(text('\n', heading));  // or the line's end before
  std::string lines(said.substr(0, begin == said.npos ? begin : said.find('\n', begin + 1)));
  std::replace(lines.begin(), lines.end(), '\t', ' ');
  return last_lines(lines, 2);
}

std::vector<std::string> names_in(const std::string& output) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\0', begin), output.size());
    names.push_back(output.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

void require_name(std::string_view option, const std::string& name, std::string_view kinds) {
  if (name.empty() || name.starts_with('-') || shown_text(name) != name)
    throw Error(Fault::bad_input,
                text("--", option, "=", name, ": not a valid git name; name ", kinds));
}

std::optional<CommitFacts> commit_facts(const std::filesystem::path& folder,
                                        const std::string& commit) {
  const auto is_digit = [](char digit) { return std::isxdigit(static_cast<unsigned char>(digit)); };
  if (commit.empty() || !std::all_of(commit.begin(), commit.end(), is_digit)) return std::nullopt;
  // What a user's configuration adds to a log (log.showSignature), or how it encodes one, is left
  // out.
  const Outcome shown = git(folder, {"show", "--no-patch", "--no-show-signature",
                                     "--encoding=UTF-8", "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
                                     "--format=%ad%n%P%n%s", commit + "^{commit}", "--"});
  if (!succeeded(shown)) return std::nullopt;
  const std::size_t time = shown.output.find('\n'), parents = shown.output.find('\n', time + 1);
  CommitFacts facts{.author_time = shown.output.substr(0, time)};
  facts.parent = shown.output.substr(time + 1, parents - time - 1);
  facts.parent = facts.parent.substr(0, facts.parent.find(' '));
  facts.subject = first_line(shown.output.substr(parents + 1));
  const Outcome head = git(folder, {"rev-parse", "HEAD"});
  const Outcome branch = git(folder, {"symbolic-ref", "--quiet", "--short", "HEAD"});
  if (succeeded(head) && first_line(head.output) == commit && succeeded(branch))
    facts.branch = first_line(branch.output);
  return facts;
}

std::string merge_base(const std::filesystem::path& folder, const std::string& reference) {
  require_name("baseline-ref", reference, "a branch or a commit");
  const Outcome found = git(folder, {"merge-base", "HEAD", reference});
  const std::string said = reason_of(found.complaints);
  if (!succeeded(found))
    throw Error(Fault::bad_input,
                text("--baseline-ref=", reference, ": git finds no merge base with it",
                     said.empty() ? "" : text(" (", said, ")"),
                     "; fetch it with its history, or name another commit"));
  return first_line(found.output);
}

std::vector<TreeEntry> tree_at(const std::filesystem::path& folder,
                               const std::vector<std::string>& under, const std::string& commit) {
  std::vector<std::string> list = {"ls-tree", "-r", "-z", "--long", commit, "--"};
  list.insert(list.end(), under.begin(), under.end());
  const Outcome listed = git(folder, std::move(list));
  if (!succeeded(listed))
    throw Error(Fault::bad_input, text("git cannot list ", folder.string(), " at ", commit, ": ",
                                       reason_of(listed.complaints)));
  // Each is "<mode> <type> <object> <size>\t<path>"; blanks may stand before the size.
  std::vector<TreeEntry> entries;
  for (const std::string& line : names_in(listed.output)) {
    TreeEntry& entry = entries.emplace_back();
    std::istringstream(line) >> entry.mode >> entry.type >> entry.object >> entry.size;
    entry.path = line.substr(line.find('\t') + 1);
  }
  return entries;
}

std::map<std::string, std::string> files_at(const std::filesystem::path& folder,
                                            const std::vector<std::string>& under,
                                            const std::string& commit) {
  std::vector<std::string> show = {"show"};
  std::vector<std::pair<std::string, std::size_t>> sizes;  // by path
  for (const TreeEntry& entry : tree_at(folder, under, commit)) {
    if (entry.type != "blob") continue;
    show.push_back(entry.object);
    sizes.emplace_back(entry.path, entry.size);
  }
  if (sizes.empty()) return {};
  const Outcome shown = git(folder, std::move(show));
  std::map<std::string, std::string> files;
  std::size_t begin = 0;
  for (const auto& [path, size] : sizes) {
    if (begin + size <= shown.output.size()) files[path] = shown.output.substr(begin, size);
    begin += size;
  }
  if (!succeeded(shown) || begin != shown.output.size())
    throw Error(Fault::bad_input, text("git cannot show ", folder.string(), " at ", commit, ": ",
                                       reason_of(shown.complaints)));
  return files;
}

std::vector<std::string> tracked_files(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder) || top_of_repository(folder).empty()) return {};
  const Outcome listed = git(folder, {"ls-files", "-z", "--cached"});
  if (!succeeded(listed))
    throw Error(Fault::incomplete,
                text("git cannot list ", folder.string(), " (", reason_of(listed.complaints),
                     "), so a file that is gone would not be missed; install git, or allow it: ",
                     "git config --global --add safe.directory ",
                     shell_word(top_of_repository(folder).string())));
  return names_in(listed.output);
}

std::filesystem::path path_in_repository(const std::filesystem::path& folder) {
  const std::filesystem::path top = top_of_repository(folder);
  if (top.empty()) return "baselines";
  return std::filesystem::weakly_canonical(folder).lexically_relative(top);
}

}  // namespace holdfast::gate
