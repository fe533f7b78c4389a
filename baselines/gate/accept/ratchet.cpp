// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/ratchet.hpp"

#include <algorithm>
#include <set>

#include "gate/accept/accepted_runs.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/history/series.hpp"
#include "gate/judge/metric.hpp"
#include "gate/judge/screening.hpp"
#include "gate/judge/surroundings.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

void read_history_of(const Results& results, const fs::path& store, const Aliases& aliases,
                     OtherRuns& others) {
  for (const HistoryLine& line : last_runs(store, results, runs_in_a_row - 1))
    others.history[entry_key(aliases.current(line.case_id), line.variant, line.metric)].push_back(
        line.value);
}

void read_again(const Results& results, const fs::path& root, OtherRuns& others) {
  const auto refuse = [&](const std::string& why) {
    return Error(Fault::bad_input, text("--again=", root.string(), ": ", why));
  };
  for (const StoredResults& stored : read_all_results(root)) {
    const Results& again = stored.results;
    if (again.suite != results.suite || again.env.device_class != results.env.device_class)
      continue;
    if (again.run.id == results.run.id)
      throw refuse("is the run that is judged; give a second run of the same build");
    if (again.run.content != results.run.content || again.list_hash != results.list_hash)
      throw refuse(
          text("holds ", again.suite, " of another build; measure this one a second time"));
    if (again.env.fingerprint != results.env.fingerprint)
      throw refuse(text("holds ", again.suite,
                        " of another processor, compiler or driver; measure where this run was"));
    if (!again.quality.valid || again.quality.throttled.value_or(false) || again.partial)
      throw refuse(text("holds ", again.suite,
                        " as a filtered, invalid or throttled run, which confirms nothing"));
    for (const CaseResult& result : again.cases) {
      if (result.status != "ok" || is_wrong(result, again.env.device_name)) continue;
      for (const NamedMetric& metric : named_metrics(result))
        if (metric.measured && std::holds_alternative<double>(metric.measured->value))
          others.fresh[entry_key(result.id, metric.variant, metric.name)].push_back(
              std::get<double>(metric.measured->value));
    }
  }
}

// The last `count` of `values`; none where there are fewer.
std::vector<double> last(const OtherRuns::Values& values, const std::string& key,
                         std::size_t count) {
  const auto at = values.find(key);
  if (at == values.end() || at->second.size() < count) return {};
  return {at->second.end() - static_cast<std::ptrdiff_t>(count), at->second.end()};
}

bool all_beyond(const Standard& standard, const Measured& now, const Entry& entry,
                const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [&](double value) {
    Measured other = now;
    other.value = value;
    return judge_screened(standard, other, entry).verdict == verdict::improved;
  });
}

// The runs that together say that a metric is better for good, oldest first; none where they do
// not.
std::vector<double> sustained(const Standard& standard, const Measured& now, const Entry& entry,
                              const std::string& key, const OtherRuns& others) {
  for (std::vector<double> runs : {last(others.fresh, key, fresh_runs_in_a_row - 1),
                                   last(others.history, key, runs_in_a_row - 1)}) {
    if (runs.empty() || !all_beyond(standard, now, entry, runs)) continue;
    runs.push_back(std::get<double>(now.value));
    return runs;
  }
  return {};
}

// The value is the middle of the runs, not the luckiest. Drift begins there as well, but where a
// loss is won back in part: that still counts.
Entry proposed_entry(const Entry& before, const Measured& now, std::vector<double> runs,
                     const Results& results) {
  const bool timed = !runs.empty();
  Entry entry{.value = now.value,
              .accepted = {.utc = results.run.utc,
                           .content = results.run.content,
                           .runs = {results.run.id},
                           .why = "proposed by holdfast check: better for good",
                           .previous = before.value}};
  if (!timed) return entry;
  entry.medians = std::move(runs);
  const double won = median(entry.medians), anchor = before.anchor.value_or(won);
  entry.value = won;
  entry.anchor =
      won > std::get<double>(before.value) ? std::max(won, anchor) : std::min(won, anchor);
  entry.mad_between = now.mad_between.value_or(0);
  entry.bootstrap = true;
  return entry;
}

}  // namespace

OtherRuns other_runs(const Results& results, const fs::path& store,
                     const std::vector<fs::path>& again, const Aliases& aliases) {
  OtherRuns others;
  if (!store.empty()) read_history_of(results, store, aliases, others);
  for (const fs::path& root : again) read_again(results, root, others);
  return others;
}

Ratchet ratchet(const Results& results, const Baseline& existing, const Policy& policy,
                const OtherRuns& others) {
  Ratchet found{.baseline = seen_on(timed_on(results.env), existing)};
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
      std::vector<double> runs;
      if (timed) runs = sustained(standard, *metric.measured, entry->second, key, others);
      if (timed && runs.empty()) {
        found.told[key] =
            text("not proposed yet: one run may be luck; a second one of this build (--again) or ",
                 runs_in_a_row - 1, " before it in the history (--store) must show it too");
        continue;
      }
      const Value before = entry->second.value;
      entry->second = proposed_entry(entry->second, *metric.measured, runs, results);
      found.changes.push_back({.key = key, .before = before, .after = entry->second.value});
      found.told[key] =
          timed ? text("proposed: ", plural(runs.size(), "run"), " in a row are better, ",
                       readable(entry->second.value, standard.unit), " in the middle")
                : "proposed: a count does not change by chance";
    }
  }
  keep_metrics(found.baseline, policy.metrics());
  found.baseline = stored_from(timed_on(results.env), std::move(found.baseline));
  return found;
}

}  // namespace holdfast::gate
