// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/compare/comparison.hpp"
#include "gate/compare/confirmed_row.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/judge/suspects.hpp"
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
  const std::string why = not_of_binary(results.run, head);
  return why.empty() ? "" : text("the results were ", why, "; measure again");
}

bool times_case(const List& list, const std::string& device, const std::string& case_id) {
  const ListedCase* listed = list.find(case_id);
  return listed && listed->has(device_kind(device), "time_s");
}

// What holds for so many rows that no comparison looked at.
std::string word_on(std::size_t as_screened, std::size_t open) {
  std::string times =
      text(plural(open, "time"), " beside the base ", open == 1 ? "is" : "are", " undecided");
  if (as_screened == 0) return times;
  return text("screening's word on ", open > 0 ? "the others" : "them", " stands",
              open > 0 ? ", and " + times : "");
}

// Suspect rows by case and tolerance: what one metric's rule allows must not excuse another metric.
using Comparisons = std::map<std::pair<std::string, double>, std::vector<Row*>>;

std::pair<std::string, double> comparison_of(const Row& row, const Part& part,
                                             const Policy& policy) {
  return {row.case_id, terms_of(row, part, policy).tolerance};
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
        rows_(part, policy_, plan.undecided_fails, notes),
        progress_(part.results.suite),
        hindrance_(hindrance(plan, part)) {
    if (hindrance_.empty()) base_content_ = provenance(plan.base / part.results.suite).content;
    rows_.set_base_content(base_content_);
  }

  // How many comparisons it takes.
  std::size_t count(const std::vector<Row*>& suspects) const {
    std::set<std::pair<std::string, double>> found;
    for (const Row* row : suspects)
      if (why_not(*row).empty()) found.insert(comparison_of(*row, part_, policy_));
    return found.size();
  }

  void run(const std::vector<Row*>& suspects) {
    Comparisons comparisons;
    std::size_t left_out = 0, left_open = 0;
    for (Row* row : suspects) {
      if (const std::string why = why_not(*row); !why.empty())
        rows_.note(*row, why);
      else if (const auto key = comparison_of(*row, part_, policy_);
               comparisons.contains(key) || comparisons.size() < allowance_.comparisons)
        comparisons[key].push_back(row);
      else if (++left_out; rows_.leave_open(*row))
        ++left_open;
    }
    if (left_out > 0)
      notes_.push_back(text("not compared: ", plural(left_out, "value"), " of ", part_.name(),
                            " that moved less than the ", comparisons.size(), " cases that were; ",
                            word_on(left_out - left_open, left_open)));
    allowance_.comparisons -= comparisons.size();
    std::size_t number = 0;
    for (const auto& [what, rows] : comparisons)
      compare_case({.title = text("A/B ", ++number, " of ", comparisons.size(), ", ", what.first),
                    .case_id = what.first,
                    .tolerance = what.second,
                    .rows = rows});
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
  ConfirmedRows rows_;
  Progress progress_;
  const std::string hindrance_;
  std::string base_content_ = {};  // empty where there is a hindrance
  std::optional<Builds> builds_ = {};
  std::optional<List> base_list_ = {};
  std::optional<MachineLock> lock_ = {};
  std::vector<Compared> open_ = {};  // cases that spent their budget undecided

  // Why no comparison can look at the row; empty where one can.
  std::string why_not(const Row& row) const {
    if (std::string why = no_subject(row); !why.empty()) return why;
    if (!hindrance_.empty()) return hindrance_;
    if (!rows_.is_lost_before(row)) return "";
    return text(plan_.base.string(), " is built from the very content that was measured (",
                readable(base_content_, ""), "), and the value was not accepted from it; give the ",
                "build of an earlier content");
  }

  void compare_case(Compared one) {
    const std::string& suite = part_.results.suite;
    const std::string& device = part_.results.env.device_name;
    const ComparisonPlan plan{
        .unit = {.device = device, .seconds = plan_.unit_seconds},
        .decision = {.tolerance = one.tolerance,
                     .budget_seconds = stretched_budget(plan_.budget_seconds,
                                                        stretch_of_load(load_of_keepers(device))),
                     .clock = plan_.clock}};
    const std::vector<Row*> rows = one.rows;  // a copy: the case may move to open_
    guarded(rows, [&] {
      if (!builds_) {
        base_list_ = listed_by(plan_.base / suite);
        // Where no room was found for the builds, it is locked, and would be waited for for ever.
        if (!lock_) lock_ = lock_device(device, progress_);
        builds_.emplace(Builds::Build{.binary = plan_.base / suite,
                                      .names = former_names(*base_list_, plan_.aliases)},
                        Builds::Build{plan_.head / suite});
      }
      if (!times_case(*base_list_, device, former_name(builds_->base().names, one.case_id)))
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

  // Continues one of `open` undecided cases, which share equally what is left.
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
    for (Row* row : one.rows) rows_.decide(*row, found, one.tolerance);
  }

  // If a case cannot be compared, each of its rows says why.
  template <class Step>
  void guarded(const std::vector<Row*>& rows, Step step) {
    try {
      step();
    } catch (const Error& error) {
      for (Row* row : rows)
        if (is_lost(error))
          rows_.lose(*row, error.what());
        else
          rows_.note(*row, error.what());
    }
  }

  // Whether the build that cannot go on is the one that was measured.
  static bool is_lost(const Error& error) {
    const auto* build = dynamic_cast<const BuildError*>(&error);
    return build && build->is_of_head() && build->fault() == Fault::incomplete;
  }
};

}  // namespace

std::size_t count_comparisons(const ConfirmPlan& plan, const Part& part, const Policy& policy,
                              const std::vector<Row*>& suspects) {
  std::vector<std::string> notes;
  Allowance allowance;
  return Confirming(plan, part, policy, notes, allowance).count(suspects);
}

void confirm(const ConfirmPlan& plan, const Part& part, const Policy& policy,
             const std::vector<Row*>& suspects, std::vector<std::string>& notes,
             Allowance& allowance) {
  Confirming(plan, part, policy, notes, allowance).run(suspects);
}

}  // namespace holdfast::gate
