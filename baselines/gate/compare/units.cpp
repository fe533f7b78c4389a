// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/units.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "gate/compare/holder.hpp"
#include "gate/compare/samples.hpp"
#include "gate/measure/machine_load.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int control_samples = 4;
constexpr double sampled_part = 0.25;  // of the time until a pair is ready

bool coin(std::mt19937_64& random) {
  return std::bernoulli_distribution()(random);
}

// The device did not take both processes of a pair at once.
struct OnlyOneFits {};

Held held_by(const UnitPlan& plan, const std::string& case_id) {
  return {.case_id = case_id, .device = plan.device, .answer_seconds = plan.answer_seconds};
}

// Two processes at once, with their random order and padding.
class Pair {
 public:
  // Throws OnlyOneFits where a GPU took one of them alone, or, each in the other's way, neither: a
  // build that fails by itself does so again when it is alone.
  Pair(const Builds& builds, const std::string& case_id, const UnitPlan& plan,
       std::mt19937_64& random)
      : random_(random) {
    const std::string padding = gate::padding(random_);
    const bool base_first = coin(random_);
    for (const bool is_base : {base_first, !base_first})
      (is_base ? base_ : head_).emplace(builds, !is_base, held_by(plan, case_id), padding);
    int batch = 0;
    std::exception_ptr failure;
    for (Holder* holder : {&*base_, &*head_}) {
      try {
        batch = std::max(batch, holder->ready());
      } catch (const BuildError&) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure && device_kind(plan.device) == "cuda") throw OnlyOneFits();
    if (failure) std::rethrow_exception(failure);
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
  Samples reference() {
    Samples samples;
    for (int i = 0; i < control_samples; ++i) in_turn("reference", samples);
    return samples;
  }

 private:
  // One sample each, in an order drawn at random.
  void in_turn(std::string_view variant, Samples& samples) {
    const bool base_first = coin(random_);
    for (const bool is_base : {base_first, !base_first})
      if (const auto sample = (is_base ? base_ : head_)->sample(variant))
        (is_base ? samples.base : samples.head).push_back(*sample);
  }

  std::mt19937_64& random_;
  std::optional<Holder> base_ = {}, head_ = {};
};

std::vector<Sample> samples_of(Holder& holder, double seconds) {
  std::vector<Sample> samples;
  const auto begin = Steady::now();
  while (samples.size() < fewest_rounds || seconds_since(begin) < seconds) {
    throw_if_interrupted();
    if (const auto sample = holder.sample("optimized")) samples.push_back(*sample);
  }
  return samples;
}

std::vector<Sample> control_of(Holder& holder) {
  std::vector<Sample> samples;
  for (int i = 0; i < control_samples; ++i)
    if (const auto sample = holder.sample("reference")) samples.push_back(*sample);
  return samples;
}

std::optional<UnitValue::Control> control_value(const Samples& samples, double seconds) {
  if (samples.base.empty() || samples.head.empty()) return std::nullopt;
  const Reading found = samples.log_ratio();
  return UnitValue::Control{.real = found.real, .cpu = found.cpu, .seconds = seconds};
}

// What all samples say; `others`: the share of the machine that other work had meanwhile.
UnitValue value_of(Samples samples, bool in_turn, double others) {
  UnitValue unit;
  unit.disturbed = samples.leave_out_disturbed(in_turn);
  const Reading found = samples.log_ratio(), means = samples.log_ratio_of_means();
  unit.real = found.real;
  unit.cpu = found.cpu;
  unit.means = UnitValue::Means{.real = means.real, .cpu = means.cpu};
  unit.threads = samples.threads();
  unit.at_once = samples.at_once();
  unit.others = others_felt(others, samples.waited_share());
  unit.in_turn = in_turn;
  return unit;
}

}  // namespace

double sampling_seconds(double least, double ready) {
  return std::max(least, sampled_part * ready);
}

double others_felt(double share, std::optional<double> waited) {
  constexpr double hardly = 0.02;
  return waited.value_or(1) <= hardly ? std::min(share, *waited) : share;
}

UnitValue Units::next(bool control) {
  if (plan_.alternating) return in_alternation(control);
  try {
    return in_lock_step(control);
  } catch (const OnlyOneFits&) {
    plan_.alternating = true;
    return in_alternation(control);
  }
}

UnitValue Units::in_lock_step(bool control) {
  const auto begin = Steady::now();
  const OthersWatch others;
  Samples samples;
  std::optional<UnitValue::Control> found;
  {
    Pair pair(builds_, case_id_, plan_, random_);
    samples = pair.optimized(sampling_seconds(plan_.seconds, seconds_since(begin)));
    if (control) {
      const auto asked = Steady::now();
      const Samples reference = pair.reference();
      found = control_value(reference, seconds_since(asked));
    }
  }
  UnitValue unit = value_of(std::move(samples), true, others.share());
  unit.control = found;
  unit.seconds = seconds_since(begin) - (found ? found->seconds : 0);
  return unit;
}

// Two units are base, head, head, base, or the other way round: a steady gain or loss of the
// machine cancels out.
UnitValue Units::in_alternation(bool control) {
  base_first_ = is_drawn_ ? !base_first_ : coin(random_);
  is_drawn_ = !is_drawn_;
  const auto begin = Steady::now();
  const OthersWatch others;
  const std::string padding = gate::padding(random_);
  Samples samples, reference;
  double control_seconds = 0;
  for (const bool is_base : {base_first_, !base_first_}) {
    const auto started = Steady::now();
    Holder holder(builds_, !is_base, held_by(plan_, case_id_), padding);
    batch_ = std::max(batch_, holder.ready());
    holder.set_batch(batch_);
    (is_base ? samples.base : samples.head) =
        samples_of(holder, sampling_seconds(plan_.seconds, seconds_since(started)));
    if (!control) continue;
    const auto asked = Steady::now();
    (is_base ? reference.base : reference.head) = control_of(holder);
    control_seconds += seconds_since(asked);
  }
  UnitValue unit = value_of(std::move(samples), false, others.share());
  if (control) unit.control = control_value(reference, control_seconds);
  unit.seconds = seconds_since(begin) - control_seconds;
  return unit;
}

}  // namespace holdfast::gate
