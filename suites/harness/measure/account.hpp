// SPDX-License-Identifier: Apache-2.0
// One variant of a Steps case, alive on a backend of its own, and what it costs by the ledger.
#pragma once

#include <memory>
#include <vector>

#include "harness/measure/measure.hpp"

namespace holdfast {

struct Subject {
  Variant variant = Variant::optimized;
  std::unique_ptr<Backend> backend = {};
  std::unique_ptr<Computation> computation = {};  // destroyed before its backend
  VariantMeasurement measured = {};
  std::vector<double> warm_result = {};  // after warm-up, before the accounted steps
  Counts before_timing = {};
  std::int64_t timed_steps = 0;
  double step_seconds = 0;  // the least of those that were counted, else of the last to warm up
  bool counted = false;     // what one step counts
};

// Builds on a fresh backend and warms up, accounting what that takes.
Subject warmed_up(const Steps& steps, Variant variant, const std::string& device);

// The same, and one steady step is accounted, but a slow one of a host: that is left to the first
// that is timed. Throws Error{broken_rule} when a steady step allocates, compiles or plans without
// permission, or when its counts differ from step to step.
Subject account(const Steps& steps, Variant variant, const std::string& device);

// Of a subject whose step was left so, and that is not timed.
void count_now(Subject& subject);

// Throws Error{broken_rule} for a variant whose result is wrong: what it computed in the warm-up,
// at the few places that the oracle names where all cost too much, or its golden values.
void verify(const Steps& steps, const Subject& subject, const std::string& device);

// Spoils what each of these holds; Error{broken_rule} where one holds nothing. Nothing happens
// where nothing executes.
void spoil_each(Backend& backend, const std::vector<std::string>& sites);

// The same of what the case says that each step writes anew.
void spoil_rewritten(const Steps& steps, Backend& backend, Variant variant);

// What one step counts, made a few times as steady steps; throws as account() does.
Counts steady_step(Backend& backend, Computation& computation);

// Throws Error{broken_rule} where so many steps made other counts than the accounted one did.
void check_counts(const Subject& subject, const Counts& made, std::int64_t steps);

// While it lives, steps are held to the rules of a steady one.
class SteadyPhase {
 public:
  explicit SteadyPhase(Backend& backend, const Computation& computation)
      : ledger_(&backend.ledger) {
    ledger_->enter(Ledger::Phase::steady, computation.permissions());
  }
  ~SteadyPhase() { ledger_->enter(Ledger::Phase::building); }
  SteadyPhase(const SteadyPhase&) = delete;
  SteadyPhase& operator=(const SteadyPhase&) = delete;

 private:
  Ledger* ledger_;
};

// Of all programs that this backend's compiler was asked for; zeros on host.
StageSeconds stage_seconds(const Backend& backend);

// Until the device has done what was enqueued. The harness waits, not the computation, so it is
// not counted.
void wait_for(Backend& backend);

// Seconds of the host from the call until the device has done what `work` enqueued.
double seconds_until_done(Backend& backend, const std::function<void()>& work);

}  // namespace holdfast
