// SPDX-License-Identifier: Apache-2.0
// The families that are no repeated step: what the first call costs, and what compiles again.
#include "families/protocols.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The fit that a first call makes.
Row first_fit(Row row) {
  row.family = &families::fit;
  row.size = NamedSize::t;
  return row;
}

// Of the program that took longest to compile.
double slowest_program_seconds(const Backend& backend) {
  double slowest = 0;
  for (const auto& program : backend.compiler->programs())
    slowest = std::max(slowest, program->seconds.lower + program->seconds.compile);
  return slowest;
}

void measure_first_call(const Row& row, Session& session) {
  const Row fit = first_fit(row);
  const auto made = [=](Backend& backend) { return make(fit, backend, Variant::optimized); };
  double cached = 0;
  const FirstCall first = compile(session, made, [&](const FirstCall& call) {
    cached = session.seconds_until_done(call.backend, [&] { call.computation->step(); });
  });
  session.read("slowest_program_s", slowest_program_seconds(first.backend));
  check(session, families::fit.oracle(fit), *first.computation);
  if (session.executes()) session.read("cached_call_s", cached);
  session.read("warm_first_call_s", warm_first_call_seconds(session, made));
}

// What is computed one after the other on one backend. Shapes: those of a sweep, and the published
// change from 1000 points to 2000. Forms: a change of one thing at a time.
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

// Of normal equations, against the published estimate: data and Jacobian, twice.
void measure_memory(const Row& row, Session& session) {
  Row whole = row;
  whole.family = &families::normal_equations;
  const Size size = size_of(row);
  const double rule_of_thumb =
      16. * static_cast<double>(size.points()) * (1 + parameter_count(row.options, size.angles));
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
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "peak_bytes", .kind = "exact"},
              {.name = "estimate_ratio", .kind = "bound"},
              {.name = "rule_of_thumb_ratio", .kind = "bound"}};
    },
    .protocol = measure_memory};

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
          all.push_back({.name = "warm_first_call_s", .devices = gpu});
          all.push_back({.name = "cached_call_s", .devices = {"cuda"}});
          return all;
        },
    .protocol = measure_first_call};

const Family<Row> families::shape_change = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/compile/shape_change",
                    {{"over", row.change == Change::shape ? "shape" : "dtype_mode"}}, "f64");
        },
    .devices = [](const Row&) { return gpu; },
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "compile_warm", .kind = "exact", .devices = gpu},
              {.name = "compile_steady", .kind = "exact", .devices = gpu}};
    },
    .protocol = measure_shape_change};

}  // namespace holdfast::xpcs_fit
