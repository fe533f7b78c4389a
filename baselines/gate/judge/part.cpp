// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/part.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/judge/metric.hpp"

namespace holdfast::gate {
namespace {

// More suspects than the policy says, or than a third of the cases (and of a handful), are the
// machine, not the code.
constexpr std::size_t fewest_for_a_third = 4;
constexpr std::size_t fewest_to_compare = 3;  // before many suspects are put down to the machine

std::string first_line(const std::string& content) {
  return content.substr(0, content.find('\n'));
}

int code_of(const Row& row) {
  if (!row.blocking) return 0;
  if (row.verdict == verdict::missing || row.verdict == verdict::fresh)
    return exit_code(Fault::incomplete);
  if (row.verdict == verdict::noisy) return exit_code(Fault::undecided);
  return exit_code(Fault::regression);
}

// Judges one part; the members are what all steps share.
class PartJudge {
 public:
  PartJudge(const Part& part, const Policy& policy, bool undecided_fails)
      : part_(part),
        policy_(policy.with(part.metrics())),
        undecided_fails_(undecided_fails),
        judge_(part, policy_, undecided_fails) {}

  PartVerdict run(bool require_baseline, const SecondOpinion& second_opinion) {
    describe(require_baseline);
    std::map<std::string, const CaseResult*> measured;  // and not listed
    for (const CaseResult& result : part_.results.cases) {
      measured[result.id] = &result;
      for (const NamedMetric& metric : named_metrics(result))
        if (metric.measured) measured_.insert(metric.name);
    }
    const auto measured_cases = measured;
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
    look_for_lost_entries();
    tell_changed_meanings();
    tell_unrequested();
    for (const char* kind : {"ratio", "time"})
      if (has_environment_moved(kind, second_opinion)) break;
    if (second_opinion) ask(second_opinion, screened_.size());
    doubt_other_hardware(measured_cases);
    for (const Row& row : verdict_.rows)
      verdict_.exit = worse_exit_code(verdict_.exit, code_of(row));
    return std::move(verdict_);
  }

 private:
  const Part& part_;
  const Policy policy_;
  const bool undecided_fails_;
  const MetricJudge judge_;
  PartVerdict verdict_ = {};
  std::set<std::size_t> asked_ = {};     // rows with a second opinion
  std::set<std::string> judged_ = {};    // entry keys
  std::set<std::string> measured_ = {};  // names of metrics that any case has
  // Metrics, why they are absent, and the option that asks for them.
  std::map<std::string, std::pair<std::string, std::string>> unrequested_ = {};
  struct Suspect {
    std::size_t row;
    bool machine_possible;
  };
  std::vector<Suspect> suspects_ = {};
  std::vector<std::size_t> screened_ = {};  // rows

  void describe(bool require_baseline) {
    const Results& results = part_.results;
    if (!results.run.custom.empty())
      throw Error(
          Fault::bad_input,
          text(part_.name(), " is a custom run (", results.run.custom.front(),
               "), which no baseline speaks about; run the suite without options of its own"));
    if (!part_.lost_baseline.empty()) {
      missing(results.suite, case_variant, "", part_.lost_baseline,
              text("git restore ", part_.baseline_path));
    } else if (!part_.baseline && !part_.proposed) {
      verdict_.notes.push_back(
          text("NO BASELINE for ", part_.name(), " (", part_.baseline_path,
               " does not exist): everything is NEW and only the bounds hold; accept with: ",
               part_.accept_command()));
      if (require_baseline) verdict_.exit = exit_code(Fault::incomplete);
    } else if (part_.has_other_processor() && has_gated_times()) {
      verdict_.notes.push_back(
          text("NO BASELINE for the processor ", results.env.processor, " of ", part_.name(),
               others(), ": times and ratios are NEW and only their bounds hold; accept with: ",
               part_.accept_command()));
      if (require_baseline) verdict_.exit = exit_code(Fault::incomplete);
    }
    if (results.partial)
      verdict_.not_checked.push_back(
          part_.name() + ": a filtered run, judged on what it holds and never accepted");
    if (results.run.sources)
      verdict_.notes.push_back(text(part_.name(), " ran device code from HOLDFAST_SOURCES=",
                                    *results.run.sources, ", not from the build"));
    if (results.quality.throttled.value_or(false))
      verdict_.notes.push_back(text(part_.name(), " was measured on a throttled device: its times ",
                                    "are worth little; run it again: ", part_.run_again()));
    if (results.quality.valid) return;
    std::string reasons;
    for (const std::string& reason : results.quality.reasons)
      reasons += (reasons.empty() ? "" : "; ") + reason;
    verdict_.notes.push_back(text("the measurement of ", part_.name(), " is invalid (", reasons,
                                  "); run it again: ", part_.run_again()));
    verdict_.exit = worse_exit_code(verdict_.exit, exit_code(Fault::incomplete));
  }

  bool has_gated_times() const {
    for (const CaseResult& result : part_.results.cases)
      for (const NamedMetric& metric : named_metrics(result)) {
        if (!metric.measured || metric.name == kernels_metric) continue;
        const Standard standard = policy_.standard(result.id, part_.device_class(), metric.variant,
                                                   metric.name, metric.kind);
        if (standard.timed() && standard.gate != Gate::off) return true;
      }
    return false;
  }

  // " (accepted are those of AuthenticAMD-26-2)"
  std::string others() const {
    std::string names;
    for (const auto* baseline : {&part_.baseline, &part_.proposed})
      if (*baseline && names.empty())
        for (const auto& [processor, entries] : (*baseline)->processors)
          names += (names.empty() ? "" : ", ") + processor;
    return names.empty() ? "" : text(" (accepted are those of ", names, ")");
  }

  void missing(const std::string& case_id, const std::string& variant, const std::string& metric,
               const std::string& because, const std::string& next) {
    Row row = judge_.new_row(case_id, variant, metric);
    row.verdict = verdict::missing;
    row.blocking = true;
    row.next = next;
    judge_.say(row, because);
    verdict_.rows.push_back(std::move(row));
  }

  void judge_case(const CaseResult& result, const ListedCase& listed,
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
      judge_.say(row, "skipped: " + reason);
      verdict_.rows.push_back(std::move(row));  // its accepted entries are then found to be lost
    } else if (result.status != "ok") {
      const char* what = result.status == "timeout"   ? "timed out"
                         : result.status == "crashed" ? "crashed"
                         : result.status == "skipped" ? "is listed and was skipped"
                                                      : "is missing";
      missing(result.id, case_variant, "", text("the case ", what, ": ", reason),
              part_.run_again());
      excuse_entries(result.id);
    } else {
      judge_metrics(result);
      look_for_listed(result, listed, names);
    }
  }

  void judge_wrong(const CaseResult& result, const std::string& reason) {
    const ResultCheck& check = result.check;
    const std::string oracle = check.oracle ? " (oracle: " + *check.oracle + ")" : "";
    Row row =
        judge_.new_row(result.id, case_variant, check.error && check.limit ? "check_error" : "");
    row.verdict = verdict::wrong;
    row.blocking = true;
    row.limit = check.limit;
    row.next = part_.run_again();
    if (check.error) row.value = *check.error;
    if (is_beyond(check))
      judge_.say(row, text("is ", *check.error, " and may be at most ", *check.limit, oracle,
                           ": the result is wrong, so its speed does not count"));
    else
      judge_.say(row, text(result.status == "ok" ? "the result was not verified"
                                                 : text("the case failed", oracle, ": ", reason)));
    verdict_.rows.push_back(std::move(row));
  }

  // A case that failed as a whole says so once; its single metrics are not missing besides.
  void excuse_entries(const std::string& case_id) {
    for (const auto* baseline : {&part_.baseline, &part_.proposed}) {
      if (!*baseline) continue;
      const Entries& entries = (*baseline)->entries;
      for (auto at = entries.lower_bound(case_id + '|');
           at != entries.end() && at->first.starts_with(case_id + '|'); ++at)
        judged_.insert(at->first);
    }
  }

  void judge_metrics(const CaseResult& result) {
    const std::vector<NamedMetric> all = named_metrics(result);
    for (const NamedMetric& metric : all) {
      judged_.insert(entry_key(result.id, metric.variant, metric.name));
      if (metric.name == kernels_metric || is_unrequested(result, metric)) continue;
      JudgedMetric judged = judge_.judge(result, metric, all);
      if (judged.gates) count(judged);
      if (judged.screened) screened_.push_back(verdict_.rows.size());
      if (judged.suspect) suspects_.push_back({verdict_.rows.size(), judged.machine_possible});
      verdict_.rows.push_back(std::move(judged.row));
    }
    for (Row& row : judge_.judge_sums(result, all)) verdict_.rows.push_back(std::move(row));
  }

  void count(const JudgedMetric& judged) {
    const bool timed = judged.row.kind == "time" || judged.row.kind == "ratio";
    PartVerdict::Gating& gating = timed ? verdict_.times : verdict_.counts;
    ++gating.all;
    if (judged.row.verdict == verdict::fresh) ++gating.unheld;
  }

  // What is measured on request alone may be absent from a part as a whole, which is told, and not
  // from single cases of it.
  bool is_unrequested(const CaseResult& result, const NamedMetric& metric) {
    if (metric.measured) return false;
    const Standard standard =
        policy_.standard(result.id, part_.device_class(), metric.variant, metric.name, metric.kind);
    if (standard.on_request.empty()) return false;
    if (measured_.contains(metric.name))
      missing(result.id, metric.variant, metric.name, "was asked for and not measured",
              part_.run_again() + ' ' + standard.on_request);
    else
      unrequested_[metric.name] = {metric.reason, standard.on_request};
    return true;
  }

  void tell_unrequested() {
    for (const auto& [name, asking] : unrequested_) {
      const auto& [reason, option] = asking;
      std::string told = text(part_.name(), ": ", name, ": ", reason);
      // A reason that speaks of the option says itself what it lacks.
      if (reason.find(option) == std::string::npos) told += "; measure with " + option;
      verdict_.not_checked.push_back(std::move(told));
    }
  }

  void look_for_listed(const CaseResult& result, const ListedCase& listed,
                       const std::vector<std::string>& names) {
    if (listed.reference && !result.variants.contains("reference"))
      missing(result.id, "reference", "", "the reference variant is listed and was not measured",
              part_.run_again());
    const std::vector<NamedMetric> all = named_metrics(result);
    for (const std::string& name : lost_metrics(all, names))
      missing(result.id, "optimized", name, "is listed and was not measured", part_.run_again());
    if (!listed.reference || !result.variants.contains("reference")) return;
    for (const std::string& name : names) look_for_bounded_reference(result, name, all);
  }

  // A bound on the reference holds without a baseline, so its metric must not go unnoticed.
  void look_for_bounded_reference(const CaseResult& result, const std::string& name,
                                  const std::vector<NamedMetric>& all) {
    const NamedMetric* optimized = find_measured(all, "optimized", name);
    if (!optimized || name == "identity" || find_measured(all, "reference", name)) return;
    const Standard standard =
        policy_.standard(result.id, part_.device_class(), "reference", name, optimized->kind);
    if (!standard.bounds.empty())
      missing(result.id, "reference", name, "has a bound and was not measured", part_.run_again());
  }

  // Entries that the results do not speak about: of what was accepted before the change, and of
  // what it accepts itself. That it takes them out excuses nothing.
  void look_for_lost_entries() {
    if (part_.results.partial) return;
    for (const auto* baseline : {&part_.baseline, &part_.proposed})
      if (*baseline)
        for (const auto& [key, entry] : (*baseline)->entries)
          if (judged_.insert(key).second) look_for_lost(key, entry);
  }

  void look_for_lost(const std::string& key, const Entry& entry) {
    const std::size_t first = key.find('|');
    const std::size_t second = key.rfind('|');
    const std::string case_id = key.substr(0, first);
    const std::string variant = key.substr(first + 1, second - first - 1);
    const std::string metric = key.substr(second + 1);
    if (metric == kernels_metric || is_known_missing(case_id, metric)) return;
    const auto listed = std::find_if(part_.list.cases.begin(), part_.list.cases.end(),
                                     [&](const ListedCase& row) { return row.id == case_id; });
    const bool is_listed = listed != part_.list.cases.end();
    const std::string& tier = part_.results.tier;
    if (is_listed && tier_includes("gate", listed->tier) && !tier_includes(tier, listed->tier))
      return;  // a run of a tier before
    const std::string accepted =
        text("has an accepted value, ", readable(entry.value, ""), ", and ");
    if (const Removal* gone = policy_.removal(case_id, part_.device_class(), variant, metric)) {
      Row row = judge_.new_row(case_id, variant, metric);
      row.verdict = verdict::accepted;
      row.evidence["rule"] = gone->place;
      judge_.say(row, text(accepted, "is gone; accepted with this change: ", gone->why));
      verdict_.rows.push_back(std::move(row));
      return;
    }
    missing(case_id, variant, metric,
            text(accepted, is_listed && !tier_includes("gate", listed->tier)
                               ? "its case is of the tier " + listed->tier + " now"
                               : "was not measured"),
            part_.accept_command());
  }

  // A metric of another kind, unit or direction is judged by other rules, or by none.
  void tell_changed_meanings() {
    for (const ChangedMeaning& changed : part_.changed_meanings()) {
      Row row = judge_.new_row(part_.results.suite, case_variant, changed.metric);
      row.kind = changed.listed.kind;
      row.unit = changed.listed.unit;
      row.verdict = changed.in_this_change ? verdict::accepted : verdict::fresh;
      row.blocking = !changed.in_this_change;
      if (row.blocking) row.next = part_.accept_command();
      judge_.say(row, text("is ", text_of(changed.listed), ", says the list, and was accepted as ",
                           text_of(changed.accepted),
                           changed.in_this_change ? "; accepted with this change" : ""));
      verdict_.rows.push_back(std::move(row));
    }
  }

  bool is_known_missing(const std::string& case_id, const std::string& metric) const {
    return std::any_of(verdict_.rows.begin(), verdict_.rows.end(), [&](const Row& row) {
      return row.verdict == verdict::missing && row.case_id == case_id &&
             (row.metric.empty() || row.metric == metric);
    });
  }

  // "a hand-over between its threads took 51 ns and takes 350 ns"; empty where it moved too little.
  std::optional<std::string> other_hardware(const CaseResult& result) const {
    const Entry* base =
        find_entry(part_.baseline, entry_key(result.id, case_variant, handover_metric));
    const auto at = result.metrics.find(handover_metric);
    const auto* before = base ? std::get_if<double>(&base->value) : nullptr;
    if (!before || at == result.metrics.end() || !at->second.number()) return std::nullopt;
    const double now = *at->second.number();
    if (now <= further_apart * *before) return std::nullopt;
    return text("a hand-over between threads took ", readable(*before, "s"), " and takes ",
                readable(now, "s"), " -> the machine");
  }

  // Of what no paired comparison has looked at nothing is decided.
  void doubt_other_hardware(const std::map<std::string, const CaseResult*>& cases) {
    for (const std::size_t number : screened_) {
      Row& row = verdict_.rows[number];
      if (!is_suspect(row) || asked_.contains(number)) continue;
      const auto because = other_hardware(*cases.at(row.case_id));
      if (!because) continue;
      row.evidence["handover"] = *because;
      row.evidence.erase("control");  // which moved less than threads that wait for each other
      row.verdict = verdict::noisy;   // code that became slower may hide behind it
      row.next = part_.run_again();
      row.blocking = row.blocking && undecided_fails_;
    }
  }

  static bool is_suspect(const Row& row) {
    return row.verdict == verdict::regression || row.verdict == verdict::noisy;
  }

  // About the suspects that moved most, `most` of them, each once.
  void ask(const SecondOpinion& second_opinion, std::size_t most) {
    std::vector<Row*> rows;
    for (const std::size_t number : screened_)
      if (Row& row = verdict_.rows[number]; is_suspect(row) && !asked_.contains(number))
        rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
      return std::abs(a->change.value_or(0)) > std::abs(b->change.value_or(0));
    });
    rows.resize(std::min(rows.size(), most));
    for (const Row* row : rows) asked_.insert(static_cast<std::size_t>(row - verdict_.rows.data()));
    if (!rows.empty()) second_opinion(rows, verdict_.notes);
  }

  // A machine that moved is no news to a paired comparison: one suspect that it confirms is enough
  // to excuse none.
  bool is_confirmed_in_part(const SecondOpinion& second_opinion) {
    ask(second_opinion, fewest_to_compare);
    return std::any_of(asked_.begin(), asked_.end(), [&](std::size_t number) {
      return verdict_.rows[number].verdict == verdict::regression;
    });
  }

  // Many suspects at once have one cause. Code that became slower leaves its reference where it
  // was, so only suspects whose reference moved as well, or is unknown, count and are excused.
  // Times excuse times; ratios excuse both.
  bool has_environment_moved(const std::string& kind, const SecondOpinion& second_opinion) {
    std::set<std::string> cases;
    for (const Suspect& suspect : suspects_) {
      const Row& row = verdict_.rows[suspect.row];
      if (row.kind == kind && suspect.machine_possible) cases.insert(row.case_id);
    }
    const std::size_t total = part_.results.cases.size();
    const bool third = cases.size() >= fewest_for_a_third && 3 * cases.size() > total;
    if (cases.size() <= policy_.most_suspects() && !third) return false;
    if (second_opinion && is_confirmed_in_part(second_opinion)) return false;
    const bool times_only = kind == "time";
    verdict_.notes.push_back(text("the environment moved: ", cases.size(), " of ", total,
                                  " cases of ", part_.name(), " are suspect at once; their times ",
                                  times_only ? "" : "and ratios ", "are advisory"));
    for (const Suspect& suspect : suspects_) {
      Row& row = verdict_.rows[suspect.row];
      if (!suspect.machine_possible || (times_only && row.kind != "time")) continue;
      if (asked_.contains(suspect.row)) continue;
      row.verdict = verdict::environment;
      row.next = part_.run_again();
      row.blocking = false;
    }
    return true;
  }
};

}  // namespace

PartVerdict judge_part(const Part& part, const Policy& policy, bool require_baseline,
                       bool undecided_fails, const SecondOpinion& second_opinion) {
  return PartJudge(part, policy, undecided_fails).run(require_baseline, second_opinion);
}

}  // namespace holdfast::gate
