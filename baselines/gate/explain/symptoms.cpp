// SPDX-License-Identifier: Apache-2.0
#include "gate/explain/symptoms.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "gate/base/numbers.hpp"

namespace holdfast::gate::symptoms {
namespace {

// A tiny kernel takes hardly longer than its launch or, where no time is known, has blocks that
// fill less than half of the device at once.
constexpr double tiny_seconds = 5e-6;
constexpr double tiny_waves = 0.5;
// The sites of a case's data, as opposed to its temporary memory.
constexpr std::array<std::string_view, 3> data_sites = {"state", "inputs", "result"};
// The work area that the BLAS library asks for, whatever the size of its products.
constexpr std::string_view products_site = "blas work area";
// An operation can dominate only where there are others, and only below half of the roofline.
constexpr std::size_t fewest_operations = 3;
constexpr double near_the_floor = 0.5;
constexpr std::size_t told_at_most = 3;

// "state", or "state: moments".
bool holds_data(std::string_view site) {
  return std::any_of(data_sites.begin(), data_sites.end(), [&](std::string_view word) {
    return site == word || (site.starts_with(word) && site.substr(word.size()).starts_with(": "));
  });
}

std::string share(double fraction) {
  return percent(fraction).substr(fraction < 0 ? 0 : 1);  // "+5 %" without its sign
}
std::string seconds(double value) {
  return readable(value, "s");
}
std::string bytes(double value) {
  return readable(value, "B");
}

bool is_gpu(const Sighting& seen) {
  return seen.part ? device_kind(seen.part->env.device_name) != "host"
                   : seen.profile && device_kind(seen.profile->device) != "host";
}

std::optional<double> idle_fraction(const Sighting& seen) {
  if (seen.profile && seen.profile->clock == "cupti" && seen.profile->overview.idle_fraction)
    return seen.profile->overview.idle_fraction;
  return seen.metric("idle_fraction");
}

// floor_s over the time of a step; one measured without a profiler takes precedence.
std::optional<double> floor_fraction(const Sighting& seen) {
  if (const auto measured = seen.metric("floor_fraction")) return measured;
  if (!seen.profile || !seen.profile->floor_s || !seen.profile->overview.mean_step_s)
    return std::nullopt;
  if (*seen.profile->overview.mean_step_s <= 0) return std::nullopt;
  return *seen.profile->floor_s / *seen.profile->overview.mean_step_s;
}

// A value per step of the workload, from the profile or else from the result.
struct PerStep {
  double value = 0;
  std::string source;
};
std::optional<PerStep> per_step(const Sighting& seen, double ProfileOverview::*member,
                                const std::string& metric) {
  const double steps = seen.inner_steps();
  if (seen.profile) return PerStep{seen.profile->overview.*member / steps, "profile"};
  if (const auto value = seen.metric(metric)) return PerStep{*value / steps, "result"};
  return std::nullopt;
}

// Whether a loop waits only at its end, to hand its result back.
bool syncs_once_at_the_end(const Sighting& seen) {
  const double steps = seen.inner_steps();
  const auto syncs = per_step(seen, &ProfileOverview::syncs, "syncs");
  return steps > 1 && syncs && syncs->value * steps <= 1;
}

std::string longest_gap(const Profile& profile) {
  const ProfileOverview& overview = profile.overview;
  if (!overview.max_gap_s) return "";
  const auto& between = overview.max_gap_between;
  return text("; the longest gap, ", seconds(*overview.max_gap_s),
              between.size() == 2 ? text(", lies between ", between[0], " and ", between[1]) : "");
}

double scatter_launches(const Sighting& seen, std::string& source) {
  double launches = 0;
  if (seen.profile) {
    source = "profile";
    for (const ProfileOp& op : seen.profile->ops)
      if (op.kind == "scatter") launches += static_cast<double>(op.count);
    return launches / static_cast<double>(seen.profile->steps);
  }
  source = "result";
  if (!seen.numbers) return 0;
  for (const KernelRow& kernel : seen.numbers->kernels)
    if (kernel.kind == "scatter") launches += static_cast<double>(kernel.launches.value_or(0));
  return launches;
}

// The names with the largest amounts, "project_edge<double> 384, penalise<double> 96 and 4 more".
std::string greatest(const std::map<std::string, double>& amounts, const std::string& unit) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, amount] : amounts) sorted.emplace_back(-amount, name);
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (std::size_t i = 0; i < std::min(sorted.size(), told_at_most); ++i)
    add_to(out, text(sorted[i].second, " ", readable(-sorted[i].first, unit)));
  if (sorted.size() > told_at_most) out += text(" and ", sorted.size() - told_at_most, " more");
  return out;
}

// What a step uploads over what its case declares that it must; empty if it declares nothing.
std::optional<double> upload_ratio(const Sighting& seen) {
  if (!seen.profile) return seen.metric("upload_ratio");
  const ProfileOverview& overview = seen.profile->overview;
  const auto declared = overview.declared_h2d_bytes;
  if (!declared || *declared <= 0) return std::nullopt;
  return overview.h2d_bytes / *declared;
}

}  // namespace

std::optional<Symptom> idle_gaps(const Sighting& seen, double threshold) {
  const auto idle = idle_fraction(seen);
  if (!idle || *idle <= threshold) return std::nullopt;
  return Symptom{*idle,
                 text("the device idles ", share(*idle), " of a step, waiting for the host",
                      seen.profile ? longest_gap(*seen.profile) : ""),
                 seen.profile ? "profile" : "result"};
}

std::optional<Symptom> low_utilisation(const Sighting& seen, double threshold) {
  const auto fraction = floor_fraction(seen);
  const auto idle = idle_fraction(seen);
  if (!is_gpu(seen) || !fraction || *fraction >= threshold) return std::nullopt;
  std::string words = text("a step runs at ", share(*fraction), " of its floor's speed: ");
  if (idle && *idle > idle_threshold)
    words += text("host dispatch: idle_fraction is ", share(*idle));
  else
    words += text("serial dependencies: the device is ",
                  idle ? text("busy (idle_fraction ", share(*idle), ")") : "assumed busy",
                  ", and what runs does not fill it");
  if (seen.profile && !seen.profile->ops.empty()) {
    const ProfileOp& top = seen.profile->ops.front();
    if (top.occupancy && top.waves)
      words += text("; ", top.name, " has an occupancy of ", share(*top.occupancy), " in ",
                    readable(*top.waves, ""), " waves");
  }
  return Symptom{*fraction, words, seen.metric("floor_fraction") ? "result" : "profile"};
}

// An upload that a case declares is work; half as much on top of it is not.
constexpr double much_more = 1.5;

std::optional<Symptom> transfers_in_the_loop(const Sighting& seen, double threshold) {
  auto up = per_step(seen, &ProfileOverview::h2d_bytes, "h2d_bytes");
  auto down = per_step(seen, &ProfileOverview::d2h_bytes, "d2h_bytes");
  if (!is_gpu(seen) || !up || !down) return std::nullopt;
  if (syncs_once_at_the_end(seen)) down->value = 0;
  const auto ratio = upload_ratio(seen);
  const double told = !ratio || *ratio <= 0 ? 1 : *ratio < much_more ? 0 : 1 - 1 / *ratio;
  up->value *= told;
  if (up->value + down->value <= threshold) return std::nullopt;
  std::string words =
      text("each step copies ", bytes(up->value), " to the device",
           ratio ? " beside what it must bring" : "", " and ", bytes(down->value), " back");
  double spent = 0;
  if (seen.profile)
    for (const char* way : {"h2d", "d2h"})
      if (const auto at = seen.profile->transfers.find(way); at != seen.profile->transfers.end())
        spent += (way == std::string_view("h2d") ? told : 1) * at->second.total_s.value_or(0) /
                 (static_cast<double>(seen.profile->steps) * seen.inner_steps());
  if (spent > 0) words += text(", which takes ", seconds(spent));
  return Symptom{up->value + down->value, words, up->source};
}

std::optional<Symptom> syncs_in_the_loop(const Sighting& seen, double threshold) {
  const auto syncs = per_step(seen, &ProfileOverview::syncs, "syncs");
  if (!is_gpu(seen) || !syncs || syncs->value <= threshold || syncs_once_at_the_end(seen))
    return std::nullopt;
  // An upload waits as well: if a step uploads only what it must and downloads nothing, that is the
  // wait.
  const auto down = per_step(seen, &ProfileOverview::d2h_bytes, "d2h_bytes");
  const auto brought = upload_ratio(seen);
  if (brought && *brought < much_more && down && down->value == 0) return std::nullopt;
  return Symptom{syncs->value,
                 text("the host waits for the device ", readable(syncs->value, ""),
                      syncs->value == 1 ? " time" : " times", " in each step"),
                 syncs->source};
}

std::optional<Symptom> compilations_after_warmup(const Sighting& seen, double threshold) {
  if (!seen.profile) {
    const auto programs = seen.metric("compile_steady");
    if (!programs || *programs <= threshold) return std::nullopt;
    return Symptom{*programs,
                   text(readable(*programs, ""), *programs == 1 ? " program is" : " programs are",
                        " compiled in each step after warm-up; a profile tells why"),
                   "result"};
  }
  std::map<std::string, double> reasons;
  std::size_t count = 0;
  for (const ProfileCompile& compile : seen.profile->compiles) {
    if (!compile.steady) continue;
    ++count;
    reasons[text(compile.program, " (", compile.reason, ")")] += 1;
  }
  const double programs =
      std::max(static_cast<double>(count) / static_cast<double>(seen.profile->steps),
               seen.profile->overview.programs);
  if (programs <= threshold) return std::nullopt;
  std::string words = text("compiled after warm-up, ", readable(programs, ""),
                           " programs per step, ", plural(count, "time"), " in ",
                           plural(static_cast<std::size_t>(seen.profile->steps), "step"), ": ");
  std::size_t told = 0;
  for (const auto& [reason, times] : reasons)
    if (told++ < told_at_most) words += text(told == 1 ? "" : "; ", reason);
  if (reasons.empty()) words += "no reason was recorded";
  return Symptom{programs, words, "profile"};
}

std::optional<Symptom> compile_dominates(const Sighting& seen, double threshold) {
  double spent = 0;
  std::optional<double> first_call;
  if (seen.profile) {
    first_call = seen.profile->first_call_s;
    for (const ProfileCompile& compile : seen.profile->compiles)
      if (!compile.steady && !compile.from_cache) spent += compile.lower_s + compile.compile_s;
  } else {
    first_call = seen.metric("first_call_s");
    spent = seen.metric("lower_s").value_or(0) + seen.metric("compile_s").value_or(0);
  }
  // A case about compiling may compile.
  if (spent <= threshold || seen.case_id.find("/compile/") != std::string::npos ||
      (first_call && spent < *first_call / 2))
    return std::nullopt;
  std::string words = text("compiling takes ", seconds(spent));
  if (first_call && *first_call > 0)
    words += text(", ", share(std::min(1.0, spent / *first_call)), " of the first call (",
                  seconds(*first_call), ")");
  if (const auto step = seen.metric("time_s")) words += text("; a step takes ", seconds(*step));
  return Symptom{spent, words, seen.profile ? "profile" : "result"};
}

std::optional<Symptom> peak_over_estimate(const Sighting& seen, double threshold) {
  const auto ratio = seen.metric("estimate_ratio");
  if (!ratio || *ratio <= threshold) return std::nullopt;
  return Symptom{*ratio, text("the peak is ", readable(*ratio, ""), " times its estimate"),
                 "result"};
}

std::optional<Symptom> peak_over_work(const Sighting& seen, double threshold) {
  if (!seen.profile || seen.profile->work_bytes <= 0) return std::nullopt;
  const ProfileMemory& memory = seen.profile->memory;
  const double moved = seen.profile->work_bytes / seen.inner_steps();
  double kept = 0;  // a step that touches only edges keeps all of its fields
  auto peak = static_cast<double>(memory.peak_bytes);
  for (const auto& [site, held] : memory.peak_by_site) {
    if (holds_data(site)) kept += static_cast<double>(held);
    if (site == products_site) peak -= static_cast<double>(held);
  }
  const double ratio = peak / std::max(moved, kept);
  if (ratio <= threshold) return std::nullopt;
  std::map<std::string, double> sites;
  for (const auto& [site, held] : memory.peak_by_site) sites[site] = static_cast<double>(held);
  return Symptom{
      ratio,
      text("the peak of ", bytes(peak), " is ", readable(ratio, ""), " times ",
           kept > moved ? "the data that the case keeps" : "what a step must read and write",
           sites.empty() ? "" : text("; most of it is ", greatest(sites, "B"))),
      "profile"};
}

std::optional<Symptom> peak_over_reference(const Sighting& seen, double threshold) {
  const auto ratio = seen.metric("peak_ratio");
  if (!ratio || *ratio <= 0 || 1 / *ratio <= threshold) return std::nullopt;
  return Symptom{1 / *ratio,
                 text("the peak is ", readable(1 / *ratio, ""), " times that of the reference"),
                 "result"};
}

std::optional<Symptom> one_kernel_dominates(const Sighting& seen, double threshold) {
  if (const auto fraction = floor_fraction(seen); fraction && *fraction >= near_the_floor)
    return std::nullopt;
  if (seen.profile && seen.profile->clock == "cupti") {
    const ProfileOverview& overview = seen.profile->overview;
    std::set<std::string> names;
    for (const ProfileOp& op : seen.profile->ops) names.insert(op.name);
    if (!overview.top_op || !overview.top_op_fraction || names.size() < fewest_operations ||
        *overview.top_op_fraction <= threshold)
      return std::nullopt;
    return Symptom{*overview.top_op_fraction,
                   text(*overview.top_op, " takes ", share(*overview.top_op_fraction),
                        " of the device time, of ", names.size(), " operations"),
                   "profile"};
  }
  const auto fraction = seen.metric("top_kernel_fraction");
  if (!fraction || *fraction <= threshold || !seen.numbers ||
      seen.numbers->kernels.size() < fewest_operations)
    return std::nullopt;
  return Symptom{*fraction, text("one kernel takes ", share(*fraction), " of the device time"),
                 "result"};
}

// The slowest call, per step if it makes many steps.
std::optional<Symptom> slow_operation(const Sighting& seen, double threshold) {
  if (!seen.profile || !is_gpu(seen)) return std::nullopt;
  const ProfileOp* slowest = nullptr;
  for (const ProfileOp& op : seen.profile->ops)
    if (op.max_s && (!slowest || *op.max_s > *slowest->max_s)) slowest = &op;
  if (!slowest || *slowest->max_s / seen.inner_steps() <= threshold) return std::nullopt;
  const double longest = *slowest->max_s / seen.inner_steps();
  return Symptom{longest, text("a call of ", slowest->name, " takes ", seconds(longest)),
                 "profile"};
}

std::optional<Symptom> many_tiny_kernels(const Sighting& seen, double threshold) {
  if (!seen.profile || !is_gpu(seen)) return std::nullopt;
  const double steps = static_cast<double>(seen.profile->steps) * seen.inner_steps();
  std::map<std::string, double> names;
  double launches = 0;
  for (const ProfileOp& op : seen.profile->ops) {
    if (!op.is_kernel()) continue;
    const bool tiny = op.mean_s ? *op.mean_s < tiny_seconds : op.waves && *op.waves < tiny_waves;
    if (!tiny) continue;
    names[op.name] += static_cast<double>(op.count) / steps;
    launches += static_cast<double>(op.count) / steps;
  }
  if (launches <= threshold) return std::nullopt;
  return Symptom{launches,
                 text("each step launches ", readable(launches, ""), " tiny kernels (",
                      seen.profile->clock == "cupti" ? "below 5 us each"
                                                     : "each fills less than half of the device",
                      "): ", greatest(names, "")),
                 "profile"};
}

std::optional<Symptom> many_scatters(const Sighting& seen, double threshold) {
  std::string source;
  const double launches = scatter_launches(seen, source) / seen.inner_steps();
  if (launches <= threshold) return std::nullopt;
  return Symptom{launches, text("each step launches ", readable(launches, ""), " scatters"),
                 source};
}

std::optional<Symptom> many_launches(const Sighting& seen, double threshold) {
  const auto launches = seen.metric("launches");
  if (seen.profile || !launches || seen.metric("graph_nodes").value_or(0) > 0) return std::nullopt;
  // In a loop that the host drives, a graph or a single launch would spare the launches of all its
  // steps.
  const bool driven = seen.case_id.find("/launch:host/") != std::string::npos;
  const double each = *launches / (driven ? 1 : seen.inner_steps());
  if (each <= threshold) return std::nullopt;
  return Symptom{each,
                 text(driven ? "each loop that the host drives makes " : "each step makes ",
                      readable(each, ""), " launches"),
                 "result"};
}

}  // namespace holdfast::gate::symptoms
