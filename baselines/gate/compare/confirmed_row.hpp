// SPDX-License-Identifier: Apache-2.0
// Applies a comparison in lock step to the row of a time or ratio that screening suspected: the row
// keeps what screening said and adds what the comparison found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gate/compare/sequential.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// What a comparison holds a row to.
struct Terms {
  Standard standard = {};
  double tolerance = 0;  // the loss that passes
  bool blocks = false;   // any other loss, unless it is waived
};

// The merge base's, or the change's own where these are stricter. What a rule allows beside the
// base is nothing that a bound allows.
Terms terms_of(const Row& row, const Part& part, const Policy& policy);

// The rows of one part, compared with one base.
class ConfirmedRows {
 public:
  // `policy` knows the part's metrics.
  ConfirmedRows(const Part& part, const Policy& policy, bool undecided_fails,
                std::vector<std::string>& notes)
      : part_(part), policy_(policy), undecided_fails_(undecided_fails), notes_(notes) {}

  void set_base_content(std::string content) { base_content_ = std::move(content); }
  // Whether this and the base are builds of one content, and the value was accepted from another:
  // their comparison cannot show a loss that their content already had.
  bool is_lost_before(const Row& row) const;

  // Makes a time's loss beside a base of the same hour, which no comparison looked at, undecided.
  // Returns false for any other row, on which screening's verdict stands.
  bool leave_open(Row& row);
  // Leaves the row open, and notes why no comparison looked at it.
  void note(Row& row, const std::string& why);
  // The measured build crashed, hung or gave a wrong answer when it was timed again: unless
  // screening has failed the row already, its case has no measurement to trust.
  void lose(Row& row, const std::string& why);
  void decide(Row& row, const Comparison& found, double tolerance);

 private:
  const Entry* entry(const Row& row) const;
  bool is_unchanged() const { return base_content_ == part_.results.run.content; }
  bool has_base_of_the_hour(const Row& row) const;
  bool is_accepted_from_base(const Row& row) const;
  Terms terms(const Row& row) const { return terms_of(row, part_, policy_); }
  void keep_drift(Row& row, double worsening);
  void keep_suspect(Row& row, bool is_loss, const std::string& said);
  void clear(Row& row, const Comparison& found, Paired decision, const std::string& said);

  const Part& part_;
  const Policy& policy_;
  const bool undecided_fails_;
  std::vector<std::string>& notes_;
  std::string base_content_ = {};
};

}  // namespace holdfast::gate
