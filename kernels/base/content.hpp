// SPDX-License-Identifier: Apache-2.0
// The content a build was made from: content.json, which the build writes beside its binaries
// (cmake/content.cmake), and the hash that each suite was linked with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace holdfast {

struct Provenance {
  std::string content = {};                 // "sha256:.." over all inputs of the build
  std::optional<std::string> git_sha = {};  // empty without a commit
  bool dirty = false;                       // the content differs from the commit's
};

// The folder of this executable.
std::filesystem::path binary_folder();

std::filesystem::path content_file(const std::filesystem::path& folder);

// The hash of the content that this executable was linked from; empty where it holds none.
std::string linked_content();

// Empty unless the file has the form that the build writes.
std::optional<Provenance> read_content(const std::filesystem::path& file);

}  // namespace holdfast
