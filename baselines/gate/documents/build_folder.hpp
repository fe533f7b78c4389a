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

// The provenance in the content.json that the build writes beside its binaries. A suite without one
// was built elsewhere: the hash of its own bytes stands for its content, which nothing says is
// committed.
Provenance provenance(const std::filesystem::path& suite_binary);

// Why the run was not made with this binary as it is now; empty if it was, or if it names no binary
// and has the same content.
std::string not_of_binary(const Run& run, const std::filesystem::path& binary);

// Why results of `content` are not of the suite in the build `folder`; empty if they are.
std::string other_content(const std::filesystem::path& folder, const std::string& suite,
                          const std::string& content);

}  // namespace holdfast::gate
