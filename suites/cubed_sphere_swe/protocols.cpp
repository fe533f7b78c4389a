// SPDX-License-Identifier: Apache-2.0
// The families that are not a repeated step: the costs of compiling, memory and construction.
#include "families/protocols.hpp"

#include <vector>

#include "cubed_sphere_swe/oracles.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "harness/measure/timing.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

std::string_view unit_name(const Row& row) {
  return row.compiled == &families::rhs ? "rhs" : row.compiled == &families::loop ? "loop" : "step";
}

double limit(const Row& row) {
  return accuracy(row.compiled ? as(*row.compiled, row) : row);
}

// Checks on the smallest grid.
void check_small(const Row& row, Backend& backend, Variant variant, Session& session) {
  const Oracle known = row.family->oracle(row);
  session.check(small_oracle(row), known.golden(backend, variant), known.limit);
}

// Changes what a program must not depend on: the grid, the time step, the number of steps.
void compile(const Row& row, Session& session) {
  const Row first = as(*row.compiled, row);
  Row grid = first, time_step = first, steps = first;
  grid.n *= 2;
  grid.options.dt /= 2;  // as long for its cells; 0 stays the default
  time_step.options.dt = 0.5 / (3 * first.n);
  ++steps.options.steps;
  const auto called = holdfast::compile(
      session, [&](Backend& backend) { return make(first, backend, Variant::optimized); },
      [&](const FirstCall& call) {
        for (const Row& other : {grid, time_step, steps})
          make(other, call.backend, Variant::optimized)->step();
      });
  if (session.executes()) check_small(first, called.backend, Variant::optimized, session);
}

// The rule of thumb of the published profile: twenty arrays of heights.
double rule_of_thumb_bytes(const Row& row) {
  const double value = row.options.precision == Precision::f32 ? 4 : 8;
  return 20 * value * 6 * (row.n + 1) * (row.n + 1);
}

// The peak of a step.
void memory(const Row& row, Session& session) {
  const Row step = as(families::rk4_step, row);
  const auto live = [&](Backend&, Variant variant, Computation& computation) {
    const std::vector<double> before = computation.result();
    computation.step();
    const std::vector<double> after = computation.result();
    if (!session.executes()) return;
    const auto broken = conserves_mass_and_loses_energy(step)(before, after);
    const char* const right = loses_energy(step) ? "mass kept and energy lost in a step"
                                                 : "mass kept and no energy gained in a step";
    session.check(broken ? *broken : right, broken ? 1 : 0, limit(row));
    check_small(step, *open_backend(session.device()), variant, session);
  };
  holdfast::memory(
      session,
      {.make = [&](Backend& backend, Variant variant) { return make(step, backend, variant); },
       .rule_of_thumb_bytes = rule_of_thumb_bytes(row),
       .live = live,
       .estimate =
           [&](Backend& backend, Variant variant, Computation&) {
             return static_cast<double>(formula_peak_bytes(backend, variant, {row.n}, row.options));
           }});
}

// Three constructions after one that warms the compiler's memo: what remains is geometry,
// allocation and upload.
void setup(const Row& row, Session& session) {
  const Row stepped = as(families::rk4_step, row);
  (void)make(stepped, session.open(), Variant::optimized);
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    Backend& backend = session.open();
    std::unique_ptr<Computation> step;
    seconds.push_back(session.seconds_until_done(
        backend, [&] { step = make(stepped, backend, Variant::optimized); }));
    if (i > 0) continue;
    session.read("peak_bytes_warm", static_cast<double>(backend.ledger.peak_bytes));
    session.read("h2d_bytes_warm", static_cast<double>(backend.ledger.counts.h2d_bytes));
    if (!session.executes()) continue;
    const State start = initial_state({row.n}, row.options.start);
    std::vector<double> expected = start.h;
    expected.insert(expected.end(), start.v1.begin(), start.v1.end());
    expected.insert(expected.end(), start.v2.begin(), start.v2.end());
    session.check("the start itself", relative_error(step->result(), expected, fields(row)),
                  limit(row));
  }
  if (session.executes()) session.read("setup_s", median(seconds));
}

}  // namespace

const Family<Row> families::compile = {.id =
                                           [](const Row& row) {
                                             return id("cubed_sphere_swe/compile",
                                                       {{"unit", unit_name(row)}},
                                                       name(row.options.precision));
                                           },
                                       .devices = [](const Row&) { return gpu; },
                                       .reference = never,
                                       .metrics = [](const Row&) { return compile_metrics(); },
                                       .protocol = cubed_sphere_swe::compile,
                                       .limit = limit};

const Family<Row> families::memory = {.id = [](const Row& row) { return named("memory", row); },
                                      .devices = small_grids,
                                      .metrics = [](const Row&) { return memory_metrics(); },
                                      .protocol = cubed_sphere_swe::memory,
                                      .limit = limit};

const Family<Row> families::setup = {
    .id = [](const Row& row) { return named("setup", row); },
    .devices = small_grids,
    .reference = never,
    .metrics =
        [](const Row&) {
          return std::vector<MetricDeclaration>{
              {.name = "setup_s", .devices = executing},
              {.name = "peak_bytes_warm", .kind = "exact"},
              {.name = "h2d_bytes_warm", .kind = "exact", .devices = gpu}};
        },
    .protocol = cubed_sphere_swe::setup,
    .limit = limit};

}  // namespace holdfast::cubed_sphere_swe
