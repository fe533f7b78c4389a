// SPDX-License-Identifier: Apache-2.0
// What stands beside this command in the build: the suites, their lists, and which content they
// were built from.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/content.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// The suites of a folder, sorted: those with a <suite>.list.json, which the build writes.
std::vector<std::string> suite_names(const std::filesystem::path& folder);

std::filesystem::path list_path(const std::filesystem::path& folder, const std::string& suite);

// The binary of a suite that is named (then it is in `folder`) or given as a path. Throws
// Error(bad_input).
std::filesystem::path find_suite(const std::string& suite, const std::filesystem::path& folder);

// The program of that name in PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

// From the content.json that the build writes beside its binaries. A suite that has none was built
// elsewhere: the hash of its own bytes stands for its content then, and nothing says that the
// content is committed.
Provenance provenance(const std::filesystem::path& suite_binary);

// Why the run was not of this binary as it is now; empty where it was, or where it does not tell
// its binary and is of the same content.
std::string not_of_binary(const Run& run, const std::filesystem::path& binary);

// Why what was measured of `content` is not of the suite that the build in `folder` has; empty
// where it is.
std::string other_content(const std::filesystem::path& folder, const std::string& suite,
                          const std::string& content);

}  // namespace holdfast::gate
