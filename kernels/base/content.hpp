// SPDX-License-Identifier: Apache-2.0
// Which content a build was made of: content.json, which the build writes beside its binaries
// (cmake/content.cmake).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace holdfast {

struct Provenance {
  std::string content = {};                 // "sha256:.." over all that the build is made of
  std::optional<std::string> git_sha = {};  // empty where nothing is committed yet
  bool dirty = false;                       // the content is not that of a commit
};

// The folder of this executable.
std::filesystem::path binary_folder();

std::filesystem::path content_file(const std::filesystem::path& folder);

// Empty where the file is not what the build writes.
std::optional<Provenance> read_content(const std::filesystem::path& file);

}  // namespace holdfast
