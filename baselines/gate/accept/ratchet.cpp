// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/ratchet.hpp"

#include <algorithm>
#include <set>

#include "gate/accept/accepted_runs.hpp"
#include "gate/accept/entry_of_runs.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/history/series.hpp"
#include "gate/judge/loosening.hpp"
#include "gate/judge/screening.hpp"
#include "gate/judge/surroundings.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

void read_history_of(const Results& results, const fs::path& store, const Aliases& aliases,
                     OtherRuns& others) {
  for (const HistoryLine& line : last_runs(store, results, runs_in_a_row - 1))
    others.history[entry_key(aliases.current(line.case_id), line.variant, line.metric)].push_back(
        {line.value, line.run.text().empty() ? line.utc : line.run});
}

// The last `count` of `values`; none where there are fewer.
std::vector<ValueOfRun> last(const std::vector<ValueOfRun>& values, std::size_t count) {
  if (values.size() < count) return {};
  return {values.end() - static_cast<std::ptrdiff_t>(count), values.end()};
}

std::vector<ValueOfRun> history_of(const OtherRuns& others, const std::string& key) {
  const auto at = others.history.find(key);
  return at == others.history.end() ? std::vector<ValueOfRun>() : at->second;
}

bool all_beyond(const Standard& standard, const Measured& now, const Entry& entry,
                const std::vector<ValueOfRun>& runs) {
  return std::ranges::all_of(runs, [&](const ValueOfRun& run) {
    Measured other = now;
    other.value = run.value;
    return judge_screened(standard, other, entry).verdict == verdict::improved;
  });
}

// The runs that together show a lasting improvement, oldest first; empty if they do not.
std::vector<ValueOfRun> sustained(const Standard& standard, const Measured& now, const Entry& entry,
                                  const std::string& key, const OtherRuns& others,
                                  const std::string& run) {
  std::vector<ValueOfRun> fresh;
  if (const auto at = others.fresh.find(key); at != others.fresh.end())
    for (const Measured& one : at->second) fresh.push_back({std::get<double>(one.value), one.run});
  for (std::vector<ValueOfRun> runs :
       {last(fresh, fresh_runs_in_a_row - 1), last(history_of(others, key), runs_in_a_row - 1)}) {
    if (runs.empty() || !all_beyond(standard, now, entry, runs)) continue;
    runs.push_back({std::get<double>(now.value), run});
    return runs;
  }
  return {};
}

// The value is the median of the runs, not the luckiest, and the entry names them, so that none
// joins it once more. The value is also the new anchor of drift, unless it only regains part of a
// loss, which still counts.
Entry proposed_entry(const Entry& before, const Measured& now, const std::vector<ValueOfRun>& runs,
                     const Results& results) {
  Entry entry = counted_entry(now.value, results, unasked::proposed);
  entry.accepted.previous = before.value;
  if (runs.empty()) return entry;
  entry.accepted.runs.clear();
  for (const ValueOfRun& run : runs) {
    entry.medians.push_back(run.value);
    entry.accepted.runs.push_back(run.run);
  }
  entry.days = distinct_days(entry.accepted.runs);
  const double won = median(entry.medians), anchor = before.anchor.value_or(won);
  entry.value = won;
  entry.anchor =
      won > std::get<double>(before.value) ? std::max(won, anchor) : std::min(won, anchor);
  entry.mad_between = now.mad_between.value_or(0);
  entry.bootstrap = true;
  return entry;
}

}  // namespace

OtherRuns other_runs(const Results& results, const fs::path& store, MeasuredAgain fresh,
                     const Aliases& aliases) {
  OtherRuns others{.fresh = std::move(fresh)};
  if (!store.empty()) read_history_of(results, store, aliases, others);
  return others;
}

Ratchet ratchet(const Results& results, const Baseline& existing, const Policy& policy,
                const OtherRuns& others) {
  Ratchet found{.baseline = seen_on(timed_on(results), existing)};
  for (const CaseResult& result : results.cases) {
    if (result.status != "ok") continue;
    const std::vector<NamedMetric> all = named_metrics(result);
    const Surroundings around{.policy = policy,
                              .device_class = results.env.device_class,
                              .case_id = result.id,
                              .all = all,
                              .accepted = found.baseline.entries};
    for (const NamedMetric& metric : all) {
      const std::string key = entry_key(result.id, metric.variant, metric.name);
      const auto entry = found.baseline.entries.find(key);
      if (entry == found.baseline.entries.end() || !metric.measured ||
          metric.name == kernels_metric)
        continue;
      const Standard standard = policy.standard(result.id, results.env.device_class, metric.variant,
                                                metric.name, metric.kind);
      if (judge_among(around, metric, standard, entry->second).verdict != verdict::improved ||
          metric.name == handover_metric || is_noisy(standard, *metric.measured))
        continue;
      const bool timed = standard.timed();
      std::vector<ValueOfRun> runs;
      if (timed)
        runs = sustained(standard, *metric.measured, entry->second, key, others, results.run.id);
      if (timed && runs.empty()) {
        found.told[key] =
            text("not proposed yet: one run may be luck; a second one of this build (--again) or ",
                 runs_in_a_row - 1, " before it in the history (--store) must show it too");
        continue;
      }
      const Value before = entry->second.value;
      Entry proposed = proposed_entry(entry->second, *metric.measured, runs, results);
      // A much wider limit of its few runs needs a reason, which its reader has to give.
      if (!compare(standard, entry->second, proposed, {}).empty())
        proposed.accepted.why = no_reason_yet;
      entry->second = std::move(proposed);
      found.changes.push_back({.key = key, .before = before, .after = entry->second.value});
      found.told[key] =
          timed ? text("proposed: ", plural(runs.size(), "run"), " in a row are better, ",
                       readable(entry->second.value, standard.unit), " in the middle")
                : "proposed: a count does not change by chance";
    }
  }
  keep_metrics(found.baseline, policy.metrics());
  found.baseline = stored_from(timed_on(results), std::move(found.baseline));
  return found;
}

}  // namespace holdfast::gate
