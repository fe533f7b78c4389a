// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/accepted_runs.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::gate {
namespace {

constexpr double widest_spread =
    0.10;  // of a gated ratio between processes, as a fraction of its median
// The least spread of a speedup on shared cores: there a step of two threads took 160 or 210 us,
// and its one-threaded reference 1.6 or 1.9 ms. Four scaled deviations of it (4 * 1.4826 * 0.05)
// make the limit 30 %.
constexpr double spread_on_shared_cores = 0.05;

// How far apart the processors stood in a run of a case; 0 if unknown.
double handover(const AcceptedRun& run, const std::string& case_id) {
  const auto at = run.metrics.find(entry_key(case_id, case_variant, handover_metric));
  return at == run.metrics.end() ? 0 : std::get<double>(at->second.value);
}

}  // namespace

AcceptedRun::AcceptedRun(const Results& run) : results(run), timed_on(gate::timed_on(run)) {
  for (const CaseResult& result : run.cases) {
    const bool shared = had_shared_cores(result);
    if (shared) on_shared_cores.insert(result.id);
    for (const NamedMetric& metric : named_metrics(result)) {
      if (!metric.measured) continue;
      Measured& measured = metrics[entry_key(result.id, metric.variant, metric.name)];
      measured = *metric.measured;
      if (shared && measured.mad_between)
        measured.mad_between = std::max(*measured.mad_between,
                                        spread_on_shared_cores * std::get<double>(measured.value));
    }
  }
}

bool is_noisy(const Standard& standard, const Measured& measured) {
  if (!standard.timed() || standard.gate == Gate::off) return false;
  return measured.processes == 0 ||
         (standard.kind == "ratio" &&
          measured.mad_between.value_or(0) > widest_spread * std::get<double>(measured.value));
}

std::vector<const AcceptedRun*> best_shown(const std::vector<AcceptedRun>& runs,
                                           const Standard& standard, const std::string& key) {
  const std::string case_id = entry_name(key).case_id;
  std::vector<const AcceptedRun*> found;
  for (const AcceptedRun& run : runs)
    if (const auto at = run.metrics.find(key); at != run.metrics.end() &&
                                               !is_noisy(standard, at->second) &&
                                               run.timed_on == runs.front().timed_on)
      found.push_back(&run);
  const auto shared = [&](const AcceptedRun* run) {
    return run->on_shared_cores.contains(case_id);
  };
  if (!std::ranges::all_of(found, shared)) std::erase_if(found, shared);
  double closest = std::numeric_limits<double>::infinity();
  for (const AcceptedRun* run : found) closest = std::min(closest, handover(*run, case_id));
  std::erase_if(found, [&](const AcceptedRun* run) {
    return handover(*run, case_id) > further_apart * closest;
  });
  return found;
}

}  // namespace holdfast::gate
