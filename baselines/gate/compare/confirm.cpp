// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/compare/comparison.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/judge/metric.hpp"
#include "gate/judge/screening.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/measure/suite_run.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// Why this part cannot be compared at all; empty where it can.
std::string hindrance(const ConfirmPlan& plan, const Part& part) {
  const Results& results = part.results;
  if (results.run.sources) return "its device code came from HOLDFAST_SOURCES, not from a build";
  if (const char* sources = std::getenv("HOLDFAST_SOURCES"); sources && *sources)
    return "HOLDFAST_SOURCES gives both builds the same device code; unset it";
  if (!fs::exists(plan.base / results.suite))
    return text(plan.base.string(), " has no suite ", results.suite);
  const fs::path head = plan.head / results.suite;
  if (!fs::exists(head))
    return text(plan.head.string(), " has no suite ", results.suite,
                "; name the folder of the build that was measured with --lists");
  const std::string built = provenance(head).content;
  if (built != results.run.content)
    return text("the results were measured from other content than ", head.string(),
                " is built from; measure again");
  return "";
}

// What a comparison measures, or follows from it alone; any other time or ratio is of something
// that it does not run.
bool is_of_a_step(const std::string& metric) {
  return metric == "time_s" || metric == "speedup";
}

bool times_case(const List& list, const std::string& device, const std::string& case_id) {
  for (const ListedCase& listed : list.cases) {
    if (listed.id != case_id) continue;
    const auto metrics = listed.devices.find(device_kind(device));
    return metrics != listed.devices.end() &&
           std::find(metrics->second.begin(), metrics->second.end(), "time_s") !=
               metrics->second.end();
  }
  return false;
}

// By case and tolerance: what one metric's rule allows must not excuse another metric.
using Comparisons = std::map<std::pair<std::string, double>, std::vector<Row*>>;

// Why a row cannot be compared, whatever its part; empty where it can.
std::string no_subject(const Row& row) {
  if (row.variant == "reference")
    return "the reference variant is the control of a comparison, not its subject";
  return is_of_a_step(row.metric) ? ""
                                  : "a comparison times steps, which is not what this metric tells";
}

Standard standard_of(const Row& row, const Part& part, const Policy& policy) {
  return policy.standard(row.case_id, part.device_class(), row.variant, row.metric, row.kind);
}

std::pair<std::string, double> comparison_of(const Row& row, const Part& part,
                                             const Policy& policy) {
  return {row.case_id, standard_of(row, part, policy).compared_tolerance()};
}

class Confirming {
 public:
  Confirming(const ConfirmPlan& plan, const Part& part, const Policy& policy,
             std::vector<std::string>& notes, Allowance& allowance)
      : plan_(plan),
        part_(part),
        policy_(policy.with(part.metrics())),
        notes_(notes),
        allowance_(allowance),
        progress_(part.results.suite) {}

  void run(const std::vector<Row*>& suspects) {
    Comparisons comparisons;
    std::size_t left_out = 0;
    for (Row* row : suspects) {
      if (const std::string why = no_subject(*row); !why.empty())
        note(*row, why);
      else if (const auto key = comparison_of(*row, part_, policy_);
               comparisons.contains(key) || comparisons.size() < allowance_.comparisons)
        comparisons[key].push_back(row);
      else
        ++left_out;
    }
    if (left_out > 0)
      notes_.push_back(text("not compared: ", plural(left_out, "value"), " of ", part_.name(),
                            " that moved less than the ", comparisons.size(),
                            " cases that were; screening's word on them stands"));
    allowance_.comparisons -= comparisons.size();
    if (comparisons.empty()) return;
    const std::string why = hindrance(plan_, part_);
    if (why.empty()) base_content_ = provenance(plan_.base / part_.results.suite).content;
    std::size_t number = 0;
    for (const auto& [what, rows] : comparisons) {
      ++number;
      std::vector<Row*> compared;
      for (Row* row : rows)
        if (!why.empty())
          note(*row, why);
        else if (is_unchanged() && !has_base_of_the_hour(*row) && !is_accepted_from_base(*row))
          note(*row,
               text(plan_.base.string(), " is built from the very content that was measured (",
                    readable(base_content_, ""), "), and the value was not accepted from ",
                    "it; give the build of an earlier content"));
        else
          compared.push_back(row);
      if (compared.empty()) continue;
      compare_case({.title = text("A/B ", number, " of ", comparisons.size(), ", ", what.first),
                    .case_id = what.first,
                    .tolerance = what.second,
                    .rows = compared});
    }
    for (std::size_t i = 0; i < open_.size(); ++i) go_on(open_[i], open_.size() - i);
  }

 private:
  // Rows that one comparison decides.
  struct Compared {
    std::string title = {}, case_id = {};
    double tolerance = 0;
    std::vector<Row*> rows = {};
    std::optional<PairedRun> run = {};
  };

  const ConfirmPlan& plan_;
  const Part& part_;
  const Policy policy_;
  std::vector<std::string>& notes_;
  Allowance& allowance_;
  Progress progress_;
  std::string base_content_ = {};
  std::optional<Builds> builds_ = {};
  std::optional<List> base_list_ = {};
  std::optional<MachineLock> lock_ = {};
  std::vector<Compared> open_ = {};  // cases that spent their budget undecided

  void note(Row& row, const std::string& why) {
    row.evidence["not confirmed"] = why;
    notes_.push_back(text("not confirmed, so screening's ", told_verdict(row),
                          " stands: ", row.case_id, ' ', row.metric, ": ", why));
  }

  const Entry* entry(const Row& row) const {
    return find_entry(part_.baseline, entry_key(row.case_id, row.variant, row.metric));
  }

  // A comparison of two builds of one content says nothing of a value that was lost before it.
  // Where it was accepted from that content, flags or an old hash may still set the builds apart.
  bool is_unchanged() const { return base_content_ == part_.results.run.content; }

  bool has_base_of_the_hour(const Row& row) const {
    return row.standard == held_against::beside ||
           (row.standard == held_against::bound && part_.beside);
  }

  bool is_accepted_from_base(const Row& row) const {
    return entry(row) && entry(row)->accepted.content == base_content_;
  }

  Standard standard(const Row& row) const { return standard_of(row, part_, policy_); }

  void compare_case(Compared one) {
    const std::string& suite = part_.results.suite;
    const std::string& device = part_.results.env.device_name;
    const ComparisonPlan plan{
        .device = device,
        .unit_seconds = plan_.unit_seconds,
        .decision = {.tolerance = one.tolerance,
                     .budget_seconds = stretched_budget(plan_.budget_seconds,
                                                        stretch_of_load(load_of_keepers(device))),
                     .clock = plan_.clock}};
    const std::vector<Row*> rows = one.rows;  // the case may go to the open ones
    guarded(rows, [&] {
      if (!builds_) {
        base_list_ =
            parse_list(Document(text(suite, " --list=json"), list_of(plan_.base / suite, {})));
        lock_ = lock_device(device, progress_);
        builds_.emplace(Builds::Build{plan_.base / suite}, Builds::Build{plan_.head / suite});
      }
      if (!times_case(*base_list_, device, one.case_id))
        throw Error(Fault::incomplete,
                    text((plan_.base / suite).string(), " does not time this case on ", device));
      const double budget = plan.decision.budget_seconds;
      progress_.say(one.title, ": against ", plan_.base.string(), ", ", std::lround(budget),
                    " s at most");
      one.run.emplace(*builds_, one.case_id, plan);
      measure(one);
      allowance_.seconds += budget - one.run->found().seconds;
      if (one.run->found().decision != Paired::undecided) {
        conclude(one);
        return;
      }
      progress_.say(one.title, ": undecided after ", std::lround(one.run->found().seconds), " s");
      open_.push_back(std::move(one));
    });
  }

  // A case that is still open, one of so many: they have equal parts of what is left.
  void go_on(Compared& one, std::size_t open) {
    const double given = std::max(0., allowance_.seconds / static_cast<double>(open));
    const double before = one.run->found().seconds;
    one.run->give(given);
    if (one.run->wants_unit())
      progress_.say(one.title, ": goes on in what others left, ", std::lround(given),
                    " s more at most");
    guarded(one.rows, [&] {
      try {
        measure(one);
      } catch (const Error& error) {
        if (is_lost(error)) throw;
        notes_.push_back(text(one.case_id, " is decided by what there was when ", error.what()));
      }
      allowance_.seconds -= one.run->found().seconds - before;
      conclude(one);
    });
  }

  void measure(Compared& one) {
    one.run->go_on([&](const Comparison& so_far) {
      progress_.following(text(one.title, ": ", plural(so_far.units.size(), "unit"), ", ",
                               std::lround(so_far.seconds), " s"));
    });
  }

  void conclude(Compared& one) {
    one.run->end();
    const Comparison& found = one.run->found();
    progress_.say(one.title, ": ", describe(found, one.tolerance));
    for (Row* row : one.rows) decide(*row, found, one.tolerance);
  }

  // Where a case cannot be compared, each of its rows tells why.
  template <class Step>
  void guarded(const std::vector<Row*>& rows, Step step) {
    try {
      step();
    } catch (const Error& error) {
      for (Row* row : rows)
        if (is_lost(error))
          lose(*row, error.what());
        else
          note(*row, error.what());
    }
  }

  // Whether it is the build that was measured which cannot go on.
  static bool is_lost(const Error& error) {
    const auto* build = dynamic_cast<const BuildError*>(&error);
    return build && build->is_of_head() && build->fault() == Fault::incomplete;
  }

  static void keep_screening(Row& row) {
    std::string screened = text(told_verdict(row), row.blocking ? " (blocking)" : "");
    if (const auto control = row.evidence.find("control"); control != row.evidence.end())
      screened += "; " + control->second;
    row.evidence["screening"] = screened;
  }

  // The build that was measured fell, hung or talked nonsense when it was to be timed again: where
  // screening has not failed it already, that leaves a case without a measurement to trust.
  void lose(Row& row, const std::string& why) {
    if (row.verdict == verdict::regression && row.blocking) {
      note(row, why);
      return;
    }
    keep_screening(row);
    row.evidence["not confirmed"] = why;
    row.verdict = verdict::missing;
    row.blocking = true;
    row.next = part_.run_again();
    row.sentence += "; it could not be confirmed: " + why;
  }

  // A comparison speaks of what changed since the base. Where the value was accepted from the base
  // too, that is all there is, and the value has moved by so much (log worsening); where it was
  // not, the measurement alone knows what came between, and its distance from the anchor stays.
  void keep_drift(Row& row, double worsening) {
    const Entry* accepted = entry(row);
    if (!accepted || !row.value) return;
    const Standard policy_says = standard(row);
    const double sign = policy_says.better == Better::higher ? -1 : 1;
    const bool since_base = is_accepted_from_base(row);
    const double value = since_base ? std::get<double>(accepted->value) * std::exp(sign * worsening)
                                    : std::get<double>(*row.value);
    if (!since_base)
      row.evidence["base"] =
          text("built from ", readable(base_content_, ""), ", the value was accepted from ",
               readable(accepted->accepted.content, ""), ": what came between is not compared");
    const auto because = drift(policy_says, *accepted, value);
    if (!because) return;
    row.verdict = verdict::drift;
    row.blocking = policy_says.drift_blocks && policy_says.gate == Gate::block;
    row.next = since_base ? part_.explain_command(row.case_id) : part_.run_again();
    row.sentence += "; but it " + *because;
    waive(policy_says, row);
  }

  // What this comparison could have shown, whatever screening hoped of one; a bound may tell less.
  static void resolve(Row& row, const Comparison& found, double tolerance) {
    const double shown = found.clock != Clock::by_load && std::isfinite(found.shift.lower)
                             ? smallest_shown(found.shift, tolerance)
                             : std::numeric_limits<double>::infinity();
    if (row.resolved_by == held_against::bound && row.resolution && *row.resolution <= shown)
      return;
    row.resolution = std::isfinite(shown) ? std::optional(shown) : std::nullopt;
    row.resolved_by = !row.resolution                          ? ""
                      : row.standard == held_against::accepted ? held_against::accepted
                                                               : held_against::beside;
  }

  void decide(Row& row, const Comparison& found, double tolerance) {
    keep_screening(row);
    row.evidence[confirmation_evidence] = describe(found, tolerance);
    if (standard(row).blocks_once_compared()) resolve(row, found, tolerance);
    if (found.control)
      row.evidence["control"] = text(
          "reference variant ", percent(std::expm1(found.control->estimate)), " in the same pairs",
          found.decision == Paired::environment  ? " -> it moved as much"
          : found.decision != Paired::regression ? ""
          : 2 * found.control->estimate < found.shift.estimate
              ? " -> not the machine"
              : " -> the machine may have a part in it");
    else
      row.evidence.erase("control");
    const std::string said = text("A/B of ", plural(found.units.size(), "unit"), ": ",
                                  interval(found.shift), " for the optimized variant");
    const Standard policy_says = standard(row);
    const bool gates = policy_says.blocks_once_compared();
    switch (row.metric == "time_s" ? of_time(found) : found.decision) {
      case Paired::regression:
        row.verdict = verdict::regression;
        row.blocking = gates;
        row.next = part_.explain_command(row.case_id);
        row.sentence += "; confirmed: " + said;
        waive(policy_says, row);
        return;
      case Paired::undecided:
        row.verdict = verdict::noisy;
        row.blocking = gates && plan_.undecided_fails;
        row.next = part_.run_again();
        row.sentence += "; undecided: " + said;
        waive(policy_says, row);
        return;
      case Paired::environment:
        row.verdict = verdict::environment;
        row.sentence += "; " + said +
                        ", and the reference moved as much: the machine or the "
                        "tools, not the variant";
        break;
      case Paired::improved:
      case Paired::pass:
        row.verdict = is_unchanged() ? verdict::environment : verdict::pass;
        row.sentence += "; not so: " + said;
        if (is_unchanged())
          row.sentence += text(has_base_of_the_hour(row)
                                   ? ", and both builds are of one content ("
                                   : ", and the value was accepted from this very content (",
                               readable(base_content_, ""), "), so it is the machine or the tools");
    }
    row.blocking = false;
    row.next.reset();
    const bool is_ratio = row.metric != "time_s";
    const double of_reference = is_ratio && found.control ? found.control->estimate : 0;
    keep_drift(row, found.shift.estimate - of_reference);
    // Rows that pass are told in no list, and this one was suspected.
    if (row.verdict == verdict::pass)
      notes_.push_back(text("screening suspected, the comparison did not find: ", row.sentence));
  }
};

}  // namespace

std::size_t count_comparisons(const Part& part, const Policy& policy,
                              const std::vector<Row*>& suspects) {
  const Policy known = policy.with(part.metrics());
  std::set<std::pair<std::string, double>> found;
  for (const Row* row : suspects)
    if (no_subject(*row).empty()) found.insert(comparison_of(*row, part, known));
  return found.size();
}

void confirm(const ConfirmPlan& plan, const Part& part, const Policy& policy,
             const std::vector<Row*>& suspects, std::vector<std::string>& notes,
             Allowance& allowance) {
  Confirming(plan, part, policy, notes, allowance).run(suspects);
}

}  // namespace holdfast::gate
