// SPDX-License-Identifier: Apache-2.0
#include "gate/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_kernels = 8;
constexpr std::size_t most_names = 4;

std::vector<std::string> variants_of(const Evidence& evidence) {
  std::vector<std::string> names;
  for (const auto& [name, variant] : evidence.result.variants) names.push_back(name);
  return names;
}

// In the verdict's own words, without the name of the case in front.
std::string row_line(const Row& row) {
  return text(row.verdict, row.blocking ? " (blocking)" : "", "  ", row.variant, "  ", said(row));
}

Rung verdict_rung(const Evidence& evidence) {
  Rung rung{.name = "verdict", .lines = evidence.notes};
  const CaseResult& result = evidence.result;
  if (result.status != "ok")
    rung.lines.push_back(text(result.status, ": ", result.reason.value_or("no reason given")));
  std::size_t passed = 0, fresh = 0;
  for (const Row& row : evidence.rows) {
    if (row.verdict == verdict::pass)
      ++passed;
    else if (row.verdict == verdict::fresh && !row.blocking)
      ++fresh;
    else
      rung.lines.push_back(row_line(row));
  }
  if (passed > 0)
    rung.lines.push_back(
        text(passed == evidence.rows.size() ? "all " : "", plural(passed, "metric"), " passed"));
  if (fresh > 0)
    rung.lines.push_back(
        text(plural(fresh, "metric"), " NEW: nothing is accepted to compare with"));
  if (rung.lines.empty())
    rung.lines.push_back(text("compared with ", evidence.against, ", not judged"));
  return rung;
}

std::string kernel_line(const KernelChange& change) {
  if (!change.before) return change.kernel + " is new";
  if (!change.now) return change.kernel + " is gone";
  std::string line = change.kernel + ":";
  const auto compare = [&](const char* name, const char* unit, const auto& before,
                           const auto& now) {
    if (!before || !now || *before == *now) return;
    const auto [old, young] =
        told_apart(static_cast<double>(*before), static_cast<double>(*now), unit);
    line += text(line.back() == ':' ? " " : ", ", name, " ", old, " -> ", young);
  };
  compare("registers", "", change.before->registers, change.now->registers);
  compare("spills", "B", change.before->spill_bytes, change.now->spill_bytes);
  compare("shared", "B", change.before->shared_bytes, change.now->shared_bytes);
  for (const std::string& words : evidence_changes(change.before->evidence, change.now->evidence))
    line += text(line.back() == ':' ? " " : ", ", words);
  if (change.before->cubin != change.now->cubin)
    line += text(line.back() == ':' ? " " : ", ", "cubin changed");
  return line;
}

std::string shape_of(const ProfileOp& op) {
  const auto three = [](const std::vector<std::int64_t>& d) {
    return text(d[0], "x", d[1], "x", d[2]);
  };
  return text(three(op.grid), " blocks of ", three(op.block));
}

using Shapes = std::set<std::string>;

// Those of `all` that `others` does not have, in a row; empty where there is none.
std::string alone_in(const Shapes& all, const Shapes& others) {
  std::string alone;
  for (const std::string& shape : all)
    if (!others.contains(shape)) add_to(alone, shape, " and ");
  return alone;
}

// "launched as 132x1x1 blocks of 256x1x1 instead of 264x1x1 blocks of 256x1x1"
std::string shape_change(const Shapes& before, const Shapes& now) {
  const std::string fresh = alone_in(now, before), gone = alone_in(before, now);
  if (fresh.empty()) return text("launched as ", gone, " no more");
  return text("launched as ", fresh, gone.empty() ? " too" : " instead of ", gone);
}

// Kernels that are launched in other shapes, where both sides were profiled.
std::vector<std::string> shape_changes(const Evidence& evidence, const std::string& variant) {
  const auto before = evidence.before->profiles.find(variant);
  const auto now = evidence.now.profiles.find(variant);
  if (before == evidence.before->profiles.end() || now == evidence.now.profiles.end()) return {};
  const auto shapes = [](const Profile& profile) {
    std::map<std::string, Shapes> all;
    for (const ProfileOp& op : profile.ops)
      if (!op.grid.empty() && !op.block.empty()) all[op.name].insert(shape_of(op));
    return all;
  };
  const std::map<std::string, Shapes> old = shapes(before->second);
  std::vector<std::string> lines;
  for (const auto& [name, all] : shapes(now->second)) {
    const auto at = old.find(name);
    if (at != old.end() && at->second != all)
      lines.push_back(text(variant, "  ", name, ": ", shape_change(at->second, all)));
  }
  return lines;
}

// A cubin holds all kernels of a program, so that a change of one changes the hash of all: those
// that kept their resources share a line.
void add_kernel_lines(const Evidence& evidence, const std::string& variant, bool same, Rung& rung) {
  std::size_t identical = 0;
  std::vector<std::string> resources_kept;
  for (const KernelChange& change : kernel_changes(evidence)) {
    if (change.variant != variant) continue;
    if (change.is_identical())
      ++identical;
    else if (change.has_same_resources())
      resources_kept.push_back(change.kernel);
    else
      rung.lines.push_back(text(variant, "  ", kernel_line(change)));
  }
  if (!resources_kept.empty()) {
    std::string names;
    for (std::size_t i = 0; i < std::min(resources_kept.size(), most_names); ++i)
      add_to(names, resources_kept[i]);
    if (resources_kept.size() > most_names)
      names += text(" and ", resources_kept.size() - most_names, " more");
    rung.lines.push_back(text(variant, "  ", names, ": cubin changed, resources did not"));
  }
  if (!same && identical > 0)
    rung.lines.push_back(text(variant, "  ", plural(identical, "other kernel"), " identical"));
}

// What is said of the same kernels where their launches or the shapes of these changed.
const char* how_launched(const Evidence& evidence, const std::string& variant) {
  const auto launches = change_of(evidence, variant, "launches");
  return launches && launches->now > launches->before ? "identical, and launched more often"
                                                      : "identical, and launched otherwise";
}

Rung code_rung(const Evidence& evidence) {
  Rung rung{.name = "code"};
  if (!evidence.before) return {"code", {"there is nothing to compare with"}};
  for (const std::string& variant : variants_of(evidence)) {
    const auto same = same_code(evidence, variant);
    if (!same) {
      rung.lines.push_back(text(variant, "  no identity is known (host code has none)"));
      continue;
    }
    const bool identical = *same || same_kernels(evidence, variant);
    rung.lines.push_back(text(variant, "  the compiled code is ",
                              *same       ? "identical"
                              : identical ? how_launched(evidence, variant)
                                          : "not the same"));
    add_kernel_lines(evidence, variant, identical, rung);
    for (std::string& line : shape_changes(evidence, variant))
      rung.lines.push_back(std::move(line));
  }
  return rung;
}

Rung environment_rung(const Evidence& evidence) {
  Rung rung{.name = "environment", .lines = environment_changes(evidence)};
  if (rung.lines.empty())
    rung.lines.push_back(!evidence.before ? "nothing to compare with"
                         : evidence.before->environment.empty()
                             ? "no tools are known of the other side"
                             : "the same tools on both sides");
  const Quality& quality = evidence.quality;
  if (quality.sm_clock_hz)
    rung.lines.push_back(text("SM clock ", readable(*quality.sm_clock_hz / 1e6, ""), " MHz"));
  if (quality.throttled.value_or(false)) rung.lines.push_back("the device was throttled");
  if (!quality.valid)
    rung.lines.push_back(text("the measurement is invalid: ", listed(quality.reasons, "; ")));
  return rung;
}

Rung counts_rung(const Evidence& evidence) {
  Rung rung{.name = "counts"};
  for (const ValueChange& change : count_changes(evidence))
    rung.lines.push_back(text(change.variant, "  ", change.words()));
  for (const KernelChange& change : kernel_changes(evidence))
    if (change.before && change.now && change.before->launches && change.now->launches &&
        *change.before->launches != *change.now->launches)
      rung.lines.push_back(text(change.variant, "  ", change.kernel, " is launched ",
                                *change.now->launches, " times instead of ",
                                *change.before->launches));
  const auto is_counted = [&](const NamedMetric& metric) {
    return (metric.kind == "exact" || metric.kind == "codegen") &&
           change_of(evidence, metric.variant, metric.name);
  };
  if (rung.lines.empty())
    rung.lines.push_back(std::ranges::any_of(named_metrics(evidence.result), is_counted)
                             ? "launches, bytes and allocations are the same"
                         : evidence.before ? "no count is known on both sides"
                                           : "nothing to compare with");
  return rung;
}

Rung control_rung(const Evidence& evidence) {
  Rung rung{.name = "control"};
  if (const auto change = change_of(evidence, "reference", "time_s"))
    rung.lines.push_back(text("reference  ", change->words()));
  if (const auto change = change_of(evidence, "optimized", "time_s"))
    rung.lines.push_back(text("optimized  ", change->words()));
  if (const auto change = change_of(evidence, case_variant, "speedup"))
    rung.lines.push_back(text("both       ", change->words()));
  if (rung.lines.empty())
    rung.lines.push_back(evidence.result.executed ? "no time is known on both sides"
                                                  : "nothing was executed, so nothing was timed");
  return rung;
}

// Per step: seconds where both sides know them, else launches.
struct KernelCost {
  std::map<std::string, double> costs = {};
  bool timed = true;
};
KernelCost cost_per_step(const Profile& profile) {
  KernelCost cost;
  for (const ProfileOp& op : profile.ops) cost.timed = cost.timed && op.total_s.has_value();
  for (const ProfileOp& op : profile.ops)
    cost.costs[op.name] += (cost.timed ? *op.total_s : static_cast<double>(op.count)) /
                           static_cast<double>(profile.steps);
  return cost;
}

void add_shares(const std::string& variant, const Profile& before, const Profile& now, Rung& rung) {
  const KernelCost old = cost_per_step(before);
  const KernelCost young = cost_per_step(now);
  const std::string unit = old.timed ? "s" : "";
  if (old.timed != young.timed) return;
  std::set<std::string> names;
  for (const auto* side : {&old, &young})
    for (const auto& [name, cost] : side->costs) names.insert(name);
  const auto of = [](const KernelCost& side, const std::string& name) {
    const auto at = side.costs.find(name);
    return at == side.costs.end() ? 0 : at->second;
  };
  double total = 0;
  std::vector<std::pair<double, std::string>> moved;
  for (const std::string& name : names) {
    const double by = of(young, name) - of(old, name);
    total += by;
    if (by != 0) moved.emplace_back(-std::abs(by), name);
  }
  std::sort(moved.begin(), moved.end());
  for (std::size_t i = 0; i < std::min(moved.size(), most_kernels); ++i) {
    const std::string& name = moved[i].second;
    const double by = of(young, name) - of(old, name);
    rung.lines.push_back(
        text(variant, "  ", name, "  ", readable(of(old, name), unit), " -> ",
             readable(of(young, name), unit), old.timed ? "" : " launches", " per step",
             total != 0 ? text(", ", readable(100 * by / total, ""), " % of the change") : ""));
  }
  if (moved.empty())
    rung.lines.push_back(text(variant, "  every operation ",
                              old.timed ? "takes as long" : "is launched as often", " as before"));
}

Rung kernels_rung(const Evidence& evidence) {
  Rung rung{.name = "kernels"};
  for (const auto& [variant, now] : evidence.now.profiles) {
    if (!evidence.before) break;
    const auto before = evidence.before->profiles.find(variant);
    if (before != evidence.before->profiles.end()) add_shares(variant, before->second, now, rung);
  }
  if (rung.lines.empty())
    rung.lines.push_back(
        evidence.now.profiles.empty()
            ? "no profile stands beside the results; holdfast run --profile makes them"
            : "only one side has profiles; --against a folder that holds them tells each kernel's "
              "share");
  return rung;
}

Rung ceilings_rung(const Evidence& evidence) {
  Rung rung{.name = "ceilings"};
  for (const std::string& variant : variants_of(evidence)) {
    const auto fraction = evidence.now.number(variant, "floor_fraction");
    if (!fraction) continue;
    const auto floor = evidence.now.number(variant, "floor_s");
    rung.lines.push_back(text(variant, "  runs at ", readable(100 * *fraction, ""),
                              " % of its floor's speed",
                              floor ? " (" + readable(*floor, "s") + ")" : ""));
  }
  std::string known;
  for (const auto& [name, value] : evidence.ceilings)
    if (value) add_to(known, text(name, " ", readable(*value, unit_of_name(name))));
  if (!known.empty()) rung.lines.push_back("measured on this machine: " + known);
  if (rung.lines.empty()) rung.lines.push_back("no floor and no ceiling is known here");
  return rung;
}

Rung detectors_rung(const Evidence& evidence) {
  Rung rung{.name = "detectors"};
  for (const Detection& found : evidence.findings) {
    rung.lines.push_back(text(found.variant, "  ", found.detector, ": ", found.sentence));
    rung.lines.push_back(found.expected ? text("           expected: ", *found.expected)
                                        : text("           fix: ", found.fix));
  }
  if (rung.lines.empty()) rung.lines.push_back("none of them saw anything");
  return rung;
}

}  // namespace

std::vector<Rung> ladder(const Evidence& evidence) {
  return {verdict_rung(evidence),  code_rung(evidence),     environment_rung(evidence),
          counts_rung(evidence),   control_rung(evidence),  kernels_rung(evidence),
          ceilings_rung(evidence), detectors_rung(evidence)};
}

}  // namespace holdfast::gate
