// SPDX-License-Identifier: Apache-2.0
// The family that is no repeated step: what a training step holds.
#include "families/protocols.hpp"

#include "gpt_train/oracles.hpp"
#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

// Parameters, gradients and two moments of each, which users reckon with.
double rule_of_thumb(const Row& row) {
  return 16. * double(parameter_count(row.options.shape));
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

}  // namespace

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
    .protocol = held};

}  // namespace holdfast::gpt_train
