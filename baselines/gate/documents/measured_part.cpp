// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/measured_part.hpp"

#include <algorithm>
#include <cstdlib>

#include "gate/base/shown_text.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {
namespace {

std::string or_dash(const std::optional<std::int64_t>& value) {
  return value ? text(*value) : "-";
}

// "local_bytes=256,f64=12"
std::string evidence_of(const KernelRow& row) {
  std::string out;
  for (const auto& [name, value] : kernel_evidence(row))
    out += text(out.empty() ? "" : ",", name, "=", value);
  return out;
}

// "stage 40/0/26624/blocks=42,f64=12 1a2b3c4d; ...": name, registers, spill bytes, shared bytes,
// what else is known of a kernel that is launched, start of the cubin's hash.
std::string kernel_table(const std::vector<KernelRow>& kernels) {
  std::string out;
  for (const KernelRow& row : kernels) {
    const std::string hash = row.cubin.value_or("-");
    out += text(out.empty() ? "" : "; ", row.name, " ", or_dash(row.registers), "/",
                or_dash(row.spill_bytes), "/", or_dash(row.shared_bytes),
                row.evidence.empty() ? "" : "/" + evidence_of(row), " ",
                hash.substr(hash.find(':') + 1).substr(0, 8));
  }
  return out;
}

std::optional<double> number_of(const std::string& cell) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  return end == cell.c_str() || *end != '\0' ? std::nullopt : std::optional(value);
}

// Two cells of the kernel table, which holds numbers without their unit.
std::string from_to(const std::string& before, const std::string& now, const std::string& unit) {
  const auto old_number = number_of(before), new_number = number_of(now);
  if (unit.empty() || !old_number || !new_number) return text(before, " -> ", now);
  const auto [first, second] = told_apart(*old_number, *new_number, unit);
  return text(first, " -> ", second);
}

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

// With these options of which cases.
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

KernelEvidence kernel_evidence(const KernelRow& row) {
  KernelEvidence evidence;
  for (const auto& [name, value] : row.evidence)
    if (value != 0) evidence[name] = text(value);
  return evidence;
}

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
  return given_option("bin-dir", lists) + given_option("beside", base);
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

std::map<std::string, KernelFacts> parse_kernel_table(const std::string& table) {
  std::map<std::string, KernelFacts> kernels;
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = std::min(table.find("; ", begin), table.size());
    const std::string row = table.substr(begin, end - begin);
    begin = end + 2;
    // Names may hold spaces (template arguments); the two last words never do.
    const std::size_t last = row.rfind(' ');
    const std::size_t before =
        last == std::string::npos || last == 0 ? std::string::npos : row.rfind(' ', last - 1);
    if (before == std::string::npos) continue;
    KernelFacts& facts = kernels[row.substr(0, before)];
    facts.cubin = row.substr(last + 1);
    std::istringstream resources(row.substr(before + 1, last - before - 1));
    for (std::string& resource : facts.resources) std::getline(resources, resource, '/');
    for (std::string pair; std::getline(resources, pair, ',');)
      if (const auto equals = pair.find('='); equals != pair.npos)
        facts.evidence[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  return kernels;
}

std::vector<std::string> evidence_changes(const KernelEvidence& before, const KernelEvidence& now) {
  std::vector<std::string> changes;
  if (before.empty() || now.empty()) return changes;
  KernelEvidence all = before;
  all.insert(now.begin(), now.end());
  const auto of = [](const KernelEvidence& side, const std::string& name) {
    const auto found = side.find(name);
    return found == side.end() ? std::string("0") : found->second;
  };
  for (const auto& [name, value] : all)
    if (of(before, name) != of(now, name))
      changes.push_back(
          text(name, " ", from_to(of(before, name), of(now, name), unit_of_name(name))));
  return changes;
}

std::string compare_kernels(const std::string& before, const std::string& now) {
  constexpr std::array<std::pair<const char*, const char*>, 3> names = {
      {{"registers", ""}, {"spills", "B"}, {"shared", "B"}}};
  const auto old_kernels = parse_kernel_table(before);
  const auto new_kernels = parse_kernel_table(now);
  std::string out;
  std::size_t identical = 0;
  std::vector<std::string> recompiled;  // another cubin, the same resources
  const auto add = [&](const std::string& clause) { out += (out.empty() ? "" : "; ") + clause; };
  for (const auto& [name, facts] : new_kernels) {
    const auto old = old_kernels.find(name);
    if (old == old_kernels.end()) {
      add("kernel " + name + " is new");
      continue;
    }
    const std::vector<std::string> changes = evidence_changes(old->second.evidence, facts.evidence);
    const bool same_resources = old->second.resources == facts.resources && changes.empty();
    if (same_resources && old->second.cubin == facts.cubin) {
      ++identical;
    } else if (same_resources) {
      recompiled.push_back(name);
    } else {
      std::string clause = name + ":";
      for (std::size_t i = 0; i < names.size(); ++i)
        if (old->second.resources[i] != facts.resources[i])
          clause += text(clause.back() == ':' ? " " : ", ", names[i].first, " ",
                         from_to(old->second.resources[i], facts.resources[i], names[i].second));
      for (const std::string& change : changes)
        clause += text(clause.back() == ':' ? " " : ", ", change);
      if (old->second.cubin != facts.cubin) clause += ", cubin changed";
      add(clause);
    }
  }
  // All kernels of a program share its cubin.
  if (recompiled.size() == 1) add(recompiled.front() + ": cubin changed");
  if (recompiled.size() > 1)
    add(text(recompiled.size(), out.empty() ? " kernels" : " others",
             ": cubin changed, resources did not"));
  for (const auto& [name, facts] : old_kernels)
    if (!new_kernels.contains(name)) add("kernel " + name + " is gone");
  if (out.empty()) return text("all ", identical, " kernels identical");
  if (identical > 0)
    add(text(identical, identical == 1 ? " other kernel" : " other kernels", " identical"));
  return out;
}

}  // namespace holdfast::gate
