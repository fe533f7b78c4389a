// SPDX-License-Identifier: Apache-2.0
// A history on a branch of its own in a git repository, to which several machines add runs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace holdfast::gate {

struct DataBranch {
  std::filesystem::path store;
  std::string remote = "origin";  // a name that `repository` knows, an address or a path
  std::string branch = "holdfast-data";
  std::filesystem::path repository = ".";
  // Accept a branch that was rewritten since this store saw it; what the store has stays.
  bool rewritten = false;
};

struct Synced {
  std::string commit = {};  // the branch's; empty where there is none yet
  std::size_t brought = 0;  // runs that the store did not have
  std::size_t own = 0;      // runs that the branch did not have
  std::size_t attempts = 1;
};

// Brings the branch's runs into the store; its own follow them, under new orders. Throws
// Error(bad_input), and leaves the store as it is, if a line of the branch is no line of a history,
// or if the branch no longer has what it had.
Synced fetch_history(const DataBranch& data);

// Fetches, and makes the store the branch's next commit. If somebody else pushed meanwhile, it
// fetches theirs and tries again.
Synced push_history(const DataBranch& data);

}  // namespace holdfast::gate
