// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/measured_part.hpp"

#include <algorithm>

#include "gate/base/shown_text.hpp"
#include "gate/documents/kernel_table.hpp"

namespace holdfast::gate {
namespace {

std::string given_option(const char* name, const std::optional<std::filesystem::path>& value) {
  return value ? text(" --", name, "=", shell_word(value->string())) : "";
}

bool has_counted(const Results& results) {
  return std::ranges::any_of(results.cases, [](const CaseResult& result) {
    return std::ranges::any_of(result.variants, [](const auto& variant) {
      const auto found = variant.second.metrics.find(instructions_metric);
      return found != variant.second.metrics.end() && found->second.number();
    });
  });
}

// `which` are the options that choose cases.
std::string measure_command(const Part& part, const std::string& which) {
  const Results& results = part.results;
  const bool dry = device_kind(results.env.device_name) == "cuda-dry";
  const std::int64_t processes = results.run.processes;
  return text(
      "holdfast run ", results.suite, " --device=", results.env.device_name, which,
      processes > (dry ? 1 : most_unasked_processes) ? text(" --processes=", processes) : "",
      !dry && has_counted(results) ? " --count-instructions" : "", part.given.measuring(),
      results.run.base && !part.given.base ? " --beside=" + shell_word(*results.run.base) : "",
      " --out=", shell_word(part.directory));
}

NamedMetric named(const std::string& variant, const std::string& name, const Metric& metric) {
  NamedMetric found{.variant = variant, .name = name, .kind = metric.kind};
  if (metric.value)
    found.measured = Measured{.value = *metric.value, .readings = metric.processes};
  else if (metric.median)
    found.measured = Measured{.value = *metric.median,
                              .mad_between = metric.mad_between,
                              .processes = metric.processes.size(),
                              .values = metric.processes};
  else
    found.reason = metric.reason.value_or("no reason given");
  return found;
}

NamedMetric named_text(const std::string& variant, const std::string& name,
                       const std::string& value) {
  return {
      .variant = variant, .name = name, .kind = "codegen", .measured = Measured{.value = value}};
}

}  // namespace

bool Part::has_other_processor() const {
  const auto known = [](const std::optional<Baseline>& view) { return view && has_times(*view); };
  return is_host_class(device_class()) && !known(baseline) && !known(proposed);
}

Meanings Part::metrics() const {
  Meanings metrics = list.metrics;
  for (const ChangedMeaning& changed : changed_meanings())
    if (!changed.in_this_change) metrics[changed.metric] = changed.accepted;
  return metrics;
}

std::vector<ChangedMeaning> Part::changed_meanings() const {
  std::vector<ChangedMeaning> changed;
  for (const auto& [name, listed] : list.metrics) {
    const auto find = [&, &name = name](const std::optional<Baseline>& of) -> const Meaning* {
      if (!of) return nullptr;
      const auto at = of->metrics.find(name);
      return at == of->metrics.end() ? nullptr : &at->second;
    };
    const Meaning* then = find(baseline);
    const Meaning* now = find(proposed);
    const Meaning* accepted = then ? then : now;
    if (!accepted || *accepted == listed) continue;
    changed.push_back({.metric = name,
                       .accepted = *accepted,
                       .listed = listed,
                       .in_this_change = proposed && (!now || *now == listed) &&
                                         (!then || reasoned.contains(name))});
  }
  return changed;
}

std::string Part::name() const {
  return text(results.suite, " on ", device_class());
}

std::string Given::judging() const {
  return given_option("baselines", baselines) + given_option("policy", policy) +
         given_option("lists", lists);
}
std::string Given::measuring() const {
  return given_option("bin-dir", lists) + given_option("beside", base) +
         (base ? given_option("baselines", baselines) : "");
}

std::string Given::policy_file(const std::string& name) const {
  return (policy.value_or(baselines.value_or("baselines") / "policy") / (name + ".json")).string();
}

std::string Part::run_again() const {
  const auto& filter = results.run.filter;
  return measure_command(*this, text(results.tier == "gate" ? "" : " --tier=" + results.tier,
                                     filter ? " --filter=" + shell_word(*filter) : ""));
}

std::string Part::explain_command(const std::string& case_id) const {
  return text("holdfast explain ", case_id, ' ', shell_word(directory),
              " --device=", results.env.device_name, given.judging());
}

std::string Part::accept_command(const std::string& more) const {
  if (may_be_accepted && !may_be_accepted()) return measure_command(*this, "");
  return text(
      "holdfast baseline accept ", shell_word(directory),
      is_alone ? "" : text(" --only=", results.suite, " --device=", results.env.device_name),
      given.judging(), more, " --why=\"...\"");
}

const NamedMetric* find_measured(const std::vector<NamedMetric>& all, const std::string& variant,
                                 const std::string& name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const NamedMetric& metric) {
    return metric.variant == variant && metric.name == name && metric.measured;
  });
  return at == all.end() ? nullptr : &*at;
}

bool had_shared_cores(const CaseResult& result) {
  const auto found = result.metrics.find(shared_metric);
  return found != result.metrics.end() && found->second.number().value_or(0) > 0;
}

std::vector<NamedMetric> named_metrics(const CaseResult& result) {
  std::vector<NamedMetric> all;
  for (const auto& [variant, content] : result.variants) {
    for (const auto& [name, metric] : content.metrics)
      if (name != "identity") all.push_back(named(variant, name, metric));
    if (content.identity) all.push_back(named_text(variant, "identity", *content.identity));
    if (!content.kernels.empty())
      all.push_back(named_text(variant, kernels_metric, kernel_table(content.kernels)));
  }
  for (const auto& [name, metric] : result.metrics)
    all.push_back(named(case_variant, name, metric));
  for (const auto& [name, metric] : result.derived)
    all.push_back(named(case_variant, name, metric));
  for (NamedMetric& one : all)
    if (one.measured) one.measured->of_other_rounds = result.of_other_rounds;
  return all;
}

bool is_beyond(const ResultCheck& check) {
  return check.error && check.limit && !(*check.error <= *check.limit);
}

bool is_wrong(const CaseResult& result, const std::string& device_name) {
  const ResultCheck& check = result.check;
  const bool executes = device_kind(device_name) != "cuda-dry";
  return result.status == "failed" || check.status == "failed" ||
         (result.status == "ok" && executes &&
          (!result.executed || check.status != "passed" || is_beyond(check)));
}

std::set<std::string> unmeasured_cases(const Results& results, const List& list) {
  std::set<std::string> ids;
  for (const ListedCase& listed : list.cases) {
    if (!listed.devices.contains(device_kind(results.env.device_name)) ||
        !tier_includes("gate", listed.tier))
      continue;
    const CaseResult* result = results.find(listed.id);
    if (!result || (result->status != "ok" && result->status != "skipped")) ids.insert(listed.id);
  }
  return ids;
}

std::vector<std::string> lost_metrics(const std::vector<NamedMetric>& all,
                                      const std::vector<std::string>& listed) {
  std::vector<std::string> lost;
  for (const std::string& name : listed) {
    const bool there = std::any_of(all.begin(), all.end(), [&](const NamedMetric& metric) {
      return metric.name == name && metric.variant != "reference";
    });
    if (!there) lost.push_back(name);
  }
  return lost;
}

}  // namespace holdfast::gate
