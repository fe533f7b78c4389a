// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>

#include "harness/measure/account.hpp"
#include "harness/measure/again.hpp"
#include "harness/measure/ceilings_of.hpp"
#include "harness/measure/known_answers.hpp"
#include "harness/measure/session.hpp"
#include "harness/measure/time_case.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

void fail(Measurement& measurement, std::string reason) {
  measurement.status = Measurement::Status::failed;
  measurement.reason = std::move(reason);
}

// Whether the variant agrees with the oracle. Updates the case's worst error.
bool check(const Steps& steps, const std::string& device, const std::vector<double>& expected,
           Subject& subject, double& worst, Measurement& measurement) {
  const double error = std::max(error_of(steps.oracle, subject.warm_result, expected),
                                golden_error(steps, subject.variant, device));
  // A non-finite error counts as infinite, and cannot be stored in a file.
  if (std::isfinite(error)) subject.measured.check_error = error;
  worst = std::max(worst, error);
  if (std::isfinite(worst))
    measurement.check_error = worst;
  else
    measurement.check_error.reset();
  const auto fault = wrong(steps, subject.variant, error);
  if (fault) fail(measurement, *fault);
  return !fault;
}

// Checks the state after the timed section, which exposes a variant that skipped or spoiled steps.
// Spoilt sites must be rewritten by one more of the same steps.
void check_afterwards(const Case& one, Subject& subject, Measurement& measurement) {
  const auto& steps = std::get<Steps>(one.recipe);
  check_counts(subject, subject.backend->ledger.counts - subject.before_timing,
               subject.timed_steps);
  if (!steps.invariant) return;
  if (steps.rewritten && !was_verified(steps, subject.variant, one.id)) {
    spoil_rewritten(steps, *subject.backend, subject.variant);
    subject.computation->step();
  }
  const auto broken = steps.invariant(subject.warm_result, subject.computation->result());
  if (!broken) return;
  measurement.check = CheckStatus::failed;
  measurement.check_error.reset();  // that of the warm-up, whose result was right
  fail(measurement, text("the ", variant_name(subject.variant),
                         " variant broke an invariant in the timed section: ", *broken));
}

void time_and_check(const Case& one, const std::string& device, const MeasureOptions& options,
                    Subject* reference, Subject& optimized, Measurement& measurement) {
  for (Subject* subject : {&optimized, reference})
    if (subject) subject->before_timing = subject->backend->ledger.counts;
  const ThreadModes modes;
  time_case(one, device, options, reference, optimized, measurement);
  check_modes(modes, *optimized.backend, "the timed section");
  for (Subject* subject : {&optimized, reference})
    if (subject) check_afterwards(one, *subject, measurement);
}

// Takes at most a tenth of the case's time so far.
void look_again(const Case& one, const MeasureOptions& options,
                std::chrono::steady_clock::time_point begun, Subject* reference, Subject& optimized,
                Measurement& measurement) {
  const auto spent = std::chrono::steady_clock::now() - begun;
  const auto& steps = std::get<Steps>(one.recipe);
  const AgainLimits limits = {.case_id = one.id,
                              .seconds = std::chrono::duration<double>(spent).count() / 10,
                              .seed = options.seed ? *options.seed : std::random_device()()};
  const auto fault = verify_again(steps, reference, optimized, limits, measurement.again.emplace());
  if (!fault) return;
  measurement.check = CheckStatus::failed;
  measurement.check_error.reset();  // that of the warm-up, whose result was right
  for (Subject* subject : {&optimized, reference})
    if (subject) subject->measured.readings.clear();
  fail(measurement, *fault);
}

// The readings of the computation itself, and those that the case derives from its result.
std::vector<NamedReading> readings(const Steps& steps, const Subject& subject,
                                   const Subject* reference) {
  std::vector<NamedReading> all = subject.computation->readings();
  if (!steps.read) return all;
  const std::vector<NamedReading> more =
      steps.read({.backend = *subject.backend,
                  .variant = subject.variant,
                  .result = subject.warm_result,
                  .reference = reference ? &reference->warm_result : nullptr,
                  .launches = subject.measured.step.launches,
                  .own = all});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// If nothing executes, only readings declared for such a device are meaningful.
void take_readings(const Case& one, const std::string& device, const Subject* reference,
                   Subject& subject) {
  const bool declares = std::any_of(
      one.metrics.begin(), one.metrics.end(),
      [&](const MetricDeclaration& metric) { return !metric.value && metric.exists_on(device); });
  if (!subject.backend->executes() && !declares) return;
  for (const NamedReading& reading : readings(std::get<Steps>(one.recipe), subject, reference)) {
    const auto declared =
        std::find_if(one.metrics.begin(), one.metrics.end(),
                     [&](const MetricDeclaration& metric) { return metric.name == reading.name; });
    if (subject.backend->executes() ||
        (declared != one.metrics.end() && declared->exists_on(device)))
      subject.measured.readings.insert_or_assign(reading.name, reading.value);
  }
}

void take_rates(const Case& one, const Backend& backend, VariantMeasurement& measured) {
  if (!measured.seconds) return;
  for (const Rate& rate : one.rates)
    if (const double peak = rate.peak ? rate.peak(backend) : 1; peak > 0)
      measured.readings.insert_or_assign(rate.name, rate.per_step / *measured.seconds / peak);
}

void measure_steps(Case one, const std::string& device, const MeasureOptions& options,
                   Measurement& measurement) {
  check_between(std::get<Steps>(one.recipe), one.has_reference(device));
  std::get<Steps>(one.recipe).oracle = remembering(std::get<Steps>(one.recipe).oracle, one.id);
  const auto begun = std::chrono::steady_clock::now();
  const auto& steps = std::get<Steps>(one.recipe);
  measurement.oracle = steps.oracle.name;
  measurement.check_limit = steps.oracle.limit;

  Subject optimized = account(steps, Variant::optimized, device);
  std::optional<Subject> reference;
  if (one.has_reference(device)) reference = account(steps, Variant::reference, device);
  check_kept_heap(one, optimized);
  if (reference) check_kept_heap(one, *reference);
  measurement.executed = optimized.backend->executes();
  if (measurement.executed) {
    const auto expected = steps.oracle.expected(steps.warm_up);
    double worst = 0;
    bool right = check(steps, device, expected, optimized, worst, measurement);
    if (reference) right = check(steps, device, expected, *reference, worst, measurement) && right;
    measurement.check = right ? CheckStatus::passed : CheckStatus::failed;
    if (right)
      time_and_check(one, device, options, reference ? &*reference : nullptr, optimized,
                     measurement);
  }
  for (Subject* subject : {&optimized, reference ? &*reference : nullptr})
    if (subject && !subject->counted) count_now(*subject);  // wrong result, so it was not timed
  // A wrong result is not read: it may have any length.
  if (measurement.check != CheckStatus::failed) {
    const Subject* other = reference ? &*reference : nullptr;
    take_readings(one, device, other, optimized);
    take_rates(one, *optimized.backend, optimized.measured);
    if (reference) take_readings(one, device, other, *reference);
  }
  // Peaks cover the whole life, including reading back and timing.
  optimized.measured.peak_bytes = optimized.backend->ledger.peak_bytes;
  if (reference) reference->measured.peak_bytes = reference->backend->ledger.peak_bytes;
  if (measurement.check == CheckStatus::passed)
    look_again(one, options, begun, reference ? &*reference : nullptr, optimized, measurement);
  if (options.ceilings && measurement.executed)
    measurement.floor_seconds =
        floor_seconds(*options.ceilings, one.work, optimized.measured.peak_bytes);
  measurement.optimized = std::move(optimized.measured);
  if (reference) measurement.reference = std::move(reference->measured);
}

void measure_protocol(const Case& one, const std::string& device, Measurement& measurement) {
  measurement.executed = open_backend(device)->executes();
  Session session(device, measurement, one.limit);
  std::get<Protocol>(one.recipe)(session);
  if (measurement.executed && measurement.check == CheckStatus::not_executed) {
    measurement.check = CheckStatus::failed;
    fail(measurement, "its protocol verified no result");
  }
}

// Adds readings that follow from the size, and checks that everything declared was read.
void complete_declared(const Case& one, const std::string& device, Measurement& measurement) {
  std::map<std::string, double>& readings = measurement.optimized.readings;
  for (const MetricDeclaration& declared : one.metrics) {
    if (!declared.exists_on(device)) continue;
    if (declared.value) readings[declared.name] = *declared.value;
    if (!readings.contains(declared.name))
      throw Error(Fault::broken_rule, text("it declares the metric ", declared.name,
                                           ", and nothing in it reads one of this name"));
  }
}

// A non-finite reading fails its own case, and not the file that all cases are written to.
void refuse_no_numbers(Measurement& measurement) {
  const auto refuse = [&](std::map<std::string, double>& readings) {
    std::erase_if(readings, [&](const auto& reading) {
      const auto& [name, value] = reading;
      if (std::isfinite(value)) return false;
      fail(measurement, text("its metric ", name, " is ", value,
                             ", and a result holds finite numbers only; mend what computes it"));
      return true;
    });
  };
  refuse(measurement.optimized.readings);
  if (measurement.reference) refuse(measurement.reference->readings);
  refuse(measurement.derived);
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
    if (measurement.status == Measurement::Status::ok) {
      complete_declared(one, device, measurement);
      refuse_no_numbers(measurement);
    }
  } catch (const Error& error) {
    if (error.fault() == Fault::no_device || error.fault() == Fault::bad_input) throw;
    fail(measurement, error.what());
    const bool broke = error.fault() == Fault::device;
    measurement.broke_off = broke || error.fault() == Fault::out_of_memory;
    measurement.device_broke = broke && device_kind(device) == "cuda";
  } catch (const std::exception& error) {
    fail(measurement, text("it threw an exception: ", error.what()));
  }
  measurement.host_memory = memory.reading();
  return measurement;
}

}  // namespace holdfast
