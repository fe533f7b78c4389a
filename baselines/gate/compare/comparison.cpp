// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "gate/base/error.hpp"
#include "gate/base/written_file.hpp"
#include "gate/compare/line_protocol.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/measure/machine_load.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr std::size_t fewest_rounds = 5;
constexpr int control_samples = 4;
constexpr double sampled_part = 0.25;  // of the time until a pair is ready
constexpr double most_stretch = 4;

fs::path copied(const fs::path& binary, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  const fs::path copy = folder / binary.filename();
  try {
    WrittenFile file(copy);
    file.append_copy_of(binary);
    file.publish();
  } catch (const Error& error) {
    throw Error(Fault::bad_input,
                text("cannot copy ", binary.string(), " beside the other build: ", error.what(),
                     "; TMPDIR names a folder that has room for both"));
  }
  fs::permissions(copy, fs::perms::owner_exec | fs::perms::owner_read, fs::perm_options::add);
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

// By either clock: seconds per step, or the log ratio of two.
struct Reading {
  double real = 0, cpu = 0;
};

// What a sample took, how long its threads waited for a CPU, together (empty from a suite that does
// not tell), and whether the device was slowed down or shared meanwhile.
struct Sample : Reading {
  std::optional<double> waited = {};
  bool disturbed = false;

  // Threads that ran or waited for a CPU at once, in the mean.
  double at_once() const { return (cpu + waited.value_or(0)) / real; }
};

// Samples of both builds, a round of one each in one place.
struct Samples {
  std::vector<Sample> base = {}, head = {};

  // Leaves out the rounds that were disturbed, where enough were not, and returns their share.
  double leave_out_disturbed() {
    Samples kept;
    for (std::size_t i = 0; i < base.size(); ++i) {
      if (base[i].disturbed || head[i].disturbed) continue;
      kept.base.push_back(base[i]);
      kept.head.push_back(head[i]);
    }
    const double share =
        1 - static_cast<double>(kept.base.size()) / static_cast<double>(base.size());
    if (kept.base.size() >= fewest_rounds) *this = std::move(kept);
    return share;
  }

  // The second highest of both: one sample may be the clocks' chance.
  double threads() const {
    std::vector<double> seen;
    for (const auto* side : {&base, &head})
      for (const Sample& sample : *side) seen.push_back(sample.at_once());
    std::sort(seen.begin(), seen.end());
    return seen.size() < 2 ? 1 : seen[seen.size() - 2];
  }

  // ln(head / base) of the mean over all samples.
  std::optional<double> at_once() const {
    std::array<double, 2> means = {};
    for (const auto& [side, mean] : {std::pair(&base, &means[0]), std::pair(&head, &means[1])}) {
      double at_once = 0, real = 0;
      for (const Sample& sample : *side) {
        if (!sample.waited) return std::nullopt;
        at_once += sample.at_once() * sample.real;
        real += sample.real;
      }
      *mean = at_once / real;
    }
    return std::log(means[1] / means[0]);
  }

  // Of the time of all samples; empty where one of them does not tell.
  std::optional<double> waited_share() const {
    double waited = 0, real = 0;
    for (const auto* side : {&base, &head})
      for (const Sample& sample : *side) {
        if (!sample.waited) return std::nullopt;
        waited += *sample.waited;
        real += sample.real;
      }
    return waited / real;
  }

  // ln(head / base) of first quartiles.
  Reading log_ratio() const {
    const auto of = [&](double Reading::*clock) {
      const auto quartile = [&](const std::vector<Sample>& samples) {
        std::vector<double> seconds;
        for (const Sample& sample : samples) seconds.push_back(sample.*clock);
        return first_quartile(std::move(seconds));
      };
      return std::log(quartile(head) / quartile(base));
    };
    return {of(&Reading::real), of(&Reading::cpu)};
  }
};

// One process that holds the case ready.
class Holder {
 public:
  Holder(const Builds& builds, bool is_head, const std::string& case_id, const ComparisonPlan& plan,
         const std::string& padding)
      : is_head_(is_head), conversation_([&] {
          const Builds::Build& build = is_head ? builds.head() : builds.base();
          Task task{.program = build.binary,
                    .arguments = {"--lock-step", "--device=" + plan.device, "--tier=full",
                                  "--filter=" + pattern_of(former_name(build.names, case_id))},
                    .environment = build.environment,
                    .timeout_seconds = plan.answer_seconds};
          task.environment["HOLDFAST_PADDING"] = padding;
          // What a suite would start itself again for; a pair lives too short for that.
          task.environment.emplace("GOMP_SPINCOUNT", "1000");
          return task;
        }()) {}

  int ready() {
    const std::string line = answered([&] { return conversation_.read_line(); });
    int batch = 0;
    if (!line.starts_with("ready ") || !(std::istringstream(line.substr(6)) >> batch))
      throw BuildError(
          is_head_, Fault::incomplete,
          text("suite answered '", line, "' instead of being ready; is it of another version?"));
    return batch;
  }
  void set_batch(int batch) { (void)ask(text("batch ", batch)); }

  // Empty where the case has no such variant.
  std::optional<Sample> sample(std::string_view variant) {
    const std::string line = ask(variant);
    if (line == "none") return std::nullopt;
    Sample found;
    std::istringstream words(line);
    if (!(words >> found.real >> found.cpu) || !(found.real > 0) || !(found.cpu > 0))
      throw BuildError(is_head_, Fault::incomplete,
                       text("suite answered '", line, "' when asked for a sample"));
    if (double waited = 0; words >> waited) found.waited = waited;
    if (int disturbed = 0; words >> disturbed) found.disturbed = disturbed != 0;
    return found;
  }

 private:
  bool is_head_;
  Conversation conversation_;

  std::string ask(std::string_view line) {
    return answered([&] { return conversation_.ask(line); });
  }
  template <class Read>
  std::string answered(Read read) const {
    try {
      return read();
    } catch (const Error& error) {
      throw BuildError(is_head_, error.fault(), error.what());
    }
  }
};

// A pair of fresh processes, and what is drawn at random about them.
class Pair {
 public:
  Pair(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
       std::mt19937_64& random)
      : random_(random) {
    const std::string padding = gate::padding(random_);
    const bool base_first = coin();
    for (const bool is_base : {base_first, !base_first})
      (is_base ? base_ : head_).emplace(builds, !is_base, case_id, plan, padding);
    const int batch = std::max(base_->ready(), head_->ready());
    base_->set_batch(batch);
    head_->set_batch(batch);
  }

  Samples optimized(double seconds) {
    Samples samples;
    const auto begin = Steady::now();
    while (samples.base.size() < fewest_rounds || seconds_since(begin) < seconds) {
      throw_if_interrupted();
      in_turn("optimized", samples);
    }
    return samples;
  }

  std::optional<UnitValue::Control> reference() {
    const auto begin = Steady::now();
    Samples samples;
    for (int i = 0; i < control_samples; ++i) in_turn("reference", samples);
    if (samples.base.empty() || samples.head.empty()) return std::nullopt;
    const Reading found = samples.log_ratio();
    return UnitValue::Control{
        .real = found.real, .cpu = found.cpu, .seconds = seconds_since(begin)};
  }

 private:
  bool coin() { return std::bernoulli_distribution()(random_); }
  // One sample each, in an order drawn at random.
  void in_turn(std::string_view variant, Samples& samples) {
    const bool base_first = coin();
    for (const bool is_base : {base_first, !base_first})
      if (const auto sample = (is_base ? base_ : head_)->sample(variant))
        (is_base ? samples.base : samples.head).push_back(*sample);
  }

  std::mt19937_64& random_;
  std::optional<Holder> base_ = {}, head_ = {};
};

}  // namespace

Builds::Builds(const Build& base, const Build& head)
    : base_{copied(base.binary, folder_.path() / "base"), base.environment, base.names},
      head_{copied(head.binary, folder_.path() / "head"), head.environment, head.names} {
  const std::string wisdom = (folder_.path() / "wisdom").string();
  for (Build* build : {&base_, &head_}) build->environment["HOLDFAST_FFTW_WISDOM"] = wisdom;
}

double sampling_seconds(double least, double ready) {
  return std::max(least, sampled_part * ready);
}

double stretched_budget(double at_rest, double stretch) {
  return at_rest * std::clamp(stretch, 1.0, most_stretch);
}

double others_felt(double share, std::optional<double> waited) {
  constexpr double hardly = 0.02;
  return waited.value_or(1) <= hardly ? std::min(share, *waited) : share;
}

UnitValue measure_unit(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                       bool control, std::mt19937_64& random) {
  const auto begin = Steady::now();
  const OthersWatch others;
  UnitValue unit;
  std::optional<double> waited;
  {
    Pair pair(builds, case_id, plan, random);
    Samples samples = pair.optimized(sampling_seconds(plan.unit_seconds, seconds_since(begin)));
    unit.disturbed = samples.leave_out_disturbed();
    const Reading found = samples.log_ratio();
    unit.real = found.real;
    unit.cpu = found.cpu;
    unit.threads = samples.threads();
    unit.at_once = samples.at_once();
    waited = samples.waited_share();
    if (control) unit.control = pair.reference();
  }
  unit.others = others_felt(others.share(), waited);
  unit.seconds = seconds_since(begin) - (unit.control ? unit.control->seconds : 0);
  return unit;
}

PairedRun::PairedRun(const Builds& builds, std::string case_id, ComparisonPlan plan)
    : builds_(builds),
      case_id_(std::move(case_id)),
      plan_(std::move(plan)),
      sequence_(plan_.decision) {}

void PairedRun::go_on(const Watch& watch) {
  while (sequence_.wants_unit()) {
    sequence_.add(measure_unit(builds_, case_id_, plan_, sequence_.wants_control(), random_));
    if (watch) watch(sequence_.found());
  }
}

Comparison compare(const Builds& builds, const std::string& case_id, const ComparisonPlan& plan,
                   const PairedRun::Watch& watch) {
  PairedRun run(builds, case_id, plan);
  run.go_on(watch);
  run.end();
  return run.found();
}

}  // namespace holdfast::gate
