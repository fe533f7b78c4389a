// SPDX-License-Identifier: Apache-2.0
// What the gate asks git: a file as it stood where this change began.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/process.hpp"

namespace holdfast::gate {

// Runs git in this folder, with a given index in place of its repository's, and returns its output;
// the caller checks how it ended.
Outcome git(const std::filesystem::path& folder, std::vector<std::string> arguments,
            double patience_seconds = 60, const std::filesystem::path& index = {});
bool succeeded(const Outcome& outcome);

// Why git failed, from its output: the first line that begins with "fatal:", after the line before
// it, which may come from a program that git called; without such a line the last two.
std::string reason_of(std::string_view said);

// The names in an output that git ends with a zero each (-z).
std::vector<std::string> names_in(const std::string& output);

// Throws Error(bad_input) if git would take the value of `option` for one of its own options, or if
// it is empty or unprintable. `kinds` is what may be named: "a branch or a commit".
void require_name(std::string_view option, const std::string& name, std::string_view kinds);

// What git knows of a commit.
struct CommitFacts {
  std::string subject = {};
  std::string author_time = {};  // "2026-11-21T12:00:00Z"
  std::string parent = {};       // the first; empty where there is none
  std::string branch = {};       // the one checked out, if it is at this commit
};

// Empty if `folder` has no repository, or its repository does not have the commit.
std::optional<CommitFacts> commit_facts(const std::filesystem::path& folder,
                                        const std::string& commit);

// The commit where `reference` and the working copy of `folder` part. Throws for an unknown
// reference.
std::string merge_base(const std::filesystem::path& folder, const std::string& reference);

struct TreeEntry {
  std::string mode, type, object;
  std::size_t size = 0;  // of a file
  std::string path;      // relative to the folder
};
// What git has below each of `under` in `folder` at `commit`.
std::vector<TreeEntry> tree_at(const std::filesystem::path& folder,
                               const std::vector<std::string>& under, const std::string& commit);

// The files among them, by their path, with their content.
std::map<std::string, std::string> files_at(const std::filesystem::path& folder,
                                            const std::vector<std::string>& under,
                                            const std::string& commit);

// The files of `folder` in git's index, relative to it; none without a repository. Throws if git
// cannot read the repository.
std::vector<std::string> tracked_files(const std::filesystem::path& folder);

// The path from the top of the working copy to `folder`; "baselines" if there is no repository.
std::filesystem::path path_in_repository(const std::filesystem::path& folder);

}  // namespace holdfast::gate
