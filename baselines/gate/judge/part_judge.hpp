// SPDX-License-Identifier: Apache-2.0
// Judges one part; the members are what all steps share. For judge/ alone.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "gate/judge/metric.hpp"
#include "gate/judge/part.hpp"
#include "gate/judge/suspects.hpp"

namespace holdfast::gate {

class PartJudge {
 public:
  PartJudge(const Part& part, const Policy& policy, bool undecided_fails, bool confirmed)
      : part_(part),
        policy_(policy.with(part.metrics())),
        undecided_fails_(undecided_fails),
        judge_(part, policy_, undecided_fails, confirmed),
        suspects_(part, policy_, undecided_fails, verdict_) {}
  PartJudge(const PartJudge&) = delete;  // its suspects refer to this verdict
  PartVerdict run(bool require_baseline, const SecondOpinion& second_opinion);

 private:
  const Part& part_;
  const Policy policy_;
  const bool undecided_fails_;
  const MetricJudge judge_;
  PartVerdict verdict_ = {};
  Suspects suspects_;
  std::vector<std::size_t> gating_ = {};  // rows of the verdict
  std::set<std::string> judged_ = {};     // entry keys
  std::set<std::string> measured_ = {};   // names of metrics that any case has
  // Metrics, why they are absent, and the option that asks for them.
  std::map<std::string, std::pair<std::string, std::string>> unrequested_ = {};

  void refuse_custom_run() const;
  void look_for_lost_baseline();
  bool tell_absent_baseline();
  void tell_how_it_ran();
  bool tell_invalid_measurement();
  void judge_cases();
  bool has_gated_times() const;
  std::string others() const;
  void missing(const std::string& case_id, const std::string& variant, const std::string& metric,
               const std::string& because, const std::string& next);
  void judge_case(const CaseResult& result, const ListedCase& listed,
                  const std::vector<std::string>& names);
  void judge_wrong(const CaseResult& result, const std::string& reason);
  void excuse_entries(const std::string& case_id);
  void judge_metrics(const CaseResult& result);
  void count_gating();
  bool is_unrequested(const CaseResult& result, const NamedMetric& metric);
  void tell_unrequested();
  void tell_idle_rules();
  void tell_blind();
  bool is_held(const Row& row) const;
  void call_warnings();
  void look_for_listed(const CaseResult& result, const ListedCase& listed,
                       const std::vector<std::string>& names);
  void look_for_bounded(const CaseResult& result, const std::string& variant,
                        const std::string& name, const std::vector<NamedMetric>& all);
  std::vector<std::pair<std::string, const Entries*>> accepted_entries() const;
  void look_for_lost_entries();
  void look_for_lost(const std::string& key, const Entry& entry, const std::string& processor);
  void look_for_lost_bounds();
  std::string next_of_lost(const EntryName& name) const;
  void lose(const EntryName& name, const std::string& processor, const std::string& had,
            const std::string& how);
  void tell_changed_meanings();
  bool is_known_missing(const std::string& case_id, const std::string& metric) const;
};

}  // namespace holdfast::gate
