// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/check/check.hpp"

#include <algorithm>
#include <map>

#include "gate/base/process.hpp"
#include "gate/commands/check/allowance.hpp"
#include "gate/commands/check/check_measured.hpp"
#include "gate/commands/check/check_state.hpp"
#include "gate/commands/check/proposal.hpp"
#include "gate/compare/confirm.hpp"
#include "gate/documents/again.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/explain/detectors.hpp"
#include "gate/judge/part.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void add(const PartVerdict::Gating& part, PartVerdict::Gating& all) {
  all.all += part.all;
  all.unheld += part.unheld;
}

// Values that passed without being compared with anything make the verdict less than "well".
void tell_unheld(const PartVerdict::Gating& counts, const PartVerdict::Gating& times,
                 Verdict& verdict) {
  if (counts.all + times.all == 0) verdict.caveats.push_back("nothing that gates was measured");
  const std::size_t unheld = counts.unheld + times.unheld;
  if (unheld == 0) return;
  verdict.caveats.push_back(
      counts.unheld == 0 ? text(times.unheld, " of ", times.all, " times and ratios not gated here")
                         : text(unheld, " of ", counts.all + times.all, " values not gated here"));
}

// The number of values that were not requested, by metric: also a reason for less than "well".
using Unrequested = std::map<std::string, std::size_t>;

void tell_unrequested(const Unrequested& unrequested, Verdict& verdict) {
  std::string metrics;
  std::size_t all = 0;
  for (const auto& [metric, values] : unrequested) {
    add_to(metrics, metric, " and ");
    all += values;
  }
  if (all > 0)
    verdict.caveats.push_back(
        text(plural(all, "accepted or bounded value"), " of ", metrics, " not measured here"));
}

// Empty where nothing is to be confirmed.
std::optional<ConfirmPlan> confirm_plan(const CheckRequest& request) {
  if (!request.confirm) return std::nullopt;
  const fs::path head = request.root.lists.value_or(binary_folder());
  return ConfirmPlan{.base = base_folder("confirm", *request.confirm, head),
                     .head = head,
                     .budget_seconds = request.confirm_budget_seconds,
                     .unit_seconds = request.confirm_unit_seconds,
                     .undecided_fails = request.undecided_fails};
}

std::size_t count_present(const Root& root) {
  return static_cast<std::size_t>(
      std::count_if(root.parts.begin(), root.parts.end(),
                    [](const MeasuredPart& part) { return !part.no_device(); }));
}

// Whether a part can be compared: a dry device executes nothing, and its counts are exact.
bool is_compared(const MeasuredPart& part) {
  return !part.no_device() && device_kind(part.results.env.device_name) != "cuda-dry";
}

void look_for_symptoms(const CheckRequest& request, const Part& part, Verdict& verdict) {
  std::vector<Detection> found = examine(
      part.results, read_root_profiles(request.directory, part.device_class(), part.results.suite),
      part.list);
  append(verdict.notes, unseen(part.results, part.list, found));
  verdict.findings.insert(verdict.findings.end(), std::make_move_iterator(found.begin()),
                          std::make_move_iterator(found.end()));
}

Part loaded(const CheckRequest& request, const Root& root, const CheckState& state,
            const std::optional<ConfirmPlan>& plan, const MeasuredPart& measured) {
  Part part{.results = measured.results,
            .list = measured.list,
            .directory = request.directory.string(),
            .given = request.given(),
            .is_alone = count_present(root) == 1,
            .again = measured_again(measured.results, request.again)};
  state.load(part);
  if (plan)
    part.beside = read_beside(request.directory, part.results, plan->base / part.results.suite,
                              state.aliases(), part.given.measuring());
  return part;
}

// How many comparisons each part may make, of those that the policy allows for one check.
std::vector<std::size_t> shares_of(const CheckRequest& request, const Root& root,
                                   const CheckState& state,
                                   const std::optional<ConfirmPlan>& plan) {
  std::vector<std::size_t> wanted(root.parts.size(), 0);
  for (std::size_t i = 0; plan && i < wanted.size(); ++i) {
    if (!is_compared(root.parts[i])) continue;
    const Part part = loaded(request, root, state, plan, root.parts[i]);
    const SecondOpinion count = [&](const std::vector<Row*>& suspects, std::vector<std::string>&) {
      wanted[i] += count_comparisons(*plan, part, state.policy(), suspects);
    };
    (void)judge_part(part, state.policy(), request.require_baseline, request.undecided_fails,
                     count);
  }
  return shares(state.policy().most_suspects(), wanted);
}

// Empty where nothing is compared. A part may be asked more than once.
SecondOpinion second_opinion(const std::optional<ConfirmPlan>& plan, const Part& part,
                             const Policy& policy, Allowance& left) {
  if (!plan || device_kind(part.results.env.device_name) == "cuda-dry") return {};
  return [&](const std::vector<Row*>& suspects, std::vector<std::string>& notes) {
    confirm(*plan, part, policy, suspects, notes, left);
  };
}

// Judges the parts of a root one by one and collects the verdict.
class Checking {
 public:
  Checking(const CheckRequest& request, const Root& root, const CheckState& state,
           const std::optional<ConfirmPlan>& plan)
      : request_(request), root_(root), state_(state), plan_(plan) {
    for (const MeasuredPart& measured : root_.parts)
      refuse_other_content(request_, measured, verdict());
  }

  // A part also gets the comparisons that earlier parts did not need.
  void judge(const MeasuredPart& measured, std::size_t comparisons) {
    if (measured.no_device()) {
      tell_absent(measured.results);
      return;
    }
    ++judged_;
    Part part = loaded(request_, root_, state_, plan_, measured);
    for (const fs::path& again : request_.again)
      if (!fs::exists(again / part.device_class() / measured.file.filename()))
        verdict().not_checked.push_back(
            text(part.name(), ": --again=", again.string(), " has no run of it"));
    part.may_be_accepted = acceptance(request_, state_, part);
    if (plan_ && is_compared(measured)) tell_lost_by_base(part, verdict());
    left_.comparisons += comparisons;
    add_found(part,
              judge_part(part, state_.policy(), request_.require_baseline, request_.undecided_fails,
                         second_opinion(plan_, part, state_.policy(), left_)));
  }

  Checked end() {
    state_.tell(verdict());
    look_for_expected(request_, root_, verdict());
    tell_unmeasured(request_, root_, verdict());
    if (judged_ > 0) tell_unheld(counts_, times_, verdict());
    tell_unrequested(unrequested_, verdict());
    if (judged_ == 0 && verdict().exit == 0) {
      if (root_.parts.empty()) throw nothing_there(request_);
      verdict().exit = exit_code(Fault::no_device);
    }
    for (const Row& row : verdict().rows) ++verdict().counts[row.verdict];
    sort_by_severity(verdict().findings);
    return std::move(checked_);
  }

 private:
  const CheckRequest& request_;
  const Root& root_;
  const CheckState& state_;
  const std::optional<ConfirmPlan>& plan_;
  Checked checked_ = {};
  std::size_t judged_ = 0;
  PartVerdict::Gating counts_ = {}, times_ = {};
  Unrequested unrequested_ = {};
  Allowance left_ = {};

  Verdict& verdict() { return checked_.verdict; }

  void tell_absent(const Results& results) {
    verdict().not_checked.push_back(text(results.suite, " on ", results.env.device_name,
                                         ": no such device (",
                                         results.reason.value_or("no reason given"), ")"));
    add_caveat(text(results.suite, " on ", results.env.device_name, " not measured here"),
               verdict());
  }

  void add_found(const Part& part, PartVerdict found) {
    checked_.patch += proposed_patch(request_, state_, part, found);
    if (request_.asks_what_may_be_accepted && part.may_be_accepted())
      checked_.acceptable.insert(baseline_file(part.device_class(), part.results.suite));
    if (!shortcoming(part.results).empty())
      add_caveat("not all of the gate tier was measured", verdict());
    if (part.results.run.sources) add_caveat("of device code that is not the build's", verdict());
    add(found.counts, counts_);
    add(found.times, times_);
    for (const auto& [metric, values] : found.unrequested) unrequested_[metric] += values;
    verdict().rows.insert(verdict().rows.end(), std::make_move_iterator(found.rows.begin()),
                          std::make_move_iterator(found.rows.end()));
    append(verdict().notes, found.notes);
    append(verdict().not_checked, found.not_checked);
    look_for_symptoms(request_, part, verdict());
    verdict().exit = worse_exit_code(verdict().exit, found.exit);
  }
};

}  // namespace

Given CheckRequest::given() const {
  Given given{.lists = root.lists, .base = confirm};
  if (baselines != CheckRequest().baselines) given.baselines = baselines;
  if (!policy.empty()) given.policy = policy;
  return given;
}

Checked check(const CheckRequest& request) {
  std::optional<ConfirmPlan> plan = confirm_plan(request);
  refuse_class_folder(request.directory, "holdfast check");
  const Root root = read_root(request.directory, request.root);
  const CheckState state(request, root);
  if (plan) plan->aliases = state.aliases();

  Checking checking(request, root, state, plan);
  const std::vector<std::size_t> allowed = shares_of(request, root, state, plan);
  for (std::size_t i = 0; i < root.parts.size(); ++i) checking.judge(root.parts[i], allowed[i]);
  return checking.end();
}

}  // namespace holdfast::gate
