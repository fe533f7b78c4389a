// SPDX-License-Identifier: Apache-2.0
// The gate's verdict on a results folder whose cases are explained.
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
  bool about_all = false;                 // the notes concern the judging itself, not single parts
};

// The verdict on the folder now or, if it cannot be judged here (another build, no policy), the one
// stored with it.
Judged judge(const CheckRequest& request);

// Adds the rows that compare with a base, which only the folder's verdict has: judged again without
// that build, a time is compared with the accepted one.
void keep_rows_beside(const std::filesystem::path& directory, const Results& results,
                      const CaseResult& result, Judged& judged);

// Whether every number of a stored row is of these results.
bool is_about(const CaseResult& result, const Row& row);

}  // namespace holdfast::gate
