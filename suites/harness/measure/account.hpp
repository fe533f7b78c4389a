// SPDX-License-Identifier: Apache-2.0
// One variant of a Steps case, alive on its own backend, and its costs by the ledger.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "harness/machine/thread_modes.hpp"
#include "harness/measure/measure.hpp"
#include "runtime/count/heap.hpp"

namespace holdfast {

struct Subject {
  Variant variant = Variant::optimized;
  std::unique_ptr<Backend> backend = {};
  std::unique_ptr<Computation> computation = {};  // destroyed before its backend
  VariantMeasurement measured = {};
  std::vector<double> warm_result = {};  // after warm-up, before the accounted steps
  Counts before_timing = {};
  std::int64_t timed_steps = 0;
  double step_seconds = 0;  // the minimum of the counted ones, else the last warm-up step
  bool counted = false;     // whether a step's counts are known
};

// Builds on a fresh backend and warms up, accounting for the cost.
Subject warmed_up(const Steps& steps, Variant variant, const std::string& device);

// The same, then accounts one steady step, except for a slow one on a host, which is left to the
// first timed step. Throws Error{broken_rule} if a steady step allocates, compiles, plans or
// captures a graph without permission, as check_heap() does, or if its counts differ from step to
// step.
Subject account(const Steps& steps, Variant variant, const std::string& device);

// Accounts a steady step of a subject that account() left to the timing and that is not timed.
void count_now(Subject& subject);

// Throws Error{broken_rule} for a variant with a wrong result: of the warm-up, at the oracle's few
// places where checking all costs too much, or in its golden values.
void verify(const Steps& steps, const Subject& subject, const std::string& device);

// Spoils the holdings of each site; throws Error{broken_rule} if one has none. Does nothing if
// nothing executes.
void spoil_each(Backend& backend, const std::vector<std::string>& sites);

// The same for what the case says each step rewrites.
void spoil_rewritten(const Steps& steps, Backend& backend, Variant variant);

// The counts of one step, made a few times as steady steps; throws as account() does.
Counts steady_step(Backend& backend, Computation& computation);

// Throws Error{broken_rule} if `steps` steps made other counts than the accounted one.
void check_counts(const Subject& subject, const Counts& made, std::int64_t steps);

// Throws Error{broken_rule} if steady steps on the host held more of the heap, without permission,
// than 128 KiB and a hundredth of the ledger's peak: peak_bytes must not leave out more.
void check_heap(const HeapWatch& heap, const Backend& backend, const Computation& computation);

// Throws Error{broken_rule} if a variant of a case whose peak gates keeps more of the host's heap
// outside of the ledger than 8 MiB and the ledger's peak once more: the copy of an input to start
// again from is well below that, a large table that peak_bytes does not count is not.
void check_kept_heap(const Case& one, const Subject& subject);

// Throws Error{broken_rule} if steps left threads of this process in other modes: `whose` they are.
void check_modes(const ThreadModes& before, const Backend& backend, std::string_view whose);

// While it lives, steps must obey the rules of a steady step.
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

// For all programs requested from this backend's compiler; zeros on host.
StageSeconds stage_seconds(const Backend& backend);

// Waits until the device has finished. The harness waits, not the computation, so it is not
// counted.
void wait_for(Backend& backend);

// Host seconds from the call until the device has finished what `work` enqueued.
double seconds_until_done(Backend& backend, const std::function<void()>& work);

}  // namespace holdfast
