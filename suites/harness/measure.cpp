// SPDX-License-Identifier: Apache-2.0
#include "harness/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/account.hpp"
#include "runtime/error.hpp"

namespace holdfast {
namespace {

// On host short against a time slice of the scheduler, so that few samples are interrupted; on a
// GPU long against an event. Both are long against their clock.
double sample_seconds(const Backend& backend) {
  return backend.device ? 2e-3 : 2e-4;
}

std::string_view name(Variant variant) {
  return variant == Variant::reference ? "reference" : "optimized";
}

void fail(Measurement& measurement, std::string reason) {
  measurement.status = Measurement::Status::failed;
  measurement.reason = std::move(reason);
}

// The state of a chained computation goes on from here; its steps are held to the rules of a steady
// step.
class SteadyPhase {
 public:
  explicit SteadyPhase(Subject& subject) : ledger_(&subject.backend->ledger) {
    ledger_->enter(Ledger::Phase::steady, subject.computation->permissions());
  }
  ~SteadyPhase() { ledger_->enter(Ledger::Phase::building); }
  SteadyPhase(const SteadyPhase&) = delete;
  SteadyPhase& operator=(const SteadyPhase&) = delete;

 private:
  Ledger* ledger_;
};

// Whether the variant computes what the oracle says. Remembers the worst error of the case.
bool check(const Steps& steps, const std::string& device, const std::vector<double>& expected,
           Subject& subject, Measurement& measurement) {
  double error = relative_error(subject.warm_result, expected, steps.oracle.parts);
  if (steps.oracle.golden) {
    const auto backend = open_backend(device);
    error = std::max(error, steps.oracle.golden(*backend, subject.variant));
  }
  // JSON has no infinity; a result that is not a number is as wrong as can be.
  if (!std::isfinite(error)) error = std::numeric_limits<double>::max();
  subject.measured.check_error = error;
  measurement.check_error = std::max(measurement.check_error.value_or(0), error);
  if (error <= steps.oracle.limit) return true;
  fail(measurement,
       text("the ", name(subject.variant), " variant is wrong by ", error, " after ", steps.warm_up,
            " steps, the limit is ", steps.oracle.limit, " (oracle: ", steps.oracle.name, ")"));
  return false;
}

void time_subjects(const Steps& steps, const MeasureOptions& options, Subject* reference,
                   Subject& optimized, Measurement& measurement) {
  const auto batch = [&](const Timer& timer) {
    return steps.batch > 0 ? steps.batch : batch_for(timer, sample_seconds(*optimized.backend));
  };
  const Timer ours = timer(*optimized.backend, *optimized.computation);
  const SteadyPhase steady(optimized);
  const int our_batch = batch(ours);
  if (!reference) {
    const auto seconds = time_alone(ours, our_batch, options.budget);
    optimized.measured.seconds = median(seconds);
    optimized.measured.samples = static_cast<std::int64_t>(seconds.size());
    return;
  }
  const SteadyPhase steady_reference(*reference);
  const Timer theirs = timer(*reference->backend, *reference->computation);
  const auto rounds = time_in_turn(ours, our_batch, theirs, batch(theirs), options.budget);
  optimized.measured.seconds = median(rounds.a);
  reference->measured.seconds = median(rounds.b);
  optimized.measured.samples = reference->measured.samples =
      static_cast<std::int64_t>(rounds.a.size());
  measurement.speedup = std::exp(trimmed_mean(rounds.log_ratios));
}

void time_derived(const Case& one, const std::string& device, const MeasureOptions& options,
                  Subject& optimized, Measurement& measurement) {
  const auto& steps = std::get<Steps>(one.recipe);
  for (const Derived& derived : one.derived) {
    Subject other{.backend = open_backend(device)};
    other.computation = derived.other(*other.backend);
    const Timer ours = timer(*optimized.backend, *optimized.computation);
    const Timer theirs = timer(*other.backend, *other.computation);
    (void)theirs(1);
    const double sample = sample_seconds(*other.backend);
    const int our_batch = steps.batch > 0 ? steps.batch : batch_for(ours, sample);
    const auto rounds = time_in_turn(ours, our_batch, theirs, batch_for(theirs, sample),
                                     {.seconds = options.budget.seconds / 2,
                                      .fewest_rounds = options.budget.fewest_rounds,
                                      .most_rounds = options.budget.most_rounds});
    measurement.derived[derived.name] = derived.factor * std::exp(trimmed_mean(rounds.log_ratios));
  }
}

// The state after the timed section: a variant that skipped or spoiled steps shows here.
void check_afterwards(const Steps& steps, Subject& subject, Measurement& measurement) {
  if (!steps.invariant) return;
  const auto broken = steps.invariant(subject.warm_result, subject.computation->result());
  if (!broken) return;
  measurement.check = CheckStatus::failed;
  measurement.check_error.reset();  // that of the warm-up, which was right, is not what failed
  fail(measurement, text("the ", name(subject.variant),
                         " variant broke an invariant in the timed section: ", *broken));
}

void measure_steps(const Case& one, const std::string& device, const MeasureOptions& options,
                   Measurement& measurement) {
  const auto& steps = std::get<Steps>(one.recipe);
  measurement.oracle = steps.oracle.name;
  measurement.check_limit = steps.oracle.limit;

  Subject optimized = account(steps, Variant::optimized, device);
  std::optional<Subject> reference;
  if (one.reference) reference = account(steps, Variant::reference, device);
  measurement.executed = optimized.backend->executes();
  if (measurement.executed) {
    const auto expected = steps.oracle.expected(steps.warm_up);
    bool right = check(steps, device, expected, optimized, measurement);
    if (reference) right = check(steps, device, expected, *reference, measurement) && right;
    measurement.check = right ? CheckStatus::passed : CheckStatus::failed;
    if (right) {
      time_subjects(steps, options, reference ? &*reference : nullptr, optimized, measurement);
      time_derived(one, device, options, optimized, measurement);
      check_afterwards(steps, optimized, measurement);
      if (reference) check_afterwards(steps, *reference, measurement);
    }
    for (const NamedReading& reading : optimized.computation->readings())
      optimized.measured.readings[reading.name] = reading.value;
  }
  // Peaks are of the whole life: reading back and timing are part of it.
  optimized.measured.peak_bytes = optimized.backend->ledger.peak_bytes;
  if (reference) reference->measured.peak_bytes = reference->backend->ledger.peak_bytes;
  if (options.ceilings && measurement.executed)
    measurement.floor_seconds = options.ceilings->floor_seconds(
        one.work, static_cast<double>(optimized.measured.peak_bytes));
  measurement.optimized = std::move(optimized.measured);
  if (reference) measurement.reference = std::move(reference->measured);
}

void measure_protocol(const Case& one, const std::string& device, Measurement& measurement) {
  measurement.executed = open_backend(device)->executes();
  Session session(device, measurement);
  std::get<Protocol>(one.recipe)(session);
  if (measurement.executed && measurement.check == CheckStatus::not_executed) {
    measurement.check = CheckStatus::failed;
    fail(measurement, "its protocol verified no result");
  }
}

}  // namespace

Measurement measure(const Case& one, const std::string& device, const MeasureOptions& options) {
  Measurement measurement{.work = one.work};
  const HostMemoryWatch memory;
  try {
    if (std::holds_alternative<Steps>(one.recipe))
      measure_steps(one, device, options, measurement);
    else
      measure_protocol(one, device, measurement);
  } catch (const Error& error) {
    if (error.fault() == Fault::no_device || error.fault() == Fault::bad_input) throw;
    fail(measurement, error.what());
  }
  measurement.host_memory = memory.reading();
  return measurement;
}

Backend& Session::open() {
  return *backends_.emplace_back(open_backend(device_));
}

double Session::seconds(Backend& backend, const std::function<void()>& work) {
  if (backend.device) return backend.device->time(work);
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Session::read(std::string_view metric, double value) {
  measurement_->optimized.readings[std::string(metric)] = value;
}

void Session::check(std::string_view oracle, double error, double limit) {
  measurement_->oracle = oracle;
  measurement_->check_error = error;
  measurement_->check_limit = limit;
  const bool right = error <= limit;
  measurement_->check = right ? CheckStatus::passed : CheckStatus::failed;
  if (!right)
    fail(*measurement_,
         text("wrong by ", error, ", the limit is ", limit, " (oracle: ", oracle, ")"));
}

double relative_error(const std::vector<double>& result, const std::vector<double>& expected,
                      const std::vector<std::size_t>& parts) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto lengths = parts.empty() ? std::vector{expected.size()} : parts;
  if (result.size() != expected.size() ||
      std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) != expected.size())
    return infinite;
  double worst = 0;
  std::size_t begin = 0;
  for (const std::size_t length : lengths) {
    double difference = 0, magnitude = 0;
    for (std::size_t i = begin; i < begin + length; ++i) {
      if (!std::isfinite(result[i])) return infinite;
      difference = std::max(difference, std::abs(result[i] - expected[i]));
      magnitude = std::max(magnitude, std::abs(expected[i]));
    }
    if (difference > 0) worst = std::max(worst, magnitude > 0 ? difference / magnitude : infinite);
    begin += length;
  }
  return worst;
}

}  // namespace holdfast
