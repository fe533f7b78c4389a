// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/explain/judged.hpp"

#include <algorithm>
#include <optional>

#include "gate/documents/measured_part.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// Whether the row compares a time or a ratio of these results with a base.
bool is_beside(const CaseResult& result, const Row& row) {
  const std::vector<NamedMetric> all = named_metrics(result);
  const NamedMetric* found = find_measured(all, row.variant, row.metric);
  return found && row.value && *row.value == found->measured->value &&
         (row.standard == held_against::beside || row.evidence.contains(confirmation_evidence));
}

// Of the verdict that stands there; none where it cannot be read, and `lost` is then noted.
std::vector<Row> kept_rows(const fs::path& kept, const char* lost, Judged& judged) {
  if (!fs::exists(kept)) return {};
  try {
    return read_verdict(kept).rows;
  } catch (const Error& error) {
    judged.notes.push_back(text(lost, " is not known: ", error.what()));
    return {};
  }
}

}  // namespace

Judged judge(const CheckRequest& request) {
  const fs::path& directory = request.directory;
  try {
    Checked checked = check(request);
    return {.rows = std::move(checked.verdict.rows),
            .notes = std::move(checked.verdict.notes),
            .acceptable = std::move(checked.acceptable)};
  } catch (const Error& error) {
    const fs::path kept = directory / "verdict.json";
    Judged judged{.about_all = true};
    judged.rows = kept_rows(kept, "what was judged before", judged);
    judged.notes.insert(judged.notes.begin(),
                        text(judged.rows.empty() ? "not judged: "
                                                 : text("as judged in ", kept.string(),
                                                        "; judging it again fails: "),
                             error.what()));
    return judged;
  }
}

void keep_rows_beside(const fs::path& directory, const Results& results, const CaseResult& result,
                      Judged& judged) {
  if (!results.run.beside) return;
  for (const Row& row :
       kept_rows(directory / "verdict.json", "what was held against the base", judged)) {
    if (row.case_id != result.id || row.device_class != results.env.device_class ||
        !is_beside(result, row))
      continue;
    const auto same = std::ranges::find_if(judged.rows, [&](const Row& one) {
      return one.case_id == row.case_id && one.device_class == row.device_class &&
             one.variant == row.variant && one.metric == row.metric;
    });
    if (same == judged.rows.end())
      judged.rows.push_back(row);
    else
      *same = row;
  }
}

bool is_about(const CaseResult& result, const Row& row) {
  return std::ranges::none_of(named_metrics(result), [&](const NamedMetric& metric) {
    return metric.variant == row.variant && metric.name == row.metric && metric.measured &&
           row.value && *row.value != metric.measured->value;
  });
}

}  // namespace holdfast::gate
