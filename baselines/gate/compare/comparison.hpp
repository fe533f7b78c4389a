// SPDX-License-Identifier: Apache-2.0
// Two builds of one case, timed in lock step: two processes, one sample each in turn, a fresh pair
// for each unit. What the machine does meanwhile happens to both.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "gate/base/error.hpp"
#include "gate/base/process.hpp"
#include "gate/compare/sequential.hpp"
#include "gate/documents/beside.hpp"

namespace holdfast::gate {

// Two builds of one suite, copied to paths of equal length: the length of a program's path alone
// can move a kernel by a quarter, through the alignment of its stack and mappings.
class Builds {
 public:
  struct Build {
    std::filesystem::path binary;
    std::map<std::string, std::string> environment = {};  // on top of this process's own
    FormerNames names = {};                               // of cases that it calls otherwise
  };
  // Throws Error(bad_input) where a binary cannot be copied.
  Builds(const Build& base, const Build& head);
  const Build& base() const { return base_; }
  const Build& head() const { return head_; }

 private:
  TemporaryFolder folder_{"compare"};
  Build base_, head_;
};

// What one of the builds did instead of answering.
class BuildError : public Error {
 public:
  BuildError(bool of_head, Fault fault, const std::string& sentence)
      : Error(fault, text(of_head ? "the head's " : "the base's ", sentence)), of_head_(of_head) {}
  bool is_of_head() const noexcept { return of_head_; }

 private:
  bool of_head_;
};

struct ComparisonPlan {
  std::string device = "host";
  double unit_seconds = 0.3;  // that a pair of processes is asked for samples, at least
  double answer_seconds = 120;
  SequencePlan decision = {};
};

// Seconds that a pair is asked for samples which was ready after so many: beside others that takes
// long, and few samples of it would be wasted.
double sampling_seconds(double least, double ready);

// The budget of a machine at rest where everything takes `stretch` times as long: that many times,
// four at most.
double stretched_budget(double at_rest, double stretch);

// What others had of the machine as far as samples felt it, whose threads waited for a CPU for such
// a share of their time: one that goes before others never does.
double others_felt(double share, std::optional<double> waited);

// Two fresh processes, one of each build, timed in turn; `control` asks for the reference variant
// as well. Throws BuildError where a build cannot time the case.
UnitValue measure_unit(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                       bool control, std::mt19937_64& random);

// A case of two builds, unit by unit.
class PairedRun {
 public:
  PairedRun(const Builds& builds, std::string case_id, ComparisonPlan plan);

  // Until it is decided or its seconds are spent. Throws as measure_unit() does; `watch` is called
  // after each unit.
  using Watch = std::function<void(const Comparison&)>;
  void go_on(const Watch& watch = {});
  bool wants_unit() const { return sequence_.wants_unit(); }
  void give(double seconds) { sequence_.give(seconds); }
  void end() { sequence_.end(); }
  const Comparison& found() const { return sequence_.found(); }

 private:
  const Builds& builds_;
  std::string case_id_;
  ComparisonPlan plan_;
  Sequence sequence_;
  std::mt19937_64 random_{std::random_device{}()};
};

// Such a run to its end.
Comparison compare(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                   const PairedRun::Watch& watch = {});

}  // namespace holdfast::gate
