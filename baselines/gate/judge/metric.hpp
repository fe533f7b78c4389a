// SPDX-License-Identifier: Apache-2.0
// One metric of one variant of one case: its row in the verdict, with sentence and evidence.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/documents/measured.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/judge/screening.hpp"

namespace holdfast::gate {

// The smallest loss that would have failed, as a share of the time, and by which standard; none
// where the measurement decides nothing.
struct Resolution {
  std::optional<double> loss = {};
  std::string by = {};
};

struct JudgedMetric {
  Row row;
  // A time or ratio beyond its limit; whether its reference leaves the machine as a possible cause.
  bool suspect = false;
  bool machine_possible = false;
  // A time or ratio that was compared with its baseline, not with a bound; both are positive.
  bool screened = false;
  // Its worsening, in units of what would make it suspect: comparisons begin with the largest.
  // Below 1 none is needed.
  double urgency = 0;
  // The bound that warns or is undecided, where a row that may block stands in its place.
  std::optional<Row> bound = {};
  // Beyond its limit it would be reported, given an accepted value or a bound.
  bool gates = false;
  Resolution alone = {};  // where no comparison looks at it
};

class MetricJudge {
 public:
  // `confirmed`: a comparison in lock step looks at what is suspect.
  MetricJudge(const Part& part, const Policy& policy, bool undecided_fails, bool confirmed = false)
      : part_(part), policy_(policy), undecided_fails_(undecided_fails), confirmed_(confirmed) {}

  // `all` are the metrics of the same case: a control and the compiled code are among them.
  JudgedMetric judge(const CaseResult& result, const NamedMetric& metric,
                     const std::vector<NamedMetric>& all) const;

  // Whether the list promises the metric of that case on this device.
  bool is_listed(const std::string& case_id, const std::string& metric) const;

  // The bounds on sums of metrics, e.g. lower_s+compile_s.
  std::vector<Row> judge_sums(const CaseResult& result, const std::vector<NamedMetric>& all) const;

  // A row about a case, without verdict.
  Row new_row(const std::string& case_id, const std::string& variant,
              const std::string& metric) const;
  Row new_row(const Row& like, const Standard& standard) const;  // of the same value

 private:
  struct Context;
  JudgedMetric judge_by(Standard standard, const CaseResult& result, const NamedMetric& metric,
                        const std::vector<NamedMetric>& all) const;
  void judge_absent(const Standard& standard, const NamedMetric& metric, Row& row) const;
  std::string why_expected(const Standard& standard, const Row& row) const;
  bool gates(const Standard& standard, const CaseResult& result, const NamedMetric& metric) const;
  bool is_undecidable(const Context& context, const Row& row) const;
  static bool is_within_bounds(const Standard& standard, const Row& row);
  bool judge_absolute(const Standard& standard, const Measured& measured, const Measured* base,
                      Row& row) const;
  bool judge_bound(const Rule& rule, const Standard& standard, const Measured& measured,
                   const Measured* base, Row& row) const;
  bool was_beyond(const Bound& bound, const Standard& standard, const Measured& base,
                  const std::string& unit) const;
  void add_accepted(const Context& context, Row& row) const;
  void judge_relative(const Context& context, JudgedMetric& judged) const;
  void judge_beside(const Measured& base, const Context& context, JudgedMetric& judged) const;
  void judge_accepted(const Entry& base, const Context& context, JudgedMetric& judged) const;
  void decide(const Judgement& judgement, const Entry* accepted, const Context& context,
              JudgedMetric& judged) const;
  const Measured* beside(const Context& context) const;
  std::optional<std::string> stood_otherwise(const Context& context) const;
  const Entry* entry_of(const Context& context) const;
  Resolution resolution(const Context& context, bool confirmed) const;
  void add_resolution(const Context& context, JudgedMetric& judged) const;
  static bool is_of_no_process(const Context& context);
  void judge_new(const Context& context, JudgedMetric& judged) const;
  Judgement judge_entry(const Context& context, const Entry& entry, const Entries& entries) const;
  void judge_again(const Context& context, Row& row) const;
  bool is_worse(const Context& context, const Row& row) const;
  bool blocks(const Context& context, const Row& row) const;
  bool is_stored(const std::string& metric) const;
  bool is_accepted_here(const Context& context, const Entry& base, Row& row) const;
  void judge_control(const Context& context, const Judgement& judgement,
                     JudgedMetric& judged) const;
  // as_counted: the counts agree, but are of code for another instruction set than the timed code.
  enum class SameCode { unknown, no, as_counted, yes };
  SameCode compare_code(const Context& context) const;
  bool is_counted(const std::string& case_id) const;
  struct KernelTables {
    std::string accepted = {}, now = {};
  };
  std::optional<KernelTables> kernel_tables(const Context& context,
                                            const std::string& variant) const;
  void add_code_evidence(const Context& context, Row& row) const;
  std::optional<Row> judge_sum(const Sum& sum, const CaseResult& result, const std::string& variant,
                               const std::vector<NamedMetric>& all) const;
  bool is_other_patch_level(const Standard& standard) const;
  void excuse_changed_tools(const Standard& standard, Row& row) const;

  const Part& part_;
  const Policy& policy_;
  const bool undecided_fails_;
  const bool confirmed_;
};

// The entry of a baseline, if there is a baseline and it has one.
const Entry* find_entry(const std::optional<Baseline>& baseline, const std::string& key);

// The row by the merge base's rules or, if only the change's own block, by those. A row that only
// the merge base's block is ACCEPTED if the change says why it loosens each of them.
Row settled(const Standard& before, const Standard& own, const Policy& policy, Row by_before,
            Row by_own);

// The name of its verdict: a row beyond a limit that blocks nothing is no regression.
std::string told_verdict(const Row& row);

// Makes a row that blocks WAIVED, where the policy excuses it until a date.
void waive(const Standard& standard, Row& row);

}  // namespace holdfast::gate
