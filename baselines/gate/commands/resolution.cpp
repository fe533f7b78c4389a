// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/resolution.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "gate/base/numbers.hpp"
#include "gate/base/text_table.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

std::string resolution_table(const Verdict& verdict) {
  std::map<std::pair<std::string, std::string>, const Row*> best;
  for (const Row& row : verdict.rows) {
    if ((row.kind != "ratio" && row.kind != "time") || row.metric == "handover_s") continue;
    const Row*& here = best[{row.case_id, row.device_class}];
    if (!here || (row.resolution && (!here->resolution || *row.resolution < *here->resolution)))
      here = &row;
  }
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
    table.add(
        {row->resolution ? percent(*row->resolution).substr(1) : "none", row->case_id,
         row->device_class, row->metric,
         row->resolution ? words_of(row->resolved_by) : std::string("against nothing that gates")});
  return table.str("") + (ungated > 0 ? text(plural(ungated, "case"), " of ", rows.size(),
                                             ": no loss of speed fails here\n")
                                      : std::string());
}

}  // namespace holdfast::gate
