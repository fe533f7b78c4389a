// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/resolution.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "gate/base/numbers.hpp"
#include "gate/base/text_table.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/names.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {
namespace {

bool is_timed(const Row& row) {
  return (row.kind == "ratio" || row.kind == "time") && row.metric != handover_metric;
}

// Of a case that failed as a whole, or lacks its time: the judge knows no kind of what is not
// there. A row of a suite is no case's, and a dry device has no times to lack.
bool is_unmeasured(const Row& row) {
  const bool is_lost = row.verdict == verdict::missing || row.verdict == verdict::wrong ||
                       row.verdict == verdict::skipped;
  if (!is_lost || !row.kind.empty()) return false;
  const bool is_whole =
      row.variant == case_variant && (row.metric.empty() || row.verdict == verdict::wrong);
  const bool is_time = row.metric == "time_s" || row.metric == "speedup";
  return (is_whole || is_time) && is_case_id(row.case_id) &&
         kind_of_class(row.device_class) != "cuda-dry";
}

std::string held(const Row& row) {
  if (row.resolution) return "against " + words_of(row.resolved_by);
  return is_unmeasured(row) ? text("not measured: ", how_lost(row)) : "against nothing that gates";
}

}  // namespace

std::string resolution_table(const Verdict& verdict) {
  std::map<std::pair<std::string, std::string>, const Row*> best;
  for (const Row& row : verdict.rows) {
    if (!is_timed(row)) continue;
    const Row*& here = best[{row.case_id, row.device_class}];
    if (!here || (row.resolution && (!here->resolution || *row.resolution < *here->resolution)))
      here = &row;
  }
  for (const Row& row : verdict.rows)
    if (is_unmeasured(row)) best.try_emplace({row.case_id, row.device_class}, &row);
  std::vector<const Row*> rows;
  std::size_t ungated = 0;
  for (const auto& [name, row] : best) {
    rows.push_back(row);
    ungated += !row->resolution;
  }
  if (rows.empty()) return "no time and no ratio was measured\n";
  std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return a->resolution.value_or(1e9) > b->resolution.value_or(1e9);
  });
  TextTable table({"loss that fails", "case", "device class", "metric", "held"});
  for (const Row* row : rows)
    table.add({row->resolution ? percent(*row->resolution).substr(1) : "none", row->case_id,
               row->device_class, is_timed(*row) ? row->metric : "-", held(*row)});
  return table.str("") + (ungated > 0 ? text(plural(ungated, "case"), " of ", rows.size(),
                                             ": no loss of speed fails here\n")
                                      : std::string());
}

}  // namespace holdfast::gate
