// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/history/old_history.hpp"

#include "gate/documents/case_name.hpp"
#include "gate/documents/names.hpp"

namespace holdfast::gate {
namespace {

std::string filled(Object& line, std::string_view key) {
  const Reader reader = line.take(key);
  if (reader.string().empty()) throw reader.wrong(text("'", key, "' is empty"));
  return reader.string();
}

}  // namespace

void OldHistory::read(const Document& document) {
  Object line = document.root().object();
  const Reader of = line.take("class"), order = line.take("order"), mad = line.take("mad");
  const std::string utc = filled(line, "utc"), commit = filled(line, "commit"),
                    fingerprint = filled(line, "fp");
  const Reader id = line.take("case"), metric = line.take("metric");
  HistorySeries series{case_id_of(id, suite_of(id.string())), name_of(line.take("variant")),
                       name_of(metric)};
  HistoryPoint point{.value = {.value = line.take("value").number(), .mad = mad.number_or_null()}};
  const Reader verdict = line.take("verdict");
  point.verdict = verdict.string_or_null();
  line.close();
  if (of.string() != device_class_)
    throw of.wrong(text("a line of the class '", of.string(), "' in the folder of another"));
  if (!is_utc(utc) || !utc.starts_with(year_ + '-'))
    throw of.wrong(text("a line of ", utc, " in the file of another year"));
  if (order.integer() < 1 || order.integer() > most_commits)
    throw order.wrong(text("'order' counts commits from 1 on, and is ", order.integer()));
  if (point.value.mad && *point.value.mad < 0)
    throw mad.wrong("'mad' is a spread and cannot be negative");
  if (point.verdict && point.verdict->empty()) throw verdict.wrong("'verdict' is empty");

  const auto [known, fresh] = known_.try_emplace(series, nullptr);
  if (fresh) known->second = &series_.emplace_back(std::move(series));
  point.series = known->second;
  const std::string suite(suite_of(point.series->case_id));
  const auto [run, first] = by_name_.try_emplace({commit, utc, suite, fingerprint}, runs_.size());
  if (first)
    runs_.push_back({.suite = suite,
                     .utc = utc,
                     .commit = {.name = commit, .order = order.integer()},
                     .env = {{"fingerprint", fingerprint}}});
  if (!held_.emplace(run->second, point.series).second)
    throw metric.wrong(text("a second line of ", metric.string(), " of ", id.string(),
                            " for the run of ", utc, "; remove one of the two"));
  HistoryRun& into = runs_[run->second];
  if (point.verdict && !into.verdict) into.verdict.emplace();
  if (point.verdict) ++into.verdict->counts[*point.verdict];
  into.points.push_back(std::move(point));
}

}  // namespace holdfast::gate
