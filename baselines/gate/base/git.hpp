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

// git in this folder, with what it said; whoever asks looks at how it ended.
Outcome git(const std::filesystem::path& folder, std::vector<std::string> arguments);
bool succeeded(const Outcome& outcome);

// Why git did not do it, of what it said: the first line that begins with "fatal:", behind the one
// before it, which may be that of a program that git had asked; without one the last two.
std::string reason_of(std::string_view said);

// Throws Error(bad_input) where git would take what `option` was given for an option of its own,
// or for nothing. `kinds` is what may be named: "a branch or a commit".
void require_name(std::string_view option, const std::string& name, std::string_view kinds);

// What a commit says of itself.
struct CommitFacts {
  std::string subject = {};
  std::string author_time = {};  // "2026-11-21T12:00:00Z"
  std::string parent = {};       // the first; empty where there is none
  std::string branch = {};       // that is checked out, where it is at this commit
};

// Empty where the repository of `folder` does not have the commit, or there is none.
std::optional<CommitFacts> commit_facts(const std::filesystem::path& folder,
                                        const std::string& commit);

// The commit where `reference` and the working copy of `folder` part. Throws for an unknown
// reference.
std::string merge_base(const std::filesystem::path& folder, const std::string& reference);

// The files below each of `under` in `folder` at `commit`, by their path relative to `folder`, with
// their content.
std::map<std::string, std::string> files_at(const std::filesystem::path& folder,
                                            const std::vector<std::string>& under,
                                            const std::string& commit);

// The files of `folder` that git's index has, relative to it; none where there is no repository.
// Throws where there is one that git does not read.
std::vector<std::string> tracked_files(const std::filesystem::path& folder);

// The path from the top of the working copy to `folder`, "baselines" where there is none.
std::filesystem::path path_in_repository(const std::filesystem::path& folder);

}  // namespace holdfast::gate
