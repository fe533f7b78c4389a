// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/processes.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "base/id_filter.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/measure/schedule.hpp"

namespace holdfast::gate {
namespace {

constexpr const char* case_failed = "failed";

std::string readable(const std::optional<double>& value) {
  return value ? canonical_line(*value) : "no value";
}

// The same member of every process's record, where it is known.
template <class Record, class Value>
std::vector<Value> known(const std::vector<const Record*>& records,
                         std::optional<Value> Record::*member) {
  std::vector<Value> values;
  for (const Record* record : records)
    if (record->*member) values.push_back(*(record->*member));
  return values;
}

// The index of the first of `records`, one per process, that differs from the first one; empty if
// all agree.
template <class Record, class Same>
std::optional<std::size_t> first_that_differs(const std::vector<const Record*>& records,
                                              const Same& same) {
  for (std::size_t i = 1; i < records.size(); ++i)
    if (!same(*records[0], *records[i])) return i;
  return std::nullopt;
}

// Whether a process reads the metric once for a bound: a single process beyond it must show.
bool is_reading(const std::string& name, const Metric& metric) {
  return metric.kind == "bound" && !name.ends_with("_s");
}

// `reason` receives the sentence about a metric that should be equal everywhere and is not; one
// that is `clocked` keeps the value of each process.
Metric merge_metric(const std::string& name, const std::vector<const Metric*>& metrics,
                    bool clocked, std::optional<std::string>& reason) {
  Metric merged = *metrics.front();
  if (merged.kind == "exact" || merged.kind == "codegen") {
    const auto other = first_that_differs(metrics, [](const Metric& a, const Metric& b) {
      return a.value == b.value && a.kind == b.kind;
    });
    if (other && !reason)
      reason = text(name, " is ", readable(merged.value), " in process 1 and ",
                    readable(metrics[*other]->value), " in process ", *other + 1,
                    "; it must be the same in every process");
    return merged;
  }
  std::vector<double> numbers;
  for (const Metric* metric : metrics)
    if (metric->number()) numbers.push_back(*metric->number());
  if (numbers.empty()) return merged;  // the reason for having none stays
  // A value that one process could not read is within no bound, whatever the others read.
  if (const auto blank =
          std::ranges::find_if(metrics, [](const Metric* metric) { return !metric->number(); });
      blank != metrics.end() && merged.kind == "bound" && !clocked)
    return **blank;
  merged.reason.reset();
  if (!clocked) {
    merged.value = median(numbers);
    if (is_reading(name, merged) &&
        *std::ranges::min_element(numbers) != *std::ranges::max_element(numbers))
      merged.processes = numbers;
    return merged;
  }
  merged.value.reset();
  merged.processes = numbers;
  merged.median = median(numbers);
  merged.mad_between = median_absolute_deviation(numbers);
  std::int64_t samples = 0;
  for (const std::int64_t count : known(metrics, &Metric::samples)) samples += count;
  if (samples > 0) merged.samples = samples;
  return merged;
}

// The names that all maps have; a name that only some have is a reason to fail.
template <class Map>
std::set<std::string> common_names(std::string_view what, const std::vector<const Map*>& maps,
                                   std::optional<std::string>& reason) {
  std::map<std::string, std::size_t> holders;
  for (const Map* map : maps)
    for (const auto& [name, member] : *map) ++holders[name];
  std::set<std::string> names;
  for (const auto& [name, count] : holders) {
    if (count == maps.size())
      names.insert(name);
    else if (!reason)
      reason = text(what, name, " is measured by ", count, " of ", maps.size(), " processes");
  }
  return names;
}

// Whether a process's clocked values of the case are left out. If all would be, they are kept as
// the values of no process, so that they decide nothing.
struct Clocks {
  std::vector<bool> left_out = {};
  bool executed = false;
  bool of_other_rounds = false;  // than those that count of the other build
};

// What left_out() says of both, where they took turns and the rounds that both keep are enough:
// values of one round are compared as a pair.
Clocks clocks_of(const CaseRecords& records, const CaseRecords& beside, double usual_handover) {
  Clocks clocks{.left_out = left_out(records, usual_handover),
                .executed = records.front()->executed};
  if (beside.empty()) return clocks;
  std::vector<bool> either = left_out(beside, usual_handover);
  clocks.of_other_rounds = clocks.left_out != either;
  if (records.size() != beside.size()) return clocks;
  for (std::size_t i = 0; i < either.size(); ++i) either[i] = either[i] || clocks.left_out[i];
  if (std::ranges::count(either, false) < enough_processes) return clocks;
  clocks.left_out = either;
  clocks.of_other_rounds = false;
  return clocks;
}

Metric merge_sampled(const std::string& name, const std::vector<const Metric*>& metrics,
                     bool clocked, const Clocks& clocks, std::optional<std::string>& reason) {
  std::vector<const Metric*> quiet;
  for (std::size_t i = 0; i < metrics.size(); ++i)
    if (!clocks.left_out[i]) quiet.push_back(metrics[i]);
  if (!quiet.empty()) return merge_metric(name, quiet, clocked, reason);
  Metric merged = merge_metric(name, metrics, clocked, reason);
  merged.processes.clear();
  merged.mad_between.reset();
  return merged;
}

Metrics merge_metrics(const std::string& prefix, const std::vector<const Metrics*>& processes,
                      const Clocks& clocks, std::optional<std::string>& reason,
                      bool derived = false) {
  Metrics merged;
  for (const std::string& name : common_names(prefix, processes, reason)) {
    std::vector<const Metric*> metrics;
    for (const Metrics* process : processes) metrics.push_back(&process->at(name));
    const bool clocked = is_clocked(name, *metrics.front(), clocks.executed, derived);
    const bool sampled = clocked || name == waited_metric || name == shared_metric;
    merged[name] = sampled ? merge_sampled(prefix + name, metrics, clocked, clocks, reason)
                           : merge_metric(prefix + name, metrics, clocked, reason);
  }
  return merged;
}

Variant merge_variant(const std::string& name, const std::vector<const Variant*>& processes,
                      const Clocks& clocks, std::optional<std::string>& reason) {
  Variant merged = *processes.front();
  const auto other = first_that_differs(
      processes, [](const Variant& a, const Variant& b) { return a.identity == b.identity; });
  if (other && !reason)
    reason = text(name, " identity is ", merged.identity.value_or("absent"), " in process 1 and ",
                  processes[*other]->identity.value_or("absent"), " in process ", *other + 1,
                  "; it must be the same in every process");
  std::vector<const Metrics*> metrics;
  for (const Variant* process : processes) metrics.push_back(&process->metrics);
  merged.metrics = merge_metrics(name + ' ', metrics, clocks, reason);
  return merged;
}

// How bad a check is for its result.
int severity(const ResultCheck& check) {
  return check.status == "passed" ? 0 : check.status == case_failed ? 2 : 1;
}

// The worst check of any process: a verified result does not speak for a process that executed
// nothing or verified nothing.
void merge_check(const CaseRecords& processes, CaseResult& merged) {
  for (const CaseResult* result : processes) {
    merged.executed = merged.executed && result->executed;
    ResultCheck& check = merged.check;
    if (result->check.error && !(check.error && *check.error >= *result->check.error))
      check.error = result->check.error;
    if (severity(result->check) <= severity(check)) continue;
    check.status = result->check.status;
    check.again_seed = result->check.again_seed;
    check.again_steps = result->check.again_steps;
  }
}

CaseResult merge_case(const CaseRecords& processes, const CaseRecords& beside,
                      double usual_handover) {
  CaseResult merged = *processes.front();
  const auto bad = std::find_if(processes.begin(), processes.end(),
                                [](const CaseResult* result) { return result->status != "ok"; });
  if (bad != processes.end()) {
    merged.status = (*bad)->status;
    merged.reason = (*bad)->reason;
  }
  merge_check(processes, merged);
  std::optional<std::string> reason;
  std::vector<const std::map<std::string, Variant>*> variants;
  std::vector<const Metrics*> metrics;
  std::vector<const Metrics*> derived;
  const Clocks clocks = clocks_of(processes, beside, usual_handover);
  merged.of_other_rounds = clocks.of_other_rounds;
  for (const CaseResult* result : processes) {
    variants.push_back(&result->variants);
    metrics.push_back(&result->metrics);
    derived.push_back(&result->derived);
  }
  merged.variants.clear();
  for (const std::string& name : common_names("variant ", variants, reason)) {
    std::vector<const Variant*> records;
    for (const auto* process : variants) records.push_back(&process->at(name));
    merged.variants[name] = merge_variant(name, records, clocks, reason);
  }
  merged.metrics = merge_metrics("", metrics, clocks, reason);
  merged.derived = merge_metrics("", derived, clocks, reason, true);
  if (reason && merged.status == "ok") {
    merged.status = case_failed;
    merged.reason = reason;
  }
  return merged;
}

Quality merge_quality(const std::vector<Results>& processes) {
  std::vector<const Quality*> records;
  for (const Results& process : processes) records.push_back(&process.quality);
  Quality merged = *records.front();
  for (const Quality* record : records) {
    merged.valid = merged.valid && record->valid;
    for (const std::string& reason : record->reasons)
      if (std::find(merged.reasons.begin(), merged.reasons.end(), reason) == merged.reasons.end())
        merged.reasons.push_back(reason);
  }
  const auto of = [&]<class T>(std::optional<T> Quality::*member, auto choose) {
    const std::vector<T> values = known(records, member);
    merged.*member = values.empty() ? std::optional<T>() : std::optional<T>(choose(values));
  };
  const auto most = [](const auto& values) {
    return *std::max_element(values.begin(), values.end());
  };
  const auto least = [](const auto& values) {
    return *std::min_element(values.begin(), values.end());
  };
  of(&Quality::load, most);
  of(&Quality::sm_clock_hz, least);
  of(&Quality::temperature_c, most);
  of(&Quality::other_processes, most);
  of(&Quality::mem_clock_hz, least);
  of(&Quality::ecc_errors, most);
  of(&Quality::throttled, [](const std::vector<bool>& values) {
    return std::find(values.begin(), values.end(), true) != values.end();
  });
  for (std::size_t i = 1; i < processes.size(); ++i) {
    const Environment& first = processes[0].env;
    const Environment& other = processes[i].env;
    if (first.device_class == other.device_class && first.fingerprint == other.fingerprint)
      continue;
    merged.valid = false;
    merged.reasons.push_back(text("process ", i + 1, " ran on ", other.device_class, " (",
                                  other.fingerprint, "), process 1 on ", first.device_class, " (",
                                  first.fingerprint, ")"));
  }
  return merged;
}

}  // namespace

Results merge(const std::vector<Results>& processes, const std::vector<Results>& beside) {
  Results merged = processes.front();
  merged.run.processes = static_cast<std::int64_t>(processes.size());
  merged.quality = merge_quality(processes);
  for (auto& [name, ceiling] : merged.ceilings) {
    std::vector<double> values;
    for (const Results& process : processes)
      if (const auto at = process.ceilings.find(name); at != process.ceilings.end() && at->second)
        values.push_back(*at->second);
    if (values.empty()) continue;
    // What the machine can do at best: the highest rate, the shortest latency.
    const auto best = std::minmax_element(values.begin(), values.end());
    ceiling = name.ends_with("_per_s") ? *best.second : *best.first;
  }
  merged.cases.clear();
  const double usual = usual_handover(processes, beside);
  std::set<std::string> seen;
  for (const Results& first : processes)
    for (const CaseResult& one : first.cases)
      if (seen.insert(one.id).second)
        merged.cases.push_back(
            merge_case(records_of(one.id, processes), records_of(one.id, beside), usual));
  for (const Results& process : processes) {
    merged.partial = merged.partial || process.partial;
    merged.run.git_dirty = merged.run.git_dirty || process.run.git_dirty;
    if (!merged.run.sources) merged.run.sources = process.run.sources;
  }
  return merged;
}

void complete(Results& results, const std::vector<ListedCase>& expected, const std::string& status,
              const std::string& reason) {
  std::set<std::string> present;
  for (const CaseResult& result : results.cases) present.insert(result.id);
  for (const ListedCase& listed : expected)
    if (!present.contains(listed.id))
      results.cases.push_back(
          {.id = listed.id, .tier = listed.tier, .status = status, .reason = reason});
}

std::vector<ListedCase> expected_cases(const List& list, const std::string& device_name,
                                       const std::string& tier,
                                       const std::optional<std::string>& filter) {
  const IdFilter chosen(filter.value_or(""));
  if (!chosen.problem().empty())
    throw Error(Fault::bad_input,
                text("--filter=", *filter, " is not a regular expression: ", chosen.problem()));
  std::vector<ListedCase> expected;
  for (const ListedCase& listed : list.cases) {
    if (!listed.devices.contains(device_kind(device_name)) || !tier_includes(tier, listed.tier))
      continue;
    if (chosen.takes(listed.id)) expected.push_back(listed);
  }
  return expected;
}

}  // namespace holdfast::gate
