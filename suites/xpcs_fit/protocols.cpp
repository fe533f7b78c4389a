// SPDX-License-Identifier: Apache-2.0
// The families that are not repeated steps: the cost of the first call, and recompilations.
#include "families/protocols.hpp"

#include <optional>
#include <vector>

#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/strategies.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Words<Change, 4> change_words = {"change", {"shape", "dtype_mode", "tail", "constants"}};

// The fit of a first call.
Row first_fit(Row row) {
  row.family = &families::fit;
  row.size = NamedSize::t;
  return row;
}

double limit_of_fit(const Row& row) {
  const Row fit = first_fit(row);
  return families::fit.oracle(fit).limit;
}

double limit_of_equations(const Row& row) {
  return families::normal_equations.oracle(as(families::normal_equations, row)).limit;
}

void measure_first_call(const Row& row, Session& session) {
  const Row fit = first_fit(row);
  const auto made = [=](Backend& backend) { return make(fit, backend, Variant::optimized); };
  double cached = 0;
  const FirstCall first = compile(session, made, [&](const FirstCall& call) {
    cached = session.seconds_until_done(call.backend, [&] { call.computation->step(); });
  });
  read_slowest_program(session, first.backend);
  check(session, families::fit.oracle(fit), *first.computation);
  if (session.executes()) session.read("cached_call_s", cached);
  warm_first_call(session, made);
}

// The rows computed one after the other on one backend. Shapes: those of a sweep, and the published
// change from 1000 points to 2000. Forms: one change at a time.
std::vector<Row> sequence(const Row& row) {
  Row one = row;
  one.family = &families::normal_equations;
  std::vector<Row> all;
  if (row.change == Change::shape) {
    for (const Size size :
         {Size{4, 25}, Size{4, 50}, Size{4, 100}, Size{4, 200}, Size{10, 10}, Size{20, 10}}) {
      one.angles = size.angles;
      one.frames = size.frames;
      all.push_back(one);
    }
    return all;
  }
  one.size = NamedSize::t;
  Row narrow = one, still = one, robust = one;
  narrow.options.precision = Precision::f32;
  still.options.mode = Mode::at_rest;
  robust.options.loss = Loss::soft_l1;
  return {one, narrow, still, robust};
}

// Each form once, then all of them again.
void measure_shape_change(const Row& row, Session& session) {
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    Backend& backend = session.open();
    std::int64_t programs = 0;
    for (int round = 0; round < 2; ++round) {
      for (const Row& one : sequence(row)) {
        const auto computation =
            make(Unit::normal_equations, backend, variant, problem_of(one, backend.executes()));
        computation->step();
        if (one.options.precision == Precision::f64)
          check(session, families::normal_equations.oracle(one), *computation);
      }
      const std::int64_t now = backend.ledger.counts.programs;
      session.read(round == 0 ? "compile_warm" : "compile_steady",
                   static_cast<double>(now - programs), variant);
      programs = now;
    }
  }
}

// The same problem with other time steps and gaps.
Problem with_other_constants(const Problem& problem, int which) {
  auto input = std::make_shared<Input>(*problem.input);
  input->physics.dt *= 1 + 0.25 * which;
  input->physics.gap *= 1 + 0.5 * which;
  return {input, problem.options};
}

constexpr double limit_of_plain_sums = 1e-11;

// Lengths of parts that do not divide the number of points, so that the last part is shorter.
void fit_with_tails(const Row& row, Session& session, Backend& backend, Variant variant) {
  const Problem problem = problem_of(row, session.executes());
  const Size& size = problem.input->size;
  const Oracle fits = fit_oracle(Unit::fit, as(families::fit, row));
  for (const int rows : {5, 9, 13}) {
    const auto fit = make_fit(backend, variant, problem,
                              {.strategy = Strategy::chunked,
                               .source = DataSource::host,
                               .chunk = std::int64_t{rows} * size.angles * size.frames});
    fit->step();
    check(session, fits, *fit);
  }
}

// Other physics, and loops with another number of turns, which a traced program has compiled in.
void change_constants(const Row& row, Session& session, Backend& backend, Variant variant) {
  const Problem problem = problem_of(row, session.executes());
  for (int which = 0; which < 3; ++which) {
    const Problem changed = with_other_constants(problem, which);
    const auto sums = make(Unit::normal_equations, backend, variant, changed);
    sums->step();
    check(
        session,
        {.name = "the plain sums",
         .limit = limit_of_plain_sums,
         .expected =
             [&](int) {
               return oracle::in_a_row(oracle::normal_equations(changed, changed.input->box.start));
             },
         .distance = oracle::distance},
        *sums);
  }
  for (const int turns : {1, 2, 4, 8}) {
    const auto loop = make(Pattern::turns, turns, backend, variant, problem);
    loop->step();
    check(session,
          {.name = "a loop in closed form",
           .limit = limit_of_plain_sums,
           .expected = [&](int) { return exact(Pattern::turns, turns, problem); }},
          *loop);
  }
}

// Changes for which the optimized variant compiles no program: a shorter last part, and other
// constants. The reference has a program for each length of a part and each number of turns.
void measure_no_change(const Row& row, Session& session) {
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    Backend& backend = session.open();
    std::int64_t programs = 0;
    for (int round = 0; round < 2; ++round) {
      (row.change == Change::tail ? fit_with_tails : change_constants)(row, session, backend,
                                                                       variant);
      const std::int64_t now = backend.ledger.counts.programs;
      session.read(round == 0 ? "compile_warm" : "compile_steady",
                   static_cast<double>(now - programs), variant);
      programs = now;
    }
  }
}

bool changes_programs(const Row& row) {
  return row.change == Change::shape || row.change == Change::dtype_mode;
}

double limit_of_change(const Row& row) {
  if (changes_programs(row)) return limit_of_equations(row);
  return row.change == Change::tail ? fit_oracle(Unit::fit, as(families::fit, row)).limit
                                    : limit_of_plain_sums;
}

// The same truth with two noises: the data of one must not be mistaken for the other's.
void measure_in_turn(const Row& row, Session& session) {
  std::vector<Turn> all;
  for (const std::uint64_t more : {0, 1}) {
    Row each = as(families::normal_equations, row);
    each.seed += more;
    const Steps steps = steps_of(each);
    all.push_back({steps, [=](const std::vector<double>& result) {
                     return steps.oracle.distance(result, steps.oracle.expected(1)) <=
                            steps.oracle.limit;
                   }});
  }
  in_turn(session, all);
}

// The memory of normal equations compared with the published estimate: data and Jacobian, twice.
void measure_memory(const Row& row, Session& session) {
  Row whole = row;
  whole.family = &families::normal_equations;
  const Size size = size_of(row);
  const double rule_of_thumb =
      published_gib(size.points(), parameter_count(row.options, size.angles)) * (1 << 30);
  memory(
      session,
      {.make = [=](Backend& backend, Variant variant) { return make(whole, backend, variant); },
       .rule_of_thumb_bytes = rule_of_thumb,
       .live =
           [&](Backend&, Variant, Computation& computation) {
             computation.step();
             check(session, families::normal_equations.oracle(whole), computation);
           },
       .estimate = [=](Backend& backend, Variant variant, Computation&) -> std::optional<double> {
         return static_cast<double>(
             estimate_bytes(Unit::normal_equations, backend, variant, size, row.options));
       }});
}

}  // namespace

const Family<Row> families::memory = {
    .id = [](const Row& row) { return named("memory/model", row); },
    .metrics = [](const Row&) { return memory_metrics(); },
    .protocol = measure_memory,
    .limit = limit_of_equations};

const Family<Row> families::in_turn = {.id = [](const Row& row) { return named("in_turn", row); },
                                       .devices = [](const Row&) { return executing; },
                                       .metrics = [](const Row&) { return turn_metrics({"cuda"}); },
                                       .protocol = measure_in_turn,
                                       .limit = limit_of_equations};

const Family<Row> families::first_call = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/compile/first_call", {{"mode", mode_words.of(row.options.mode)}},
                    "f64");
        },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics =
        [](const Row&) {
          std::vector<MetricDeclaration> all = compile_metrics();
          all.push_back({.name = "slowest_program_s", .devices = gpu});
          declare_warm_first_call(all);
          all.push_back({.name = "cached_call_s", .devices = {"cuda"}});
          return all;
        },
    .protocol = measure_first_call,
    .limit = limit_of_fit};

const Family<Row> families::shape_change = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/compile/shape_change", {{"over", change_words.of(row.change)}},
                    "f64");
        },
    .devices = [](const Row&) { return gpu; },
    .metrics = [](const Row&) { return shape_change_metrics(); },
    .protocol =
        [](const Row& row, Session& session) {
          (changes_programs(row) ? measure_shape_change : measure_no_change)(row, session);
        },
    .limit = limit_of_change};

}  // namespace holdfast::xpcs_fit
