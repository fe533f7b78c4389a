// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/entry_of_runs.hpp"

#include <algorithm>
#include <set>

#include "gate/base/numbers.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_runs = 20;           // kept per entry
constexpr std::size_t runs_without_doubt = 5;   // fewer make a bootstrap entry
constexpr std::int64_t days_without_doubt = 2;  // and so do runs of one day, which are alike

}  // namespace

std::int64_t distinct_days(const std::vector<std::string>& runs) {
  std::set<std::string> days;
  for (const std::string& run : runs) days.insert(run.substr(0, 10));
  return static_cast<std::int64_t>(days.size());
}

Entry counted_entry(const Value& value, const Results& results, const std::string& why) {
  return {.value = value,
          .accepted = {.utc = results.run.utc,
                       .content = results.run.content,
                       .runs = {results.run.id},
                       .why = why}};
}

Entry timed_entry(const std::string& key, const std::vector<const AcceptedRun*>& runs,
                  const std::string& why) {
  const AcceptedRun& first = *runs.front();
  const Measured& measured = first.metrics.at(key);
  Entry entry = counted_entry(measured.value, first.results, why);
  entry.medians = {std::get<double>(measured.value)};
  entry.mad_between = measured.mad_between.value_or(0);
  entry.bootstrap = true;
  for (std::size_t i = 1; i < runs.size(); ++i) entry = with_run(entry, key, *runs[i]);
  entry.anchor = std::get<double>(entry.value);
  return entry;
}

Entry with_run(const Entry& before, const std::string& key, const AcceptedRun& run) {
  const Measured& measured = run.metrics.at(key);
  Entry entry = before;
  std::vector<std::string>& runs = entry.accepted.runs;
  const double count = static_cast<double>(entry.medians.size());
  entry.mad_between =
      (entry.mad_between.value_or(0) * count + measured.mad_between.value_or(0)) / (count + 1);
  entry.medians.push_back(std::get<double>(measured.value));
  runs.push_back(run.results.run.id);
  if (entry.medians.size() > most_runs) entry.medians.erase(entry.medians.begin());
  if (runs.size() > most_runs) runs.erase(runs.begin());
  entry.value = median(entry.medians);
  entry.days = distinct_days(runs);
  entry.bootstrap = entry.medians.size() < runs_without_doubt || entry.days < days_without_doubt;
  return entry;
}

std::vector<const AcceptedRun*> fresh(std::vector<const AcceptedRun*> runs, const Entry& before) {
  std::erase_if(runs, [&](const AcceptedRun* run) {
    return std::ranges::find(before.accepted.runs, run->results.run.id) !=
           before.accepted.runs.end();
  });
  return runs;
}

}  // namespace holdfast::gate
