// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/suspects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/screening.hpp"

namespace holdfast::gate {
namespace {

// More suspects than the policy allows, or a handful that is more than a third of the cases, are
// due to the machine, not the code.
constexpr std::size_t fewest_for_a_third = 4;
constexpr std::size_t fewest_to_compare = 3;  // before many suspects are put down to the machine
// As a log: a shared core leaves half of its units.
constexpr double most_by_sharing = std::numbers::ln2;
constexpr const char* cores_evidence = "cores";
constexpr const char* shared_cores =
    "others computed on the other halves of its cores, which bends times and ratios by up to a "
    "half -> the machine";

// Whether sharing leaves the row undecided, and not that too few processes count at all.
bool is_bent_by_sharing(const CaseResult& result, const Row& row) {
  if (!had_shared_cores(result) || row.standard == held_against::beside) return false;
  const std::vector<NamedMetric> all = named_metrics(result);
  const NamedMetric* metric = find_measured(all, row.variant, row.metric);
  return metric && metric->measured->processes >= enough_processes;
}

// Whether a comparison measures the metric, or determines it; any other time or ratio is of
// something that it does not run.
bool is_of_a_step(const std::string& metric) {
  return metric == "time_s" || metric == "speedup";
}

}  // namespace

std::string no_subject(const Row& row) {
  if (row.variant == "reference")
    return "the reference variant is the control of a comparison, not its subject";
  return is_of_a_step(row.metric) ? ""
                                  : "a comparison times steps, which is not what this metric tells";
}

bool stand_otherwise(double before, double now, const std::string& kind) {
  const bool further = now > further_apart * before, closer = before > further_apart * now;
  return further || (closer && kind == "ratio");
}

void Suspects::note_next(const JudgedMetric& judged) {
  if (judged.screened)
    screened_.push_back({verdict_.rows.size(), judged.urgency, judged.alone, judged.bound});
  if (judged.suspect) suspects_.push_back({verdict_.rows.size(), judged.machine_possible});
}

bool Suspects::decide(const SecondOpinion& second_opinion) {
  const bool moved = has_environment_moved("ratio", second_opinion) ||
                     has_environment_moved("time", second_opinion);
  if (second_opinion) ask(second_opinion, screened_.size(), [](const Row&) { return true; });
  resolve_as_compared();
  doubt_the_machine();
  bring_back_bounds();
  return moved;
}

// A row that was cleared no longer stands for the bound behind it: no comparison says that its
// value is within it.
void Suspects::bring_back_bounds() {
  for (const Screened& one : screened_) {
    Row& row = verdict_.rows[one.row];
    if (!one.bound || row.blocking ||
        severity(told_verdict(row)) <= severity(told_verdict(*one.bound)))
      continue;
    Row bound = *one.bound;
    bound.evidence.merge(row.evidence);
    row = std::move(bound);
  }
}

// "a hand-over between threads took 51 ns and takes 350 ns"; empty if it moved too little, or if
// threads that stand closer can only make the value better: a ratio may get worse, by a faster
// reference.
std::optional<std::string> Suspects::other_hardware(const CaseResult& result,
                                                    const Row& row) const {
  const std::string key = entry_key(result.id, case_variant, handover_metric);
  const Entry* accepted = find_entry(part_.baseline, key);
  const Measured* base = part_.beside ? part_.beside->find(key) : nullptr;
  const auto at = result.metrics.find(handover_metric);
  const auto* before = base       ? std::get_if<double>(&base->value)
                       : accepted ? std::get_if<double>(&accepted->value)
                                  : nullptr;
  if (!before || at == result.metrics.end() || !at->second.number()) return std::nullopt;
  const double now = *at->second.number();
  if (!stand_otherwise(*before, now, row.kind)) return std::nullopt;
  return text("a hand-over between threads took ", readable(*before, "s"), " and takes ",
              readable(now, "s"), " -> the machine");
}

// Makes the row undecided: slower code may hide behind the evidence.
void Suspects::doubt(Row& row, const char* evidence, const std::string& because) const {
  row.evidence[evidence] = because;
  row.evidence.erase("control");  // which depends less on the hand-over
  row.verdict = verdict::noisy;
  row.next = part_.run_again();
  row.blocking = row.blocking && undecided_fails_;
}

// Doubts rows that no paired comparison looked at. Beside a base of the same hour, shared cores
// affect both.
void Suspects::doubt_the_machine() {
  std::map<std::string, const CaseResult*> cases;
  for (const CaseResult& result : part_.results.cases) cases[result.id] = &result;
  for (const Screened& one : screened_) {
    Row& row = verdict_.rows[one.row];
    if (!is_suspect(row) || row.evidence.contains(confirmation_evidence)) continue;
    const CaseResult& result = *cases.at(row.case_id);
    if (const auto because = other_hardware(result, row)) doubt(row, "handover", *because);
    if (row.standard == held_against::accepted && is_bent_by_sharing(result, row) &&
        std::abs(std::log1p(row.change.value_or(0))) < most_by_sharing)
      doubt(row, cores_evidence, shared_cores);
  }
  // Also bounds on which the processes disagree.
  for (Row& row : verdict_.rows)
    if (row.verdict == verdict::noisy && !row.evidence.contains(confirmation_evidence) &&
        cases.contains(row.case_id) && is_bent_by_sharing(*cases.at(row.case_id), row))
      row.evidence[cores_evidence] = shared_cores;
}

bool Suspects::is_suspect(const Row& row) {
  return row.verdict == verdict::regression || row.verdict == verdict::noisy;
}

// Asks about rows that are suspect or worth comparing, the most urgent first and each once: of
// `most` cases at most, and of each case all chosen rows, which one comparison decides.
void Suspects::ask(const SecondOpinion& second_opinion, std::size_t most,
                   const std::function<bool(const Row&)>& chosen) {
  std::vector<Screened> found, wanted;
  for (const Screened& one : screened_)
    if (const Row& row = verdict_.rows[one.row];
        !asked_.contains(one.row) && chosen(row) &&
        (is_suspect(row) || (row.verdict == verdict::pass && one.urgency > 1)))
      found.push_back(one);
  std::stable_sort(found.begin(), found.end(),
                   [](const Screened& a, const Screened& b) { return a.urgency > b.urgency; });
  std::set<std::string> cases;
  for (Screened& one : found) {
    const std::string& case_id = verdict_.rows[one.row].case_id;
    if (cases.size() < most) cases.insert(case_id);
    if (cases.contains(case_id)) wanted.push_back(std::move(one));
  }
  std::vector<Row*> rows;
  for (const Screened& one : wanted) {
    asked_.insert(one.row);
    rows.push_back(&verdict_.rows[one.row]);
  }
  if (rows.empty()) return;
  second_opinion(rows, verdict_.notes);
  for (const Screened& one : wanted) {
    Row& row = verdict_.rows[one.row];
    if (row.evidence.contains(confirmation_evidence)) continue;
    row.resolution = one.alone.loss;  // nothing but screening has looked at it
    row.resolved_by = one.alone.by;
  }
}

// Sets what a comparison would have shown of rows that none looked at: no more than those of this
// run did, and no less than screening alone.
void Suspects::resolve_as_compared() {
  std::vector<double> shown;
  for (const std::size_t number : asked_)
    if (const Row& row = verdict_.rows[number]; row.evidence.contains(confirmation_evidence))
      shown.push_back(row.resolution.value_or(std::numeric_limits<double>::infinity()));
  if (shown.empty()) return;
  const double usual = median(shown);
  for (const Screened& one : screened_) {
    Row& row = verdict_.rows[one.row];
    if (asked_.contains(one.row) || !row.resolution || row.resolved_by == held_against::bound)
      continue;
    const double known = std::min(usual, one.alone.loss.value_or(usual));
    if (std::isfinite(known)) {
      row.resolution = std::max(*row.resolution, known);
    } else {
      row.resolution.reset();
      row.resolved_by = "";
    }
  }
}

// A machine that moved affects both sides of a paired comparison: if it confirms one suspect, or
// clears none, none is excused.
Suspects::Compared Suspects::compare_some(const SecondOpinion& second_opinion) {
  ask(second_opinion, fewest_to_compare, [](const Row& row) { return no_subject(row).empty(); });
  Compared found = Compared::none;
  for (const std::size_t number : asked_) {
    const Row& row = verdict_.rows[number];
    if (row.verdict == verdict::regression) return Compared::a_loss;
    const bool is_cleared = row.verdict == verdict::pass || row.verdict == verdict::drift ||
                            row.verdict == verdict::environment;
    if (is_cleared && row.evidence.contains(confirmation_evidence)) found = Compared::cleared;
  }
  return found;
}

// Many suspects at once have one cause. Code that became slower leaves its reference where it
// was, so only suspects whose reference moved as well, or is unknown, count and are excused.
// Times excuse times; ratios excuse both.
bool Suspects::has_environment_moved(const std::string& kind, const SecondOpinion& second_opinion) {
  std::set<std::string> cases;
  for (const Suspect& suspect : suspects_) {
    const Row& row = verdict_.rows[suspect.row];
    if (row.kind == kind && suspect.machine_possible) cases.insert(row.case_id);
  }
  const std::size_t total = part_.results.cases.size();
  const bool third = cases.size() >= fewest_for_a_third && 3 * cases.size() > total;
  if (cases.size() <= policy_.most_suspects() && !third) return false;
  const std::string at_once =
      text(cases.size(), " of ", total, " cases of ", part_.name(), " are suspect at once");
  if (second_opinion) {
    const Compared compared = compare_some(second_opinion);
    if (compared == Compared::none)
      verdict_.notes.push_back(at_once + ", and no comparison cleared one: none is excused");
    if (compared != Compared::cleared) return false;
  }
  const bool times_only = kind == "time";
  verdict_.notes.push_back(text("the environment moved: ", at_once, "; their times ",
                                times_only ? "" : "and ratios ", "are ",
                                part_.beside ? "undecided unless compared" : "advisory"));
  for (const Suspect& suspect : suspects_) {
    Row& row = verdict_.rows[suspect.row];
    if (!suspect.machine_possible || (times_only && row.kind != "time")) continue;
    if (asked_.contains(suspect.row)) continue;
    // The environment of a base beside it is the same, and explains no difference between them.
    const bool excuses = row.standard != held_against::beside;
    row.verdict = excuses ? verdict::environment : verdict::noisy;
    row.next = part_.run_again();
    row.blocking = row.blocking && undecided_fails_ && !excuses;
  }
  return true;
}

}  // namespace holdfast::gate
