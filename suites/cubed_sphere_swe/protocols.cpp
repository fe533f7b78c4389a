// SPDX-License-Identifier: Apache-2.0
// The cases that are no repeated step: what compiling, memory and construction cost.
#include <algorithm>
#include <vector>

#include "cubed_sphere_swe/oracles.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "harness/measure/session.hpp"
#include "harness/measure/timing.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

const std::vector<std::string> gpu = {"cuda", "cuda-dry"}, executing = {"host", "cuda"};

// Every cache is bypassed for the first use. Then what a program must not depend on changes: the
// grid, the time step, the number of steps.
void compile(const Row& row, Session& session) {
  Row first = row;
  first.family = row.compiled;
  Backend& backend = session.open();
  backend.compiler->bypass_caches();
  std::unique_ptr<Computation> made;
  session.read("first_call_s", session.seconds_until_done(backend, [&] {
    made = make(first, backend, Variant::optimized);
    made->step();
  }));
  session.read_compilation(backend);

  Row grid = first, time_step = first, steps = first;
  grid.n *= 2;
  time_step.options.dt = 0.5 / (3 * first.n);
  ++steps.options.steps;
  const std::int64_t programs = backend.ledger.counts.programs;
  for (const Row& other : {grid, time_step, steps})
    make(other, backend, Variant::optimized)->step();
  session.read("compile_steady", static_cast<double>(backend.ledger.counts.programs - programs));
  if (session.executes())
    session.check(small_oracle(row), small_error(first, backend, Variant::optimized),
                  accuracy(row.options.precision));
}

// The rule of thumb of the published profile: twenty arrays of heights.
double rule_of_thumb_bytes(const Row& row) {
  const double value = row.options.precision == Precision::f32 ? 4 : 8;
  return 20 * value * 6 * (row.n + 1) * (row.n + 1);
}

// The high-water mark of a step's whole life, result read back, against what it should be.
void memory(const Row& row, bool with_reference, Session& session) {
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    if (variant == Variant::reference && !with_reference) continue;
    Backend& backend = session.open();
    const auto step = make(row, backend, variant);
    const std::vector<double> before = step->result();
    step->step();
    const std::vector<double> after = step->result();
    const auto peak = static_cast<double>(backend.ledger.peak_bytes);
    session.read("peak_bytes", peak, variant);
    session.read(
        "estimate_ratio",
        peak / static_cast<double>(formula_peak_bytes(backend, variant, {row.n}, row.options)),
        variant);
    session.read("rule_of_thumb_ratio", peak / rule_of_thumb_bytes(row), variant);
    if (!session.executes()) continue;
    const auto broken = invariant(row, 1)(before, after);
    session.check(broken ? *broken : "mass kept and energy lost in a step", broken ? 1 : 0,
                  accuracy(row.options.precision));
    session.check(small_oracle(row), small_error(row, *open_backend(session.device()), variant),
                  accuracy(row.options.precision));
  }
}

// Three constructions after one that fills the compiler's memory: what is left is geometry,
// allocation and upload.
void setup(const Row& row, Session& session) {
  (void)make(row, session.open(), Variant::optimized);
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    Backend& backend = session.open();
    std::unique_ptr<Computation> step;
    seconds.push_back(session.seconds_until_done(
        backend, [&] { step = make(row, backend, Variant::optimized); }));
    if (i > 0) continue;
    session.read("peak_bytes_warm", static_cast<double>(backend.ledger.peak_bytes));
    session.read("h2d_bytes_warm", static_cast<double>(backend.ledger.counts.h2d_bytes));
    if (!session.executes()) continue;
    const State start = initial_state({row.n}, row.options.start);
    std::vector<double> expected = start.h;
    expected.insert(expected.end(), start.v1.begin(), start.v1.end());
    expected.insert(expected.end(), start.v2.begin(), start.v2.end());
    session.check("the start itself", relative_error(step->result(), expected, fields(row)),
                  accuracy(row.options.precision));
  }
  if (session.executes()) session.read("setup_s", median(seconds));
}

std::vector<MetricDeclaration> metrics_of(const Row& row) {
  switch (row.family) {
    case Family::compile:
      return {{.name = "first_call_s", .devices = gpu},
              {.name = "trace_s", .devices = gpu},
              {.name = "lower_s", .devices = gpu},
              {.name = "compile_s", .devices = gpu},
              {.name = "load_s", .devices = gpu},
              {.name = "compile_warm", .kind = "exact", .devices = gpu},
              {.name = "compile_steady", .kind = "exact", .devices = gpu},
              {.name = "nvrtc_runs", .devices = gpu}};
    case Family::memory:
      return {{.name = "peak_bytes", .kind = "exact"},
              {.name = "estimate_ratio", .kind = "bound"},
              {.name = "rule_of_thumb_ratio", .kind = "bound"}};
    default:
      return {{.name = "setup_s", .devices = executing},
              {.name = "peak_bytes_warm", .kind = "exact"},
              {.name = "h2d_bytes_warm", .kind = "exact", .devices = gpu}};
  }
}

}  // namespace

Case protocol(const Row& row) {
  Case one = {.id = id_of(row),
              .tier = row.tier,
              .devices = devices_of(row),
              .reference = has_reference(row),
              .unreferenced = unreferenced(row),
              .metrics = metrics_of(row)};
  one.recipe = Protocol([row, one](Session& session) {
    if (row.family == Family::compile) return compile(row, session);
    if (row.family == Family::setup) return setup(row, session);
    memory(row, one.has_reference(session.device()), session);
  });
  return one;
}

}  // namespace holdfast::cubed_sphere_swe
