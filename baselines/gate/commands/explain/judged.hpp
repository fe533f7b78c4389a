// SPDX-License-Identifier: Apache-2.0
// What the gate says of a results folder whose cases are explained.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gate/commands/check/check.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

struct Judged {
  std::vector<Row> rows = {};
  std::vector<std::string> notes = {};
  std::set<std::string> acceptable = {};  // as Checked has it
  bool about_all = false;  // the notes are of the judging itself, not of single parts
};

// The verdict on the folder as it is now; where it cannot be judged here (another build's, no
// policy), as it was when it was judged.
Judged judge(const CheckRequest& request);

// Adds what was held against a base, which stands in the folder's verdict alone: judged again,
// without that build, a time is held against what was accepted.
void keep_rows_beside(const std::filesystem::path& directory, const Results& results,
                      const CaseResult& result, Judged& judged);

// Whether no number of a row that was written down is of other results than these.
bool is_about(const CaseResult& result, const Row& row);

}  // namespace holdfast::gate
