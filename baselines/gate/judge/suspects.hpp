// SPDX-License-Identifier: Apache-2.0
// The times and ratios of one part that screening found worse or could not decide: what all of them
// together say about the machine, and which are decided anew.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gate/judge/metric.hpp"
#include "gate/judge/part.hpp"

namespace holdfast::gate {

// Why a comparison of two builds in lock step says nothing of a row; empty where it does.
std::string no_subject(const Row& row);

// Whether hand-over times of these seconds between threads explain a loss of this kind: threads
// that stand closer only make a ratio worse, by a faster reference.
bool stand_otherwise(double before, double now, const std::string& kind);

class Suspects {
 public:
  // `verdict` is the part's, whose rows are added one by one and then decided here.
  Suspects(const Part& part, const Policy& policy, bool undecided_fails, PartVerdict& verdict)
      : part_(part), policy_(policy), undecided_fails_(undecided_fails), verdict_(verdict) {}

  // Describes the row that is added to the verdict next.
  void note_next(const JudgedMetric& judged);
  // Called once all rows are there. True if so many moved at once that the machine is taken for the
  // cause.
  bool decide(const SecondOpinion& second_opinion);

 private:
  std::optional<std::string> other_hardware(const CaseResult& result, const Row& row) const;
  void doubt(Row& row, const char* evidence, const std::string& because) const;
  void doubt_the_machine();
  static bool is_suspect(const Row& row);
  void ask(const SecondOpinion& second_opinion, std::size_t most,
           const std::function<bool(const Row&)>& chosen);
  void resolve_as_compared();
  void bring_back_bounds();
  enum class Compared { none, cleared, a_loss };
  Compared compare_some(const SecondOpinion& second_opinion);
  bool has_environment_moved(const std::string& kind, const SecondOpinion& second_opinion);

  const Part& part_;
  const Policy& policy_;
  const bool undecided_fails_;
  PartVerdict& verdict_;
  struct Suspect {
    std::size_t row;
    bool machine_possible;
  };
  std::vector<Suspect> suspects_ = {};
  struct Screened {
    std::size_t row;
    double urgency;
    Resolution alone;
    std::optional<Row> bound;
  };
  std::vector<Screened> screened_ = {};
  std::set<std::size_t> asked_ = {};  // rows with a second opinion
};

}  // namespace holdfast::gate
