// SPDX-License-Identifier: Apache-2.0
#include "gate/comparison.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <sstream>

#include "gate/case_name.hpp"
#include "gate/conversation.hpp"
#include "gate/decide.hpp"
#include "gate/error.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t most_padding = 4096;
constexpr std::size_t fewest_rounds = 5;
// The control is told beside the decision and decides nothing: some units suffice for it.
constexpr std::size_t units_per_control = 4;
constexpr int control_samples = 4;
constexpr double control_alpha = 0.05;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

fs::path copied(const fs::path& binary, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  const fs::path copy = folder / binary.filename();
  fs::copy_file(binary, copy, problem);
  if (problem)
    throw Error(Fault::bad_input,
                text("cannot copy ", binary.string(), " to ", folder.string(), ": ",
                     problem.message(), "; name the suite's binary of a finished build"));
  return copy;
}

// Linear between order statistics, as by default in R and NumPy.
double first_quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double at = static_cast<double>(values.size() - 1) / 4;
  const auto below = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(below);
  return rest == 0 ? values[below] : values[below] * (1 - rest) + values[below + 1] * rest;
}

// One process that holds the case ready.
class Holder {
 public:
  Holder(const Builds::Build& build, const std::string& case_id, const ComparisonPlan& plan,
         const std::string& padding)
      : cpu_clock_(plan.cpu_clock), conversation_([&] {
          Task task{.program = build.binary,
                    .arguments = {"--lock-step", "--device=" + plan.device, "--tier=full",
                                  "--filter=" + pattern_of(case_id)},
                    .environment = build.environment,
                    .timeout_seconds = plan.answer_seconds};
          task.environment["HOLDFAST_PADDING"] = padding;
          // What a suite would start itself again for; a pair lives too short for that.
          task.environment.emplace("GOMP_SPINCOUNT", "1000");
          return task;
        }()) {}

  int ready() {
    const std::string line = conversation_.hear();
    int batch = 0;
    if (!line.starts_with("ready ") || !(std::istringstream(line.substr(6)) >> batch))
      throw Error(Fault::incomplete, text("a suite answered '", line,
                                          "' instead of being ready; "
                                          "is it of another version?"));
    return batch;
  }
  void set_batch(int batch) { (void)conversation_.ask(text("batch ", batch)); }

  // Seconds per step; empty where the case has no such variant.
  std::optional<double> sample(std::string_view variant) {
    const std::string line = conversation_.ask(variant);
    if (line == "none") return std::nullopt;
    double real = 0, cpu = 0;
    if (!(std::istringstream(line) >> real >> cpu) || !(real > 0) || !(cpu > 0))
      throw Error(Fault::incomplete, text("a suite answered '", line, "' when asked for a sample"));
    return cpu_clock_ ? cpu : real;
  }

 private:
  bool cpu_clock_;
  Conversation conversation_;
};

// A pair of fresh processes, and what is drawn at random about them.
class Unit {
 public:
  Unit(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
       std::mt19937_64& random)
      : random_(random) {
    const std::string padding(std::uniform_int_distribution<std::size_t>(1, most_padding)(random_),
                              'x');
    const bool base_first = coin();
    for (const bool base : {base_first, !base_first})
      (base ? base_ : head_).emplace(base ? builds.base() : builds.head(), case_id, plan, padding);
    const int batch = std::max(base_->ready(), head_->ready());
    base_->set_batch(batch);
    head_->set_batch(batch);
  }

  // ln(head / base) of first quartiles; one sample each in turn.
  double optimized(double seconds) {
    std::vector<double> base, head;
    const auto begin = Clock::now();
    while (base.size() < fewest_rounds || since(begin) < seconds) {
      throw_if_interrupted();
      in_turn("optimized", base, head);
    }
    return std::log(first_quartile(head) / first_quartile(base));
  }

  std::optional<double> reference() {
    std::vector<double> base, head;
    for (int i = 0; i < control_samples; ++i) in_turn("reference", base, head);
    if (base.empty() || head.empty()) return std::nullopt;
    return std::log(first_quartile(head) / first_quartile(base));
  }

 private:
  bool coin() { return std::bernoulli_distribution()(random_); }
  void in_turn(std::string_view variant, std::vector<double>& base, std::vector<double>& head) {
    const bool base_first = coin();
    for (const bool is_base : {base_first, !base_first})
      if (const auto seconds = (is_base ? base_ : head_)->sample(variant))
        (is_base ? base : head).push_back(*seconds);
  }

  std::mt19937_64& random_;
  std::optional<Holder> base_ = {}, head_ = {};
};

}  // namespace

Builds::Builds(const Build& base, const Build& head)
    : base_{copied(base.binary, folder_.path() / "base"), base.environment},
      head_{copied(head.binary, folder_.path() / "head"), head.environment} {
  const std::string wisdom = (folder_.path() / "wisdom").string();
  for (Build* build : {&base_, &head_}) build->environment["HOLDFAST_FFTW_WISDOM"] = wisdom;
}

Comparison compare(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                   const std::function<void(const Comparison&)>& watch) {
  std::mt19937_64 random(std::random_device{}());
  std::vector<double> control;
  Comparison found;
  const auto begin = Clock::now();
  while (found.decision == Paired::undecided &&
         found.units.size() < static_cast<std::size_t>(plan.looks.units.back()) &&
         (found.units.empty() || since(begin) < plan.budget_seconds)) {
    Unit unit(builds, case_id, plan, random);
    found.units.push_back(unit.optimized(plan.unit_seconds));
    if (found.units.size() % units_per_control == 1)
      if (const auto moved = unit.reference()) control.push_back(*moved);
    if (const auto alpha = plan.looks.alpha_at(static_cast<int>(found.units.size()))) {
      found.shift = shift(found.units, *alpha);
      found.decision = decide(found.shift, plan.tolerance);
    }
    found.seconds = since(begin);
    if (watch) watch(found);
  }
  // The budget can end between two looks: what is shown then is what all units say.
  if (found.decision == Paired::undecided) found.shift = shift(found.units, plan.looks.alpha);
  if (!control.empty()) found.control = shift(control, control_alpha);
  found.modes = two_modes(found.units);
  return found;
}

std::string describe(const Comparison& comparison, double tolerance) {
  const auto shown = [](double log_ratio) {
    return std::isfinite(log_ratio) ? percent(std::expm1(log_ratio)) : std::string("unbounded");
  };
  const Shift& shift = comparison.shift;
  std::string sentence = text(shown(shift.estimate), " (", shown(shift.lower), " .. ",
                              shown(shift.upper), "), ", plural(comparison.units.size(), "unit"),
                              " in ", std::round(comparison.seconds * 10) / 10, " s");
  if (comparison.control) sentence += text(", the reference ", shown(comparison.control->estimate));
  if (std::isfinite(shift.lower))
    sentence += text("; the smallest slowdown that this run could have shown: ",
                     percent(smallest_shown(shift, tolerance)).substr(1));
  if (comparison.modes) sentence += "; " + *comparison.modes;
  return sentence;
}

}  // namespace holdfast::gate
