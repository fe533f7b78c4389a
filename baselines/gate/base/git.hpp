// SPDX-License-Identifier: Apache-2.0
// What the gate asks git: a file as it stood where this change began.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::gate {

// The commit where `reference` and the working copy of `folder` part. Throws for an unknown
// reference.
std::string merge_base(const std::filesystem::path& folder, const std::string& reference);

// The content of `folder`/`relative` at `commit`; empty where that commit does not have the file.
std::optional<std::string> file_at(const std::filesystem::path& folder, const std::string& relative,
                                   const std::string& commit);

// The files of `folder`/`under` at `commit`, relative to `folder`.
std::vector<std::string> files_at(const std::filesystem::path& folder, const std::string& under,
                                  const std::string& commit);

// The files of `folder` that git's index has, relative to it; none where there is no repository.
std::vector<std::string> tracked_files(const std::filesystem::path& folder);

// The path from the top of the working copy to `folder`, "baselines" where there is none.
std::filesystem::path path_in_repository(const std::filesystem::path& folder);

}  // namespace holdfast::gate
