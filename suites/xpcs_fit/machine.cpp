// SPDX-License-Identifier: Apache-2.0
// The families about the machine of a fit: whether a device computes, the cost of reporting it,
// cleared caches, threads.
#include "xpcs_fit/machine/status.hpp"

#include "families/invariants.hpp"
#include "families/protocols.hpp"
#include "runtime/base/log.hpp"
#include "runtime/compile/program_cache.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/spectrum.hpp"

namespace holdfast::xpcs_fit {
namespace {

Row equations_of(Row row) {
  row.family = &families::normal_equations;
  return row;
}
double limit_of_them(const Row& row) {
  return families::normal_equations.oracle(equations_of(row)).limit;
}

// Programs of a step, and of the same step after all compiled programs are forgotten.
void measure_clear(const Row& row, Session& session) {
  const Row one = equations_of(row);
  Backend& backend = session.open();
  const std::int64_t held = backend.ledger.live_bytes;
  const auto programs_of_a_step = [&] {
    const std::int64_t before = backend.ledger.counts.programs;
    const auto computation = make(one, backend, Variant::optimized);
    computation->step();
    check(session, one.family->oracle(one), *computation);
    return static_cast<double>(backend.ledger.counts.programs - before);
  };
  session.read("compile_warm", programs_of_a_step());
  session.read("compile_steady", programs_of_a_step());
  backend.compiler = std::make_unique<Compiler>(*backend.device);
  forget_cached_programs();
  session.read("bytes_in_use", static_cast<double>(backend.ledger.live_bytes - held));
  session.read("compile_cleared", programs_of_a_step());
}

// Kernels count as executed if they turned spoilt memory into a correct result.
void measure_guard(const Row& row, Session& session) {
  const std::int64_t launches = checked_step(session, steps_of(equations_of(row)));
  session.read("kernels_executed", session.executes() ? static_cast<double>(launches) : 0);
}

// The first call, too, finds the device initialised: the process opened it before any case.
void measure_status(const Row&, Session& session) {
  Backend& backend = session.open();
  const std::string gpu = backend.device ? session.device() : "cuda";
  MachineStatus status;
  const auto seconds = [&] {
    return session.seconds_until_done(backend, [&] { status = machine_status(gpu); });
  };
  session.read("first_status_s", seconds());
  session.read("status_s", seconds());
  const bool agrees = backend.device == nullptr || status.gpu == backend.device->name();
  session.check("the backend that runs", agrees ? 0 : 1, less_than_one);
  log(LogLevel::info, described(status));
}

// The published benchmark is of host and device. No host makes a plan of the largest size in time.
std::vector<Derived> spectrum_beside_host(const Row& row) {
  if (row.count > 1024) return {};
  return over_host(row, {Variant::optimized, Variant::reference});
}

// Parseval's sum is known without a transform, so all that one writes is written anew.
std::vector<std::string> sites_of_a_spectrum(const Backend&, Variant variant) {
  if (variant == Variant::optimized) return {"result", "spectrum", "partial sums"};
  return {"result", "complex samples", "spectrum", "power"};
}

std::unique_ptr<Computation> with_threads(const Row& row, Backend& backend, int threads) {
  Problem problem = problem_of(row, true);
  problem.options.threads = threads;
  return make(Unit::normal_equations, backend, Variant::optimized, problem);
}

}  // namespace

const Family<Row> families::clear = {
    .id = [](const Row&) { return id("xpcs_fit/compile/clear", {}, "f64"); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "compile_warm", .kind = "exact", .devices = gpu},
              {.name = "compile_steady", .kind = "exact", .devices = gpu},
              {.name = "compile_cleared", .kind = "exact", .better = Better::same, .devices = gpu},
              {.name = "bytes_in_use", .kind = "exact", .devices = gpu}};
    },
    .protocol = measure_clear,
    .limit = limit_of_them};

const Family<Row> families::guard = {
    .id = [](const Row&) { return id("xpcs_fit/device/guard", {}, "f64"); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {
          {.name = "kernels_executed", .kind = "exact", .better = Better::same, .devices = gpu}};
    },
    .protocol = measure_guard,
    .limit = limit_of_them};

const Family<Row> families::status = {
    .id = [](const Row&) { return id("xpcs_fit/device/status", {}, "f64"); },
    .devices = [](const Row&) { return executing; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "first_status_s", .devices = executing},
              {.name = "status_s", .devices = executing}};
    },
    .protocol = measure_status,
    .limit = [](const Row&) { return less_than_one; }};

const Family<Row> families::threads = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/threads", {{"threads", row.count}, {"size", size_words.of(row.size)}},
                    "f64");
        },
    .devices = [](const Row&) -> Kinds { return {"host"}; },
    .reference = never,
    .make = [](const Row& row, Backend& backend,
               Variant) { return with_threads(row, backend, row.count); },
    .work = [](const Row& row) { return work(Unit::normal_equations, size_of(row), row.options); },
    .oracle = [](const Row& row) { return families::normal_equations.oracle(equations_of(row)); },
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = [](const Row&, Steps& steps) { steps.rewritten = always({"result"}); },
    .derived = [](const Row& row) -> std::vector<Derived> {
      if (row.count == 1) return {};
      return {{.name = "parallel_efficiency",
               .factor = 1. / row.count,
               .other = [=](Backend& backend) { return with_threads(row, backend, 1); },
               .better = Better::higher}};
    }};

const Family<Row> families::spectrum = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/device/fft", {{"n", row.count}}, "f64");
        },
    .make = [](const Row& row, Backend& backend,
               Variant variant) { return make_spectrum(row.count, backend, variant); },
    .work = [](const Row& row) { return spectrum_work(row.count); },
    .oracle = [](const Row& row) -> Oracle {
      return {.name = "Parseval",
              .limit = 1e-12,
              .expected = [=](int) { return std::vector<double>{exact_power(row.count)}; },
              .other =
                  [=](const std::vector<double>& result, int input) {
                    return larger(0, result.at(0) / exact_power(row.count, input) - 1);
                  }};
    },
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more =
        [](const Row&, Steps& steps) {
          steps.rewritten = sites_of_a_spectrum;
          steps.inputs = 2;
        },
    .derived = spectrum_beside_host,
    .rates = [](const Row& row) -> std::vector<holdfast::Rate> {
      return {{.name = "points_per_s", .per_step = static_cast<double>(row.count) * row.count}};
    }};

}  // namespace holdfast::xpcs_fit
