// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/part.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/part_judge.hpp"
#include "gate/judge/row_sentence.hpp"

namespace holdfast::gate {
namespace {

int code_of(const Row& row) {
  if (!row.blocking) return 0;
  if (row.verdict == verdict::missing || row.verdict == verdict::fresh)
    return exit_code(Fault::incomplete);
  if (row.verdict == verdict::noisy) return exit_code(Fault::undecided);
  return exit_code(Fault::regression);
}

}  // namespace

PartVerdict PartJudge::run(bool require_baseline, const SecondOpinion& second_opinion) {
  refuse_custom_run();
  look_for_lost_baseline();
  bool unheld = tell_absent_baseline();
  tell_how_it_ran();
  unheld = tell_invalid_measurement() || unheld;
  judge_cases();
  tell_idle_rules();
  look_for_lost_entries();
  look_for_lost_bounds();
  tell_changed_meanings();
  tell_unrequested();
  unheld = suspects_.decide(second_opinion) || unheld;
  if (unheld && require_baseline) verdict_.exit = exit_code(Fault::incomplete);
  count_gating();
  tell_blind();
  call_warnings();
  for (const Row& row : verdict_.rows) verdict_.exit = worse_exit_code(verdict_.exit, code_of(row));
  return std::move(verdict_);
}

void PartJudge::refuse_custom_run() const {
  const std::vector<std::string>& custom = part_.results.run.custom;
  if (custom.empty()) return;
  throw Error(Fault::bad_input,
              text(part_.name(), " is a custom run (", custom.front(),
                   "), which no baseline speaks about; run the suite without options of its own"));
}

void PartJudge::judge_cases() {
  std::map<std::string, const CaseResult*> measured;  // and not listed
  for (const CaseResult& result : part_.results.cases) {
    measured[result.id] = &result;
    for (const NamedMetric& metric : named_metrics(result))
      if (metric.measured) measured_.insert(metric.name);
  }
  for (const ListedCase& listed : part_.list.cases) {
    const auto device = listed.devices.find(device_kind(part_.results.env.device_name));
    if (device == listed.devices.end()) continue;
    const auto result = measured.find(listed.id);
    if (result != measured.end()) {
      judge_case(*result->second, listed, device->second);
      measured.erase(result);
    } else if (tier_includes(part_.results.tier, listed.tier) && !part_.results.partial) {
      missing(listed.id, case_variant, "", "the case is listed and not in the results",
              part_.run_again());
    }
  }
  if (!measured.empty())
    throw Error(Fault::bad_input, text(part_.name(), " holds the case ", measured.begin()->first,
                                       ", which its list does not have there; run it again"));
}

void PartJudge::missing(const std::string& case_id, const std::string& variant,
                        const std::string& metric, const std::string& because,
                        const std::string& next) {
  Row row = judge_.new_row(case_id, variant, metric);
  row.verdict = verdict::missing;
  row.blocking = true;
  row.next = next;
  say(row, because);
  verdict_.rows.push_back(std::move(row));
}

void PartJudge::judge_case(const CaseResult& result, const ListedCase& listed,
                           const std::vector<std::string>& names) {
  const std::string reason = result.reason ? first_line(*result.reason) : "no reason given";
  if (result.tier != listed.tier)
    throw Error(Fault::bad_input,
                text(part_.name(), ": the case ", result.id, " is of the tier ", result.tier,
                     ", and its list says ", listed.tier, "; run it again: ", part_.run_again()));
  if (is_wrong(result, part_.results.env.device_name)) {
    judge_wrong(result, reason);
    excuse_entries(result.id);
  } else if (result.status == "skipped" && policy_.absence(part_.device_class(), "", reason)) {
    Row row = judge_.new_row(result.id, case_variant, "");
    row.verdict = verdict::skipped;
    say(row, "skipped: " + reason);
    verdict_.rows.push_back(std::move(row));  // its accepted entries are then found to be lost
  } else if (result.status != "ok") {
    missing(result.id, case_variant, "", lost_case(result.status, reason), part_.run_again());
    excuse_entries(result.id);
  } else {
    judge_metrics(result);
    look_for_listed(result, listed, names);
  }
}

void PartJudge::judge_wrong(const CaseResult& result, const std::string& reason) {
  const ResultCheck& check = result.check;
  const std::string oracle = check.oracle ? " (oracle: " + *check.oracle + ")" : "";
  Row row =
      judge_.new_row(result.id, case_variant, check.error && check.limit ? "check_error" : "");
  row.verdict = verdict::wrong;
  row.blocking = true;
  row.limit = check.limit;
  row.next = part_.run_again();
  if (check.error) row.value = *check.error;
  if (is_beyond(check)) {
    const auto [error, most] = told_apart(*check.error, *check.limit, "1");
    say(row, text("is ", error, " and may be at most ", most, oracle,
                  ": the result is wrong, so its speed does not count"));
  } else {
    say(row, text(result.status == "ok" ? "the result was not verified"
                                        : text("the case failed", oracle, ": ", reason)));
  }
  verdict_.rows.push_back(std::move(row));
}

// A case that failed as a whole says so once; its single metrics are not missing besides.
void PartJudge::excuse_entries(const std::string& case_id) {
  for (const auto& [processor, entries] : accepted_entries())
    for (auto at = entries->lower_bound(case_id + '|');
         at != entries->end() && at->first.starts_with(case_id + '|'); ++at)
      judged_.insert(at->first);
}

void PartJudge::judge_metrics(const CaseResult& result) {
  const std::vector<NamedMetric> all = named_metrics(result);
  for (const NamedMetric& metric : all) {
    // What the list does not declare is advisory, which judges no accepted value.
    if (part_.list.metrics.contains(metric.name))
      judged_.insert(entry_key(result.id, metric.variant, metric.name));
    if (metric.name == kernels_metric || is_unrequested(result, metric)) continue;
    JudgedMetric judged = judge_.judge(result, metric, all);
    if (judged.gates) gating_.push_back(verdict_.rows.size());
    suspects_.note_next(judged);
    verdict_.rows.push_back(std::move(judged.row));
  }
  for (Row& row : judge_.judge_sums(result, all)) verdict_.rows.push_back(std::move(row));
}

// What is absent, new, undecided or put down to the machine was held against nothing.
void PartJudge::count_gating() {
  for (const std::size_t number : gating_) {
    const Row& row = verdict_.rows[number];
    const bool timed = row.kind == "time" || row.kind == "ratio";
    PartVerdict::Gating& gating = timed ? verdict_.times : verdict_.counts;
    ++gating.all;
    const bool undecided = !row.value || row.verdict == verdict::fresh ||
                           row.verdict == verdict::noisy || row.verdict == verdict::environment;
    const bool beside_in_vain = row.standard == held_against::beside && part_.has_invalid_base();
    if (undecided || beside_in_vain || (timed && !part_.results.quality.valid)) ++gating.unheld;
  }
}

// A metric that is measured on request alone may be absent from all cases of a part, which is told;
// absent from some it is missing. Where it gates, nobody having asked is the only reason taken.
bool PartJudge::is_unrequested(const CaseResult& result, const NamedMetric& metric) {
  if (metric.measured) return false;
  const Standard standard =
      policy_.standard(result.id, part_.device_class(), metric.variant, metric.name, metric.kind);
  if (standard.on_request.empty()) return false;
  if (measured_.contains(metric.name)) {
    const std::string again = part_.run_again(), asked = ' ' + standard.on_request;
    missing(result.id, metric.variant, metric.name, "was asked for and not measured",
            again.find(asked) == again.npos ? again + asked : again);
    return true;
  }
  const bool gates = standard.gate != Gate::off || !standard.bounds.empty();
  if (gates && !gate::is_unrequested(metric.reason, standard.on_request)) return false;
  unrequested_[metric.name] = {metric.reason, standard.on_request};
  const std::string key = entry_key(result.id, metric.variant, metric.name);
  if (!standard.bounds.empty() || find_entry(part_.baseline, key) ||
      find_entry(part_.proposed, key))
    ++verdict_.unrequested[metric.name];
  return true;
}

void PartJudge::call_warnings() {
  for (Row& row : verdict_.rows) row.verdict = told_verdict(row);
}

PartVerdict judge_part(const Part& part, const Policy& policy, bool require_baseline,
                       bool undecided_fails, const SecondOpinion& second_opinion) {
  return PartJudge(part, policy, undecided_fails, bool(second_opinion))
      .run(require_baseline, second_opinion);
}

}  // namespace holdfast::gate
