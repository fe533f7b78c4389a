// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace holdfast::gate {
namespace {

constexpr double disturbed_share = 0.02;  // of the time of the samples
constexpr int enough = 5;                 // processes, to decide anything

// Of Student's distribution, 97.5 %, by degrees of freedom from one on.
constexpr std::array quantiles = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};

// Visits the metrics that take their value from the clock.
void each_timed(const CaseResult& result,
                const std::function<void(const std::string& key, const Metric&)>& visit) {
  const auto of = [&](const std::string& whose, const Metrics& metrics, bool derived = false) {
    for (const auto& [name, metric] : metrics)
      if (is_clocked(name, metric, result.executed, derived) && metric.number())
        visit(whose + name, metric);
  };
  of("", result.metrics);
  of("", result.derived, true);
  for (const auto& [name, variant] : result.variants) of(name + ' ', variant.metrics);
}

bool is_timed(const CaseResult& result) {
  bool timed = false;
  each_timed(result, [&](const std::string&, const Metric&) { timed = true; });
  return timed;
}

double told(const CaseResult& result, const char* metric) {
  const auto found = result.metrics.find(metric);
  return found == result.metrics.end() ? 0 : found->second.number().value_or(0);
}

}  // namespace

bool is_clocked(const std::string& name, const Metric& metric, bool executed, bool derived) {
  return metric.kind == "time" || metric.kind == "ratio" ||
         (metric.kind == "bound" && executed && (derived || name.ends_with("_s")));
}

bool is_disturbed(const CaseResult& result) {
  return told(result, waited_metric) > disturbed_share;
}

std::vector<bool> left_out(const CaseRecords& records) {
  std::vector<bool> disturbed, either;
  for (const CaseResult* record : records) {
    disturbed.push_back(is_disturbed(*record));
    either.push_back(disturbed.back() || had_shared_cores(*record));
  }
  return std::ranges::count(either, false) < enough ? disturbed : either;
}

std::optional<double> half_width(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (values.size() < 2) return std::nullopt;
  double sum = 0, squares = 0;
  for (const double value : values) sum += std::log(value);
  for (const double value : values) squares += std::pow(std::log(value) - sum / count, 2);
  const double quantile = quantiles[std::min(values.size() - 1, quantiles.size()) - 1];
  return quantile * std::sqrt(squares / (count - 1) / count);
}

std::optional<double> widest_ratio(const CaseRecords& records) {
  std::map<std::string, std::vector<double>> ratios;
  const std::vector<bool> out = left_out(records);
  for (std::size_t i = 0; i < records.size(); ++i)
    if (!out[i])
      each_timed(*records[i], [&](const std::string& key, const Metric& metric) {
        if (metric.kind == "ratio" && *metric.number() > 0) ratios[key].push_back(*metric.number());
      });
  std::optional<double> widest;
  for (const auto& [key, values] : ratios)
    if (const auto width = half_width(values); width && *width > widest.value_or(0)) widest = width;
  return widest;
}

bool wants_another(const CaseRecords& records, const Effort& effort) {
  if (records.empty()) return true;
  const bool well = std::all_of(records.begin(), records.end(),
                                [](const CaseResult* record) { return record->status == "ok"; });
  if (!well) return false;  // no number of processes would make it so
  const auto count = static_cast<std::int64_t>(records.size());
  if (!is_timed(*records.front())) return count < std::min(effort.counted, effort.fewest);
  if (count < effort.fewest) return true;
  const auto good = [&](const auto& is_good) {
    return std::count_if(records.begin(), records.end(), is_good);
  };
  const auto undisturbed = good([](const auto* record) { return !is_disturbed(*record); });
  const bool disturbed = undisturbed < effort.fewest;
  const auto alone =
      good([](const auto* record) { return !is_disturbed(*record) && !had_shared_cores(*record); });
  // Where no process had cores of its own, the next one will not either.
  const bool shared = !disturbed && alone > 0 && alone < effort.fewest;
  const bool wide = widest_ratio(records).value_or(0) > effort.limit;
  if (count < effort.most) return disturbed || shared || wide;
  // Where none of these was undisturbed, the next ones will not be either.
  return ((disturbed && undisturbed > 0) || (shared && wide)) && count < effort.at_most;
}

}  // namespace holdfast::gate
