// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/account.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/sha256.hpp"
#include "base/time.hpp"
#include "runtime/backend/spoil.hpp"
#include "runtime/base/error.hpp"
#include "runtime/count/heap.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

using LaunchesSoFar = std::map<const Function*, Graph::Launched>;

LaunchesSoFar launches_so_far(const Backend& backend) {
  LaunchesSoFar so_far;
  if (!backend.compiler) return so_far;
  for (const auto& program : backend.compiler->programs())
    for (const Function& function : program->functions)
      so_far[&function] = {function.launches, function.argument_sum};
  return so_far;
}

struct CountedSteps {
  std::vector<Counts> counts = {};
  std::vector<LaunchesSoFar> launches = {};  // before the first, after each
  double least_seconds = std::numeric_limits<double>::infinity();
};

// On a device the first step after a wait has no work of a former one to run beside, so that fewer
// bytes of its transfers may be hidden than of any later one's.
void step_behind_a_wait(Backend& backend, Computation& computation) {
  if (!backend.device) return;
  const SteadyPhase steady(backend, computation);
  computation.step();
}

// Steps in a row, to expose a computation that remembers an unchanged input: eight, or as many as
// fit into some hundredths of a second if a step is slow, at least one. All timed steps are
// counted, too, and must have the same counts. Where nothing executes none is timed: there at least
// eight steps are counted, and 128 if they fit.
CountedSteps count_steps(Backend& backend, Computation& computation) {
  const bool executes = backend.executes();
  const std::size_t least = executes ? 1 : 8, most = executes ? 8 : 128;
  constexpr double enough = 0.04;  // seconds of this thread, independent of other load
  const Ledger& ledger = backend.ledger;
  CountedSteps counted;
  counted.counts.reserve(most);
  counted.launches.reserve(most + 1);
  step_behind_a_wait(backend, computation);
  counted.launches.push_back(launches_so_far(backend));
  const SteadyPhase steady(backend, computation);
  const HeapWatch heap;  // over all of them, so that what each step leaves behind adds up
  const double start = thread_cpu_seconds();
  while (counted.counts.size() < most) {
    const Counts before = ledger.counts;
    const auto begun = Clock::now();
    computation.step();
    const std::chrono::duration<double> taken = Clock::now() - begun;
    check_heap(heap, backend, computation);
    counted.least_seconds = std::min(counted.least_seconds, taken.count());
    counted.counts.push_back(ledger.counts - before);
    counted.launches.push_back(launches_so_far(backend));
    if (counted.counts.size() >= least && thread_cpu_seconds() - start > enough) break;
  }
  return counted;
}

// " (kernel fill: launched 1 times, then 2)", of the first by name that a step treats in another
// way than the first step did.
std::string unlike_first(const std::vector<LaunchesSoFar>& launches, std::size_t step) {
  const auto in = [&](std::size_t which, const Function* function) {
    Graph::Launched made = launches[which + 1].at(function);
    if (const auto before = launches[which].find(function); before != launches[which].end()) {
      made.launches -= before->second.launches;
      made.argument_sum -= before->second.argument_sum;
    }
    return made;
  };
  std::set<std::string> unlike;
  for (const auto& [function, so_far] : launches[1]) {
    const auto first = in(0, function), now = in(step, function);
    if (first.launches != now.launches)
      unlike.insert(text(" (kernel ", function->expression, ": launched ", first.launches,
                         " times, then ", now.launches, ")"));
    else if (first.argument_sum != now.argument_sum)
      unlike.insert(text(" (kernel ", function->expression, ": its arguments add up to ",
                         first.argument_sum, ", then ", now.argument_sum,
                         "; let it read from memory what changes from step to step)"));
  }
  return unlike.empty() ? "" : *unlike.begin();
}

// The counts of one step, which must be the same for each of them; of those that need not be, the
// first's, whose number is always the same.
Counts per_step(const CountedSteps& counted) {
  const std::vector<Counts>& steps = counted.counts;
  for (const auto& [name, member, timed, steady, in_profiles] : counter_table)
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steady && steps[i].*member != steps.front().*member)
        throw Error(Fault::broken_rule,
                    text(name, " is not steady: one step counts ", steps.front().*member,
                         ", another ", steps[i].*member, unlike_first(counted.launches, i),
                         "; every step must do the same work after ", steps.size(),
                         " or fewer to warm up"));
  return steps.front();
}

std::string shown(const std::set<LaunchShape>& shapes) {
  std::string all;
  for (const LaunchShape& shape : shapes) {
    for (const Dim3& extent : {shape.grid, shape.block})
      all += text(" ", extent.x, "x", extent.y, "x", extent.z);
    all += text(" ", shape.shared_bytes, shape.cooperative ? " cooperative" : "");
  }
  return all;
}

void add_shapes(const Architecture& architecture, const Function& function, KernelUse& kernel) {
  for (const LaunchShape& shape : function.shapes) {
    const std::int64_t blocks = shape.grid.volume(), threads = shape.block.volume();
    const auto dynamic = static_cast<std::int64_t>(shape.shared_bytes);
    const Fit found = fit(architecture, function.registers, function.shared_bytes + dynamic,
                          static_cast<int>(threads), static_cast<double>(blocks));
    kernel.occupancy =
        kernel.blocks > 0 ? std::min(kernel.occupancy, found.occupancy) : found.occupancy;
    kernel.blocks += blocks;
    kernel.threads += blocks * threads;
    kernel.block_threads = std::max(kernel.block_threads, threads);
    kernel.dynamic_shared_bytes = std::max(kernel.dynamic_shared_bytes, dynamic);
    kernel.waves += found.waves;
  }
}

// Instruction counts of a program that was launched at all.
std::map<std::string, InstructionCounts> machine_code_of(const Compiled& program,
                                                         VariantMeasurement& measured) {
  const bool used = std::any_of(program.functions.begin(), program.functions.end(),
                                [](const Function& function) { return function.launches > 0; });
  if (!used) return {};
  const auto code = machine_code(program.cubin, program.cubin_hash);
  if (!code) measured.no_code = pinned_disassembler().why_uncounted();
  return code.value_or(std::map<std::string, InstructionCounts>());
}

// Kernels that steps never launch are part of the program's identity all the same.
void read_programs(const Backend& backend, const LaunchesSoFar& before, int steps,
                   VariantMeasurement& measured) {
  std::string identity;
  for (const auto& program : backend.compiler->programs()) {
    const auto code = machine_code_of(*program, measured);
    for (const Function& function : program->functions) {
      const auto known = before.find(&function);
      const auto [launched, given] = known == before.end() ? Graph::Launched() : known->second;
      const auto made = function.launches - launched;
      if (made % steps != 0)
        throw Error(Fault::broken_rule,
                    text("kernel ", function.expression, " is launched ", made, " times in ", steps,
                         " steps; every step must launch the same kernels"));
      measured.kernels.push_back({.name = function.expression,
                                  .kind = function.kind,
                                  .cubin = function.cubin_hash,
                                  .shapes = shown(function.shapes),
                                  .registers = function.registers,
                                  .spill_bytes = function.spill_bytes,
                                  .shared_bytes = function.shared_bytes,
                                  .local_bytes = function.local_bytes,
                                  .launches = made / steps,
                                  .argument_sum = (function.argument_sum - given) / steps,
                                  .used = function.launches > 0});
      add_shapes(backend.device->architecture(), function, measured.kernels.back());
      const auto found = code.find(function.name);
      if (found != code.end()) measured.kernels.back().code = found->second;
    }
  }
  std::sort(measured.kernels.begin(), measured.kernels.end(),
            [](const KernelUse& a, const KernelUse& b) {
              return std::tie(a.name, a.cubin) < std::tie(b.name, b.cubin);
            });
  for (const KernelUse& kernel : measured.kernels)
    identity += text(kernel.name, " ", kernel.cubin, " ", kernel.launches, kernel.shapes, "\n");
  measured.identity = sha256(identity);
}

}  // namespace

Counts steady_step(Backend& backend, Computation& computation) {
  return per_step(count_steps(backend, computation));
}

void check_counts(const Subject& subject, const Counts& made, std::int64_t steps) {
  for (const auto& [name, member, timed, steady, shown] : counter_table) {
    const std::int64_t expected = steps * (subject.measured.step.*member);
    if (!timed.empty() && made.*member != expected)
      throw Error(Fault::broken_rule,
                  text("the ", variant_name(subject.variant), " variant counts ", made.*member, " ",
                       timed, " in ", steps, " timed steps and not ", expected,
                       ": a step must do the same whether it is timed or not"));
  }
}

void check_heap(const HeapWatch& heap, const Backend& backend, const Computation& computation) {
  constexpr std::int64_t always_allowed = 128 << 10;
  const std::int64_t allowed = std::max(always_allowed, backend.ledger.peak_bytes / 100);
  if (backend.device || computation.permissions().may_allocate || heap.peak_bytes() <= allowed)
    return;
  throw Error(Fault::broken_rule,
              text("holds ", heap.peak_bytes(), " bytes of heap memory in a steady step, ",
                   heap.largest_bytes(), " of them in one block, which peak_bytes does not count (",
                   allowed,
                   " are allowed): take them from a Buffer or an Arena made in construction, or "
                   "let the computation declare it in permissions()"));
}

void check_kept_heap(const Case& one, const Subject& subject) {
  constexpr std::int64_t always_allowed = 8 << 20;
  const std::int64_t kept = subject.measured.kept_heap_bytes;
  const std::int64_t allowed = always_allowed + subject.measured.peak_bytes_warm;
  if (one.tier == Tier::full || kept <= allowed) return;
  throw Error(Fault::broken_rule,
              text("the ", variant_name(subject.variant), " variant keeps ", kept,
                   " bytes of heap memory after the warm-up, which peak_bytes does not count (",
                   allowed, " are allowed): hold them in a Buffer or an Arena"));
}

void check_modes(const ThreadModes& before, const Backend& backend, std::string_view whose) {
  const std::string changed = before.changed(backend.device == nullptr);
  if (changed.empty()) return;
  throw Error(Fault::broken_rule,
              text(whose, " left ", changed,
                   ": a step must restore what it sets, or the other variant and the oracle "
                   "compute with it"));
}

StageSeconds stage_seconds(const Backend& backend) {
  StageSeconds sum;
  if (!backend.compiler) return sum;
  for (const auto& program : backend.compiler->programs()) {
    sum.trace += program->seconds.trace;
    sum.lower += program->seconds.lower;
    sum.compile += program->seconds.compile;
    sum.load += program->seconds.load;
  }
  return sum;
}

void wait_for(Backend& backend) {
  if (!backend.device) return;
  const auto counted = backend.ledger.counts.syncs;
  backend.device->synchronize();
  backend.ledger.counts.syncs = counted;
}

double seconds_until_done(Backend& backend, const std::function<void()>& work) {
  // Without execution there is nothing to wait for: only this thread's own work counts.
  const double thread = thread_cpu_seconds();
  const auto start = Clock::now();
  work();
  wait_for(backend);
  if (!backend.executes()) return thread_cpu_seconds() - thread;
  return seconds_since(start);
}

void spoil_each(Backend& backend, const std::vector<std::string>& sites) {
  for (const std::string& site : sites)
    if (spoil(backend, site) == 0)
      throw Error(Fault::broken_rule, text("it says that each step writes '", site,
                                           "' anew, and nobody holds memory of that name"));
}

void spoil_rewritten(const Steps& steps, Backend& backend, Variant variant) {
  if (steps.rewritten) spoil_each(backend, steps.rewritten(backend, variant));
}

Subject warmed_up(const Steps& steps, Variant variant, const std::string& device) {
  Subject subject{.variant = variant, .backend = open_backend(device)};
  Backend& backend = *subject.backend;
  const ThreadModes modes;
  const HeapWatch heap;
  VariantMeasurement& measured = subject.measured;

  measured.first_call_seconds = seconds_until_done(backend, [&] {
    subject.computation = steps.make(backend, variant);
    if (steps.warm_up > 0) subject.computation->step();
  });
  Computation& computation = *subject.computation;
  measured.warm_up_seconds = measured.first_call_seconds;
  // Without execution nothing is verified; site names that would be wrong on a device are still
  // found.
  if (!backend.executes()) spoil_rewritten(steps, backend, variant);
  for (int i = 1; i < steps.warm_up; ++i) {
    spoil_rewritten(steps, backend, variant);
    const double start = thread_cpu_seconds();
    measured.warm_up_seconds += seconds_until_done(backend, [&] { computation.step(); });
    subject.step_seconds = thread_cpu_seconds() - start;
  }
  if (!backend.device) measured.kept_heap_bytes = heap.held_bytes() - backend.ledger.live_bytes;
  measured.warm = backend.ledger.counts;
  measured.peak_bytes_warm = backend.ledger.peak_bytes;
  measured.stages = stage_seconds(backend);
  std::vector<double> result = computation.result();
  if (backend.executes()) subject.warm_result = std::move(result);  // zeros need not be kept
  check_modes(modes, backend, text("the ", variant_name(variant), " variant"));
  return subject;
}

void count_now(Subject& subject) {
  Backend& backend = *subject.backend;
  const CountedSteps counted = count_steps(backend, *subject.computation);
  subject.step_seconds = counted.least_seconds;
  subject.measured.step = per_step(counted);
  subject.counted = true;
  if (backend.compiler)
    read_programs(backend, counted.launches.front(), static_cast<int>(counted.counts.size()),
                  subject.measured);
  subject.measured.peak_bytes = backend.ledger.peak_bytes;
}

Subject account(const Steps& steps, Variant variant, const std::string& device) {
  constexpr double slow_seconds = 0.01;
  Subject subject = warmed_up(steps, variant, device);
  Backend& backend = *subject.backend;
  VariantMeasurement& measured = subject.measured;
  if (backend.device || steps.batch > 1 || subject.step_seconds < slow_seconds) count_now(subject);
  if (steps.estimate_bytes) measured.estimated_bytes = steps.estimate_bytes(backend, variant);
  if (steps.upload_bytes) measured.least_upload_bytes = steps.upload_bytes(variant);
  return subject;
}

void verify(const Steps& steps, const Subject& subject, const std::string& device) {
  const Oracle& oracle = steps.oracle;
  const double own = oracle.few
                         ? as_error(oracle.few(subject.warm_result), oracle.name)
                         : error_of(oracle, subject.warm_result, oracle.expected(steps.warm_up));
  const double error = std::max(own, golden_error(steps, subject.variant, device));
  if (const auto fault = wrong(steps, subject.variant, error))
    throw Error(Fault::broken_rule, text(*fault, "; what is wrong is not measured"));
}

}  // namespace holdfast
