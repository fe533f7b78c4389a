// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/again.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "harness/measure/known_answers.hpp"
#include "harness/measure/timing.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using Result = std::vector<double>;
using Clock = std::chrono::steady_clock;

constexpr int most_steps = 40, all_steps = most_steps + 1;

std::string other_input_of(const std::string& case_id) {
  return "the reference of " + case_id + ", of its other input";
}

// Repeats steps the way they were timed.
void take(Subject& subject, int count) {
  const Timer timed = timer(*subject.backend, *subject.computation);
  const Counts before = subject.backend->ledger.counts;
  {
    const SteadyPhase steady(*subject.backend, *subject.computation);
    (void)timed(count);
  }
  check_counts(subject, subject.backend->ledger.counts - before, count);
}

class Verification {
 public:
  Verification(const Steps& steps, Subject* reference, Subject& optimized,
               const AgainLimits& limits)
      : steps_(steps), reference_(reference), optimized_(optimized), limits_(limits) {}

  std::optional<std::string> run(Again& done) {
    std::mt19937 draw(limits_.seed);
    const int drawn = static_cast<int>(draw() % most_steps) + 1;
    done.seed = limits_.seed;
    auto fault = steps_.chained ? chained(drawn) : apart();
    done.steps = made_;
    return fault;
  }

 private:
  bool in_time() const { return seconds_since(start_) < limits_.seconds; }

  // How many of `wanted` steps limits_.seconds allow by the measured times, at least one.
  int affordable(int wanted) const {
    double each = optimized_.measured.seconds.value_or(0);
    if (reference_) each += reference_->measured.seconds.value_or(0);
    if (each * wanted <= limits_.seconds) return wanted;
    return std::max(static_cast<int>(limits_.seconds / each), 1);
  }

  std::string told(const Subject& subject, double error, double limit,
                   const std::string& beside) const {
    const std::string what = std::isfinite(error)
                                 ? text("wrong by ", error, ", the limit is ", limit)
                                 : std::string("no result: it holds what is no number");
    return text("verified again after the timed section, the ", variant_name(subject.variant),
                " variant is ", what, " (", beside, "; ", made_, " steps, seed ", limits_.seed,
                "): a step must do all of its work whenever it is called, and start_again() begin "
                "anew");
  }

  std::optional<std::string> beside_oracle(const Subject& subject, const Result& result,
                                           const Result& expected) const {
    const double error = error_of(steps_.oracle, result, expected);
    if (error <= steps_.oracle.limit) return std::nullopt;
    return told(subject, error, steps_.oracle.limit, "oracle: " + steps_.oracle.name);
  }
  std::optional<std::string> beside_reference(const Result& ours, const Result& theirs) const {
    const Oracle& oracle = steps_.oracle;
    const double limit = oracle.between ? oracle.limit : 2 * oracle.limit;
    const double error = oracle.between ? as_error(oracle.between(ours, theirs), oracle.name)
                                        : relative_error(ours, theirs, oracle.parts);
    if (error <= limit) return std::nullopt;
    return told(optimized_, error, limit, "beside the reference variant, which did the same");
  }

  Result from_the_start(Subject& subject, int count) {
    subject.computation->start_again(0);
    take(subject, count);
    return subject.computation->result();
  }

  // How far the oracle is asked without a reference: first what it computed before, then, if it
  // can, the drawn number of steps.
  int known(int drawn) const {
    const int warm_up = std::max(steps_.warm_up, 1), most = steps_.oracle.most_steps;
    return made_ == 0 || most <= warm_up ? warm_up : std::min(affordable(drawn), most);
  }

  // From the start, up to the drawn number of steps, or as far as the oracle knows if it is asked;
  // until a step of any period up to twenty was checked twice.
  std::optional<std::string> chained(int drawn) {
    for (int next = drawn; made_ < all_steps; next = all_steps - made_) {
      const int count = reference_ ? affordable(next) : known(drawn);
      const Result ours = from_the_start(optimized_, count);
      made_ += count;
      const auto fault = reference_
                             ? beside_reference(ours, from_the_start(*reference_, count))
                             : beside_oracle(optimized_, ours, steps_.oracle.expected(count));
      if (fault || !in_time()) return fault;
    }
    return std::nullopt;
  }

  // One step from a given input.
  Result once(Subject& subject, int input) {
    subject.computation->start_again(input);
    spoil_rewritten(steps_, *subject.backend, subject.variant);
    take(subject, 1);
    return subject.computation->result();
  }

  // Unchained steps, as many as `chained` takes: inputs alternate, the first one last.
  std::optional<std::string> apart() {
    const Result expected = steps_.oracle.expected(steps_.warm_up);
    const int inputs = reference_ || steps_.oracle.other ? steps_.inputs : 1;
    const std::string question = other_input_of(limits_.case_id);
    Result theirs;
    if (auto known = reference_ ? known_answer(question) : std::nullopt) {
      theirs = std::move(*known);
    } else if (reference_) {
      if (inputs > 1) theirs = once(*reference_, 1);
      if (auto fault = beside_oracle(*reference_, once(*reference_, 0), expected)) return fault;
      keep_answer(question, theirs);
    }
    const int least = std::max(inputs, 2);
    for (int i = 0; i < all_steps && (i < least || in_time()); ++i) {
      const int input = (i + 1) % inputs;
      const Result ours = once(optimized_, input);
      ++made_;
      if (auto fault = beside(input, ours, theirs, expected)) return fault;
    }
    return std::nullopt;
  }
  std::optional<std::string> beside(int input, const Result& ours, const Result& theirs,
                                    const Result& expected) const {
    if (input == 0) return beside_oracle(optimized_, ours, expected);
    if (reference_) return beside_reference(ours, theirs);
    const double error = as_error(steps_.oracle.other(ours, input), steps_.oracle.name);
    if (error <= steps_.oracle.limit) return std::nullopt;
    return told(optimized_, error, steps_.oracle.limit,
                text("of input ", input, "; oracle: ", steps_.oracle.name));
  }

  const Steps& steps_;
  Subject* reference_;
  Subject& optimized_;
  AgainLimits limits_;
  Clock::time_point start_ = Clock::now();
  int made_ = 0;  // steps of the optimized variant
};

}  // namespace

bool was_verified(const Steps& steps, Variant variant, const std::string& case_id) {
  return variant == Variant::reference && !steps.chained && is_known(other_input_of(case_id));
}

void check_between(const Steps& steps, bool has_reference) {
  const Oracle& oracle = steps.oracle;
  const bool compares = has_reference && (steps.chained || steps.inputs > 1);
  if (!compares || !oracle.distance || oracle.between) return;
  throw Error(Fault::broken_rule,
              text("its oracle (", oracle.name,
                   ") has a distance of its own and no `between`, by which the variants are held "
                   "to one another once they are verified again"));
}

std::optional<std::string> verify_again(const Steps& steps, Subject* reference, Subject& optimized,
                                        const AgainLimits& limits, Again& done) {
  return Verification(steps, reference, optimized, limits).run(done);
}

}  // namespace holdfast
