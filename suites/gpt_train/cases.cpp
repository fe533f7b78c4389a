// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/gpt_train: one row per claim, in the order of the list.
#include "families/given.hpp"
#include "gpt_train/row.hpp"

namespace holdfast {
namespace {

using namespace gpt_train;

using Rows = std::vector<Row>;

Row row(const Family<Row>& family, Tier tier, Model model, bool documents = false,
        Optimizer optimizer = Optimizer::adamw) {
  return {.family = &family,
          .tier = tier,
          .model = model,
          .options = {.shape = shape_of(model), .documents = documents, .optimizer = optimizer}};
}

// One forward and backward pass, whole and in its parts. Micro is small enough to be counted.
void add_passes(Rows& rows) {
  Row micro = row(families::forward_backward, Tier::gate, Model::micro, true);
  micro.options.pad_tail = 3;
  micro.options.precision = Precision::f64;
  micro.counted = true;
  rows.push_back(micro);
  rows.push_back(row(families::forward, Tier::full, Model::tiny));
  rows.push_back(row(families::forward_backward, Tier::smoke, Model::tiny));
  rows.push_back(row(families::forward_backward, Tier::full, Model::tiny, true));
  rows.push_back(row(families::forward_backward, Tier::full, Model::small, true));
  for (const Family<Row>* layer : {&families::layer_forward, &families::layer_backward})
    rows.push_back(row(*layer, Tier::gate, Model::tiny));
  for (const Family<Row>* part : {&families::attention_forward, &families::attention_backward})
    for (const bool documents : {false, true})
      rows.push_back(row(*part, documents ? Tier::gate : Tier::full, Model::tiny, documents));
  rows.push_back(row(families::lm_head, Tier::gate, Model::tiny));
}

// Updates by themselves, and whole steps.
void add_training(Rows& rows) {
  constexpr Optimizer all[] = {Optimizer::adamw, Optimizer::muon, Optimizer::multiscale};
  for (const Optimizer optimizer : all)
    rows.push_back(row(families::optimizer, optimizer == Optimizer::muon ? Tier::gate : Tier::full,
                       Model::tiny, false, optimizer));
  for (const bool documents : {false, true})
    for (const Optimizer optimizer : all)
      rows.push_back(row(families::train_step, documents ? Tier::full : Tier::gate, Model::tiny,
                         documents, optimizer));
  for (const Optimizer optimizer : all)
    rows.push_back(row(families::train_step, Tier::full, Model::small, true, optimizer));
  rows.push_back(row(families::in_turn, Tier::full, Model::tiny));
  for (const Optimizer optimizer : all)
    rows.push_back(row(families::memory, optimizer == Optimizer::adamw ? Tier::gate : Tier::full,
                       Model::tiny, false, optimizer));
}

// What the suite's own options make of a row.
Row with(const SuiteOptions& options, Row each) {
  const Given given(options);
  given.number("batch", each.options.shape.batch);
  given.number("seq", each.options.shape.columns);
  given.real("lr", each.options.learning_rate);
  given.real("w0", each.options.warm);
  return each;
}

std::vector<Case> cases(const SuiteOptions& given) {
  Rows rows;
  add_passes(rows);
  add_training(rows);
  for (Row& each : rows) {
    each = with(given, each);
    validate(each.options);
  }
  return cases_of(rows);
}

}  // namespace

Suite suite() {
  return {.name = "gpt_train",
          .options = {{"batch", "B", "rows of a batch"},
                      {"seq", "T", "tokens of a row, at least 2"},
                      {"lr", "RATE", "learning rate of every update"},
                      {"w0", "W", "how far warm-up has come, 0 to 1"}},
          .cases = cases};
}

}  // namespace holdfast
