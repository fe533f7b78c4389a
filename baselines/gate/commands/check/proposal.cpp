// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/check/proposal.hpp"

#include <algorithm>

#include "gate/accept/accept.hpp"
#include "gate/accept/listed.hpp"
#include "gate/accept/ratchet.hpp"
#include "gate/base/git.hpp"
#include "gate/base/patch.hpp"
#include "gate/commands/check/check_measured.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/loosening.hpp"

namespace holdfast::gate {
namespace {

// The patch that turns the working copy's baseline file into `proposed`.
std::string patch_to(const CheckRequest& request, const CheckState& state, const Part& part,
                     const Baseline& proposed) {
  const std::string relative = baseline_file(part.results.env.device_class, part.results.suite);
  return unified_diff((path_in_repository(request.baselines) / relative).generic_string(),
                      state.bytes_of(relative), baseline_text(proposed));
}

// Whether another run of the build counted something else: `baseline accept` refuses both.
bool differs_again(const PartVerdict& found) {
  return std::ranges::any_of(found.rows,
                             [](const Row& row) { return row.evidence.contains(again_evidence); });
}

}  // namespace

std::function<bool()> acceptance(const CheckRequest& request, const CheckState& state,
                                 const Part& part) {
  return [&request, &state, &part, known = std::optional<bool>()]() mutable {
    if (known) return *known;
    const Policy policy = state.own_policy().with(part.list.metrics);
    known =
        is_of_build(request, part.results) &&
        refusals(part.results, part.list, policy, false).empty() &&
        accept(part.results, state.accepted_here(part), policy, {.why = "one"}).refusals.empty();
    return *known;
  };
}

std::string proposed_patch(const CheckRequest& request, const CheckState& state, const Part& part,
                           PartVerdict& found) {
  const Policy policy = state.own_policy().with(part.list.metrics);
  if (!part.lost_baseline.empty() || !refusals(part.results, part.list, policy, false).empty())
    return "";
  if (differs_again(found)) return "";
  const std::optional<Baseline> existing = state.accepted_here(part);
  if (found.exit != 0) {
    Acceptable accepted = accept(part.results, existing, policy, {.why = no_reason_yet});
    accept_listed(part.results, part.list, policy, existing, no_reason_yet, accepted);
    return accepted.refusals.empty() ? patch_to(request, state, part, accepted.baseline) : "";
  }
  if (!existing) return "";
  const Ratchet better =
      ratchet(part.results, *existing, policy,
              other_runs(part.results, request.store, part.again, state.aliases()));
  for (Row& row : found.rows)
    if (const auto told = better.told.find(entry_key(row.case_id, row.variant, row.metric));
        told != better.told.end() && row.verdict == verdict::improved)
      row.evidence["ratchet"] = told->second;
  if (better.changes.empty()) return "";
  found.notes.push_back(text(plural(better.changes.size(), "improvement"), " of ", part.name(),
                             ": proposed as the next baseline; nothing accepts it by itself"));
  return patch_to(request, state, part, better.baseline);
}

}  // namespace holdfast::gate
