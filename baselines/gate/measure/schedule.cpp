// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/schedule.hpp"
#include "gate/documents/measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace holdfast::gate {
namespace {

constexpr double disturbed_share = 0.02;  // of the time of the samples

// Student's distribution, 97.5 %, by degrees of freedom from one on.
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

// How the machine disturbed a process.
struct Bend {
  bool disturbed = false, shared = false, elsewhere = false;

  static bool any(const Bend& one) { return one.disturbed || one.shared || one.elsewhere; }
  static bool but_for_sharing(const Bend& one) { return one.disturbed || one.elsewhere; }
};

bool tells(double handover) {
  return handover > 0 && handover < longest_handover;
}

std::vector<Bend> bends_of(const CaseRecords& records, double usual) {
  std::vector<Bend> bends;
  for (const CaseResult* record : records) {
    const double handover = told(*record, handover_metric);
    bends.push_back(
        {.disturbed = is_disturbed(*record),
         .shared = had_shared_cores(*record),
         .elsewhere = usual > 0 && tells(handover) &&
                      (handover > further_apart * usual || handover * further_apart < usual)});
  }
  return bends;
}

}  // namespace

bool is_clocked(const std::string& name, const Metric& metric, bool executed, bool derived) {
  return metric.kind == "time" || metric.kind == "ratio" ||
         (metric.kind == "bound" && executed && (derived || name.ends_with("_s")));
}

bool is_disturbed(const CaseResult& result) {
  return told(result, waited_metric) > disturbed_share;
}

CaseRecords records_of(const std::string& id, const std::vector<Results>& processes) {
  CaseRecords found;
  for (const Results& process : processes)
    for (const CaseResult& result : process.cases)
      if (result.id == id) found.push_back(&result);
  return found;
}

double usual_handover(const std::vector<Results>& processes, const std::vector<Results>& beside) {
  std::vector<double> found;
  for (const auto* side : {&processes, &beside})
    for (const Results& process : *side)
      for (const CaseResult& result : process.cases)
        if (const double one = told(result, handover_metric); tells(one)) found.push_back(one);
  if (found.empty()) return 0;
  const auto middle = found.begin() + (std::ssize(found) - 1) / 2;
  std::ranges::nth_element(found, middle);
  return *middle;
}

std::vector<bool> left_out(const CaseRecords& records, double usual_handover) {
  const std::vector<Bend> bends = bends_of(records, usual_handover);
  const auto those = [&](const auto& is_out) {
    std::vector<bool> out;
    for (const Bend& bend : bends) out.push_back(is_out(bend));
    return out;
  };
  auto disturbed = those([](const Bend& bend) { return bend.disturbed; });
  for (const auto& out : {those(&Bend::any), those(&Bend::but_for_sharing)})
    if (std::ranges::count(out, false) >= enough_processes) return out;
  return disturbed;
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

bool was_bent(const CaseRecords& records, double usual_handover) {
  return std::ranges::any_of(bends_of(records, usual_handover), &Bend::any);
}

namespace {

// The widest interval of its ratios; empty where it has none, or one process of them.
std::optional<double> widest_ratio(const CaseRecords& records, double usual_handover) {
  std::map<std::string, std::vector<double>> ratios;
  const std::vector<bool> out = left_out(records, usual_handover);
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

}  // namespace

bool wants_another(const CaseRecords& records, double usual_handover, const Effort& effort) {
  if (records.empty()) return true;
  const bool well = std::all_of(records.begin(), records.end(),
                                [](const CaseResult* record) { return record->status == "ok"; });
  if (!well) return false;  // more processes would not help
  const auto count = static_cast<std::int64_t>(records.size());
  if (!is_timed(*records.front())) return count < std::min(effort.counted, effort.fewest);
  if (count < effort.fewest) return true;
  const std::vector<Bend> bends = bends_of(records, usual_handover);
  const auto undisturbed = std::ranges::count(bends, false, &Bend::disturbed);
  const bool disturbed = undisturbed < effort.fewest;
  const auto straight = std::ranges::count_if(bends, std::not_fn(&Bend::any));
  // Where no process had cores of its own, the next one will not either.
  const bool bent = !disturbed && straight > 0 && straight < effort.fewest;
  // Their agreement says nothing if all stood elsewhere.
  const bool elsewhere =
      !disturbed &&
      std::ranges::count_if(bends, std::not_fn(&Bend::but_for_sharing)) < effort.fewest;
  const bool wide = widest_ratio(records, usual_handover).value_or(0) > effort.limit;
  if (count < effort.most) return disturbed || bent || elsewhere || wide;
  // Where none of these was undisturbed, the next ones will not be either.
  const bool worth_more = (disturbed && undisturbed > 0) || elsewhere || (bent && wide);
  return worth_more && count < effort.most_if_promising;
}

}  // namespace holdfast::gate
