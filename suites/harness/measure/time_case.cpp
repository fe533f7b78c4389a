// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/time_case.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "harness/machine/core_share.hpp"
#include "harness/machine/cpu_waits.hpp"
#include "harness/machine/handover.hpp"

namespace holdfast {
namespace {

// On host short compared with a scheduler's time slice, so that few samples are interrupted; on a
// GPU long compared with an event. Both are long compared with their clock's resolution.
double sample_seconds(const Steps& steps, const Backend& backend) {
  return std::max(steps.sample_seconds, backend.device ? 2e-3 : 2e-4);
}

// Counts the timed steps, and accounts the first one of a slow subject.
Timer counting_timer(Subject& subject) {
  return [&subject, time = timer(*subject.backend, *subject.computation)](int steps) {
    subject.timed_steps += steps;
    if (subject.counted) return time(steps);
    const Counts& counts = subject.backend->ledger.counts;
    const Counts before = counts;
    const HeapWatch heap;
    const double seconds = time(steps);
    check_heap(heap, *subject.backend, *subject.computation);
    subject.measured.step = counts - before;
    subject.counted = true;
    return seconds;
  };
}

// If a step is known to take far longer than a sample must, probing is useless.
int batch(const Steps& steps, const Timer& timer, const Subject& subject) {
  if (steps.batch > 0) return steps.batch;
  const double wanted = sample_seconds(steps, *subject.backend);
  // A thread's CPU time excludes interruptions, the clock's time includes them.
  const double far = subject.counted ? 20 : 4;
  return subject.step_seconds > far * wanted ? 1 : batch_for(timer, wanted);
}

// How many steps of about `once` seconds each fill a sample of `wanted` seconds.
int batch_beside(const Timer& timer, double once, double wanted) {
  constexpr int few = 4;  // above this the first step's time is no guide
  const auto steps = static_cast<int>(std::lround(wanted / once));
  return steps <= few ? std::max(steps, 1) : batch_for(timer, wanted);
}

// A GPU's samples are timed by its own events.
Others others_of(const Backend& backend) {
  if (backend.device) return {};
  CoreShare& cores = core_share();
  // Runs the whole team, because only threads that exist are watched, and two handing over a cache
  // line end all others.
  (void)cores.shared();
  return {.waited = [waits = std::make_shared<CpuWaits>()] { return waits->by_others(); },
          .share = [&cores] { return cores.shared(); },
          .lasts = cores.lasting()};
}

// Of several timings of one case the worst counts.
template <class Timed>
void note_others(const Backend& backend, const Timed& timed, Measurement& measurement) {
  if (backend.device) return;
  const auto worst = [](std::optional<double>& noted, double now) {
    noted = std::max(noted.value_or(0), now);
  };
  worst(measurement.waited_fraction, timed.waited);
  worst(measurement.shared_fraction, timed.shared);
  core_share().note(timed.shared > 0);
}

void time_subjects(const Steps& steps, const MeasureOptions& options, Subject* reference,
                   Subject& optimized, Measurement& measurement) {
  const Timer ours = counting_timer(optimized);
  const SteadyPhase steady(*optimized.backend, *optimized.computation);
  const int our_batch = batch(steps, ours, optimized);
  const Others others = others_of(*optimized.backend);
  if (!reference) {
    const Alone alone = time_alone(ours, our_batch, options.budget, others);
    optimized.measured.seconds = median(alone.seconds);
    optimized.measured.samples = static_cast<std::int64_t>(alone.seconds.size());
    note_others(*optimized.backend, alone, measurement);
    return;
  }
  const SteadyPhase steady_reference(*reference->backend, *reference->computation);
  const Timer theirs = counting_timer(*reference);
  const int their_batch = batch(steps, theirs, *reference);
  const auto rounds = time_in_turn(ours, our_batch, theirs, their_batch, options.budget, others);
  note_others(*optimized.backend, rounds, measurement);
  optimized.measured.seconds = median(rounds.a);
  reference->measured.seconds = median(rounds.b);
  optimized.measured.samples = reference->measured.samples =
      static_cast<std::int64_t>(rounds.a.size());
  measurement.speedup = std::exp(trimmed_mean(rounds.log_ratios));
}

// On host, measures the hand-over before and after `timing`.
template <class Timing>
void watch_handover(const Backend& backend, Measurement& measurement, Timing&& timing) {
  const auto before = backend.device ? std::nullopt : handover_seconds();
  timing();
  if (before) measurement.handover_seconds = std::max(*before, handover_seconds().value_or(0));
}

void time_derived(const Steps& steps, const Derived& derived, const std::string& device,
                  const MeasureOptions& options, Subject& subject, Measurement& measurement) {
  Subject other{.backend = open_backend(derived.beside_host ? "host" : device)};
  other.computation = derived.other(*other.backend);
  const Timer ours = counting_timer(subject);
  const Timer theirs = timer(*other.backend, *other.computation);
  (void)theirs(1);
  const SteadyPhase steady(*subject.backend, *subject.computation);
  // A step of one may take as long as many of the other: samples of unequal length would meet
  // unequal interruptions.
  const double our_step = ours(1), their_step = theirs(1);
  const double sample = std::max({sample_seconds(steps, *other.backend), our_step, their_step});
  const int our_batch = steps.batch > 0 ? steps.batch : batch_beside(ours, our_step, sample);
  const int their_batch = batch_beside(theirs, their_step, sample);
  const auto rounds = time_in_turn(ours, our_batch, theirs, their_batch,
                                   {.seconds = options.budget.seconds / 3,
                                    .fewest_rounds = options.budget.fewest_rounds,
                                    .most_rounds = options.budget.most_rounds},
                                   others_of(*other.backend));
  note_others(*subject.backend, rounds, measurement);
  const double other_over_case = std::exp(trimmed_mean(rounds.log_ratios));
  measurement.derived[derived.name] =
      derived.factor *
      (derived.form == Derived::Form::other_over_case ? other_over_case : 1 / other_over_case);
}

}  // namespace

void time_case(const Case& one, const std::string& device, const MeasureOptions& options,
               Subject* reference, Subject& optimized, Measurement& measurement) {
  const auto& steps = std::get<Steps>(one.recipe);
  watch_handover(*optimized.backend, measurement, [&] {
    time_subjects(steps, options, reference, optimized, measurement);
    for (const Derived& derived : one.derived)
      if (one.has(derived, device))
        time_derived(steps, derived, device, options,
                     derived.against == Variant::reference ? *reference : optimized, measurement);
  });
}

}  // namespace holdfast
