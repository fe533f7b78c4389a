// SPDX-License-Identifier: Apache-2.0
// The families that are not repeated steps: the costs of compiling, of changes and of memory.
#include "families/protocols.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "galaxy_shear/row.hpp"
#include "harness/measure/account.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr double published_peak_bytes = 4.6e9;     // for one image of 48 x 48
constexpr double published_compile_seconds = 3.4;  // of its just-in-time compiler, once

double limit_of(const Family<Row>& family, const Row& row) {
  return family.oracle(as(family, row)).limit;
}
double limit_of_step(const Row& row) {
  return limit_of(families::svi_step, row);
}
double limit_of_fit(const Row& row) {
  return limit_of(families::map, row);
}
Row in_single(Row row) {
  row.options.precision = Precision::f32;
  return row;
}
// The largest limit over all changes of shape.
double largest_limit(const Row& row) {
  return std::max({limit_of_step(row), limit_of_step(in_single(row)), limit_of_fit(row)});
}

// A first call with empty caches, compared with the published program's compile time, and once more
// as in a new process.
void first_call(const Row& row, Session& session) {
  const Row step = as(families::svi_step, row);
  const auto making = [&](Backend& backend) { return make(step, backend, Variant::optimized); };
  const FirstCall first =
      holdfast::compile(session, making, [](const FirstCall& call) { call.computation->step(); });
  const StageSeconds stages = stage_seconds(first.backend);
  session.read("vs_seed_compile", published_compile_seconds / (stages.lower + stages.compile));
  if (session.executes()) {
    const Oracle known = families::svi_step.oracle(step);
    session.check(known.name, error_of(known, first.computation->result(), known.expected(2)),
                  known.limit);
  }
  warm_first_call(session, making);
}

// The graphs that `work` captures on a device.
double captures_of(Backend& backend, const std::function<void()>& work) {
  Recording recording(backend);
  work();
  recording.stop();
  return static_cast<double>(
      std::ranges::count(recording.activities(), Activity::Kind::capture, &Activity::kind));
}

// A whole fit, and the same fit built anew on the same backend: the published program spends most
// of its time compiling it again. A recording takes time, so captures are those of a run after
// both.
void first_run(const Row& row, Session& session) {
  const Row fit = as(families::map, row);
  Backend& backend = session.open();
  if (backend.compiler) backend.compiler->bypass_caches();
  std::unique_ptr<Computation> run;
  const auto run_anew = [&] {
    run = make(fit, backend, Variant::optimized);
    run->step();
  };
  const auto seconds_of_a_run = [&] { return session.seconds_until_done(backend, run_anew); };
  const double first = seconds_of_a_run();
  const Counts before = backend.ledger.counts;
  const double second = seconds_of_a_run();
  const Counts again = backend.ledger.counts - before;
  session.read("second_run_programs", static_cast<double>(again.programs));
  session.read("second_run_plans", static_cast<double>(again.plans));
  if (backend.device) session.read("second_run_captures", captures_of(backend, run_anew));
  if (!session.executes()) return;
  session.read("first_run_s", first);
  session.read("second_run_s", second);
  session.read("jit_fraction", (first - second) / first);
  check(session, families::map.oracle(fit), *run);
}

// Changes what a program must not depend on, and then what it depends on.
void shape_change(const Row& row, Session& session) {
  const Row first = as(families::svi_step, row);
  Row batch = first, all_latents = first, rate = first;
  Row other_size = first, other_image = first, table = first;
  Row whole = as(families::map, first), run = as(families::map, first);
  batch.options.batch = 3;
  all_latents.options.latents = 8;  // with other priors, noise and optics
  rate.options.learning_rate = 0.05;
  whole.options.steps = 7;
  run.options.steps = 23;
  other_size.options.fft = 64;
  other_image.options.image = 33;
  table.options.psf = Psf::moffat;
  Row other_table = table;
  other_table.options.beta = 3.1;
  const Row single = in_single(first);
  Backend& backend = session.open();
  const auto programs_of = [&](const std::vector<Row>& rows) {
    const std::int64_t before = backend.ledger.counts.programs;
    for (const Row& each : rows) {
      const auto computation = make(each, backend, Variant::optimized);
      computation->step();
      check(session, each.family->oracle(each), *computation);
    }
    return static_cast<double>(backend.ledger.counts.programs - before);
  };
  session.read("compile_warm", programs_of({first}));
  const double steady = programs_of({batch, all_latents, rate, whole, run});
  session.read("compile_other_size", programs_of({other_size}));
  session.read("compile_other_image", programs_of({other_image}));
  session.read("compile_other_psf", programs_of({table}));
  session.read("compile_other_type", programs_of({single}));
  session.read("compile_steady",
               steady + programs_of({first, other_size, other_image, other_table, single, batch}));
}

// A fit of the benchmark's galaxy and one of all parameters of another, in turn in one process.
void turns(const Row& row, Session& session) {
  std::vector<Turn> all;
  for (const int latents : {4, 8}) {
    Row each = as(families::map, row);
    each.options.latents = latents;
    const Steps steps = steps_of(each);
    all.push_back({steps, [oracle = steps.oracle](const std::vector<double>& result) {
                     return error_of(oracle, result, oracle.expected(1)) <= oracle.limit;
                   }});
  }
  holdfast::in_turn(session, all);
}

// The memory of a whole fit: after its arrays are allocated, and at its peak.
void memory(const Row& row, Session& session) {
  const Row fit = as(families::map, row);
  const auto read_in_use = [&](Backend& backend, Variant variant) {
    session.read("bytes_in_use", static_cast<double>(backend.ledger.live_bytes), variant);
  };
  std::int64_t peaks[2] = {};
  holdfast::memory(session, {.make = [&](Backend& backend,
                                         Variant variant) { return make(fit, backend, variant); },
                             .rule_of_thumb_bytes = published_peak_bytes,
                             .live =
                                 [&](Backend& backend, Variant variant, Computation& computation) {
                                   read_in_use(backend, variant);
                                   computation.step();
                                   check(session, families::map.oracle(fit), computation);
                                   if (!session.executes()) (void)computation.result();
                                   peaks[variant == Variant::optimized] = backend.ledger.peak_bytes;
                                 },
                             .estimate =
                                 [&](Backend& backend, Variant variant, Computation&) {
                                   return static_cast<double>(formula_peak_bytes(
                                       backend, variant, Unit::map, fit.options));
                                 }});
  session.read("vs_seed_peak", published_peak_bytes / static_cast<double>(peaks[1]));
  session.read("peak_over_optimized",
               static_cast<double>(peaks[0]) / static_cast<double>(peaks[1]));
}

std::string sizes_of(const std::string& family, const Row& row,
                     const std::vector<holdfast::Axis>& more = {}) {
  std::vector<holdfast::Axis> axes = {{"fft", row.options.fft}, {"image", row.options.image}};
  axes.insert(axes.end(), more.begin(), more.end());
  return id("galaxy_shear/" + family, axes, name(row.options.precision));
}

std::vector<MetricDeclaration> first_call_metrics(const Row&) {
  std::vector<MetricDeclaration> all = compile_metrics();
  declare_warm_first_call(all, "bound");
  all.push_back({.name = "vs_seed_compile", .better = Better::higher, .devices = gpu});
  return all;
}

}  // namespace

const Family<Row> families::first_call = {
    .id = [](const Row& row) { return sizes_of("compile/first_call", row); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = first_call_metrics,
    .protocol = galaxy_shear::first_call,
    .limit = limit_of_step};

const Family<Row> families::first_run = {
    .id =
        [](const Row& row) {
          return sizes_of("compile/first_run", row, {{"steps", row.options.steps}});
        },
    .reference = never,
    .metrics =
        [](const Row&) {
          return std::vector<MetricDeclaration>{
              {.name = "second_run_programs", .kind = "exact"},
              {.name = "second_run_plans", .kind = "exact"},
              {.name = "second_run_captures", .kind = "bound", .devices = gpu},
              {.name = "first_run_s", .devices = executing},
              {.name = "second_run_s", .devices = executing},
              {.name = "jit_fraction", .devices = executing}};
        },
    .protocol = galaxy_shear::first_run,
    .limit = limit_of_fit};

const Family<Row> families::shape_change = {
    .id = [](const Row& row) { return sizes_of("compile/shape_change", row); },
    .reference = never,
    .metrics =
        [](const Row&) {
          return shape_change_metrics(any_kind, {{.name = "compile_other_size", .kind = "exact"},
                                                 {.name = "compile_other_image", .kind = "exact"},
                                                 {.name = "compile_other_psf", .kind = "exact"},
                                                 {.name = "compile_other_type", .kind = "exact"}});
        },
    .protocol = galaxy_shear::shape_change,
    .limit = largest_limit};

const Family<Row> families::in_turn = {
    .id =
        [](const Row& row) {
          return sizes_of("in_turn", row, {{"steps", row.options.steps}});
        },
    .reference = never,
    .metrics = [](const Row&) { return turn_metrics(); },
    .protocol = turns,
    .limit = limit_of_fit};

const Family<Row> families::memory = {
    .id =
        [](const Row& row) {
          return sizes_of("memory", row, {{"batch", row.options.batch}});
        },
    .reference = never,
    .metrics =
        [](const Row&) {
          return memory_metrics(
              {{.name = "bytes_in_use", .kind = "exact"},
               {.name = "vs_seed_peak", .kind = "bound", .better = Better::higher},
               {.name = "peak_over_optimized", .kind = "bound", .better = Better::higher}});
        },
    .protocol = galaxy_shear::memory,
    .limit = limit_of_fit};

}  // namespace holdfast::galaxy_shear
