// SPDX-License-Identifier: Apache-2.0
// The families that are not repeated steps: the memory of a training step, alternating inputs, and
// what compiles when.
#include "families/protocols.hpp"

#include <vector>

#include "gpt_train/oracles.hpp"
#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

// Parameters, gradients and two moments of each, the users' rule of thumb.
double rule_of_thumb(const Row& row) {
  return 16. * double(parameter_count(row.options.shape));
}

double limit_of_step(const Row& row) {
  return oracle_of(as(families::train_step, row)).limit;
}

void held(const Row& row, Session& session) {
  const Row step = as(families::train_step, row);
  memory(
      session,
      {.make = [&](Backend& backend, Variant variant) { return make(step, backend, variant); },
       .rule_of_thumb_bytes = rule_of_thumb(row),
       .live =
           [&](Backend&, Variant, Computation& computation) {
             for (int k = 0; k < warm_up_of(step); ++k) computation.step();
             check_after_warm_up(session, step, computation);
           },
       .estimate =
           [&](Backend&, Variant variant, Computation&) {
             return static_cast<double>(formula_peak_bytes(variant, Unit::train_step, row.options));
           }});
}

// A first call with empty caches, and once more as in a new process.
void called_first(const Row& row, Session& session) {
  const Row step = as(families::train_step, row);
  const auto making = [&](Backend& backend) { return make(step, backend, Variant::optimized); };
  const FirstCall first =
      compile(session, making, [](const FirstCall& call) { call.computation->step(); });
  read_slowest_program(session, first.backend);
  if (session.executes()) {
    const Oracle known = oracle_of(step);
    session.check(known.name, error_of(known, first.computation->result(), known.expected(2)),
                  known.limit);
  }
  warm_first_call(session, making);
}

// Changes what a program must not depend on, one thing at a time, and then what it depends on: the
// head width.
void changed(const Row& row, Session& session) {
  const Row first = as(families::train_step, row);
  Row columns = first, batch = first, layers = first, rate = first, other = first, head = first;
  columns.options.shape.columns = 200;
  batch.options.shape.batch = 3;
  layers.options.shape.layers = 3;
  rate.options.learning_rate = 0.01;
  rate.options.warm = 1;
  other.options.optimizer = Optimizer::multiscale;
  head.options.shape.head = 64;
  Backend& backend = session.open();
  const auto programs_of = [&](const std::vector<Row>& rows) {
    const std::int64_t before = backend.ledger.counts.programs;
    for (const Row& each : rows) {
      const auto computation = make(each, backend, Variant::optimized);
      computation->step();
      check(session, oracle_of(each), *computation);
    }
    return static_cast<double>(backend.ledger.counts.programs - before);
  };
  session.read("compile_warm", programs_of({first}));
  const double steady = programs_of({columns, batch, layers, rate, other});
  session.read("compile_other_head", programs_of({head}));
  session.read("compile_steady", steady + programs_of({first, head, columns}));
}

double limit_of_turns(const Row& row) {
  return oracle_of(as(families::forward_backward, row)).limit;
}

// The same tokens with documents and without: one batch's masks must not be mistaken for the
// other's.
void turns(const Row& row, Session& session) {
  std::vector<Turn> all;
  for (const bool documents : {false, true}) {
    Row each = as(families::forward_backward, row);
    each.options.documents = documents;
    const Steps steps = steps_of(each);
    all.push_back({steps, [=](const std::vector<double>& result) {
                     return error_of(steps.oracle, result, steps.oracle.expected(1)) <=
                            steps.oracle.limit;
                   }});
  }
  in_turn(session, all);
}

}  // namespace

const Family<Row> families::in_turn = {.id = [](const Row& row) { return named("in_turn", row); },
                                       .devices = kinds_of,
                                       .reference = never,
                                       .metrics = [](const Row&) { return turn_metrics(); },
                                       .protocol = turns,
                                       .limit = limit_of_turns};

const Family<Row> families::memory = {
    .id = [](const Row& row) { return named("memory", row, {}, {optimizer_axis(row)}); },
    .devices = kinds_of,
    .reference = never,
    .metrics = [](const Row&) { return memory_metrics(); },
    .protocol = held,
    .limit = limit_of_step};

const Family<Row> families::first_call = {
    .id =
        [](const Row& row) { return named("compile/first_call", row, {}, {optimizer_axis(row)}); },
    .devices = kinds_of,
    .reference = never,
    .metrics =
        [](const Row&) {
          std::vector<MetricDeclaration> all = compile_metrics();
          all.push_back({.name = "slowest_program_s", .devices = gpu});
          declare_warm_first_call(all);
          return all;
        },
    .protocol = called_first,
    .limit = limit_of_step};

const Family<Row> families::shape_change = {
    .id = [](const Row& row) { return named("compile/shape_change", row); },
    .devices = kinds_of,
    .reference = never,
    .metrics =
        [](const Row&) {
          return std::vector<MetricDeclaration>{
              {.name = "compile_warm", .kind = "exact", .devices = gpu},
              {.name = "compile_other_head", .kind = "exact", .devices = gpu},
              {.name = "compile_steady", .kind = "exact", .devices = gpu}};
        },
    .protocol = changed,
    .limit = limit_of_step};

}  // namespace holdfast::gpt_train
