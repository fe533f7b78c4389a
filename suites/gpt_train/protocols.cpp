// SPDX-License-Identifier: Apache-2.0
// The families that are no repeated step: what a training step holds, and inputs that take turns.
#include "families/protocols.hpp"

#include "gpt_train/oracles.hpp"
#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

// Parameters, gradients and two moments of each, which users reckon with.
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
             for (int k = 1; k < warm_up_of(step); ++k) computation.step();
             Oracle known = oracle_of(step);
             if (known.few) {
               computation.step();
               session.check(known.name, known.few(computation.result()), known.limit);
             } else {
               check(session, known, computation);
             }
           },
       .estimate =
           [&](Backend&, Variant variant, Computation&) {
             return static_cast<double>(formula_peak_bytes(variant, Unit::train_step, row.options));
           }});
}

double limit_of_turns(const Row& row) {
  return oracle_of(as(families::forward_backward, row)).limit;
}

// The same tokens with documents and without: one batch's masks must not be taken for the other's.
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

const Family<Row> families::in_turn = {
    .id = [](const Row& row) { return named("in_turn", row); },
    .devices = [](const Row&) { return Kinds{"host"}; },
    .reference = never,
    .metrics =
        [](const Row&) {
          return std::vector<MetricDeclaration>{{.name = "allclose",
                                                 .kind = "bound",
                                                 .better = Better::higher,
                                                 .devices = executing}};
        },
    .protocol = turns,
    .limit = limit_of_turns};

const Family<Row> families::memory = {
    .id = [](const Row& row) { return named("memory", row, {}, {optimizer_axis(row)}); },
    .devices = [](const Row&) { return Kinds{"host"}; },
    .reference = never,
    .metrics =
        [](const Row&) {
          return std::vector<MetricDeclaration>{{.name = "peak_bytes", .kind = "exact"},
                                                {.name = "estimate_ratio", .kind = "bound"},
                                                {.name = "rule_of_thumb_ratio", .kind = "bound"}};
        },
    .protocol = held,
    .limit = limit_of_step};

}  // namespace holdfast::gpt_train
