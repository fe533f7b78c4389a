// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/row.hpp"

#include <utility>

namespace holdfast::gpt_train {

Unit unit_of(const Row& row) {
  const std::pair<const Family<Row>*, Unit> all[] = {
      {&families::forward, Unit::forward},
      {&families::forward_backward, Unit::forward_backward},
      {&families::layer_forward, Unit::layer_forward},
      {&families::layer_backward, Unit::layer_backward},
      {&families::attention_forward, Unit::attention_forward},
      {&families::attention_backward, Unit::attention_backward},
      {&families::lm_head, Unit::lm_head},
      {&families::optimizer, Unit::update}};
  for (const auto& [family, unit] : all)
    if (row.family == family) return unit;
  return Unit::train_step;
}

std::string named(const std::string& family, const Row& row,
                  const std::vector<holdfast::Axis>& before,
                  const std::vector<holdfast::Axis>& after) {
  std::vector<holdfast::Axis> all = before;
  all.emplace_back("model", model_words.of(row.model));
  all.insert(all.end(), after.begin(), after.end());
  const Shape &shape = row.options.shape, &usual = shape_of(row.model);
  if (shape.batch != usual.batch) all.emplace_back("batch", shape.batch);
  if (shape.columns != usual.columns) all.emplace_back("seq", shape.columns);
  return id("gpt_train/" + family, all, name(row.options.precision));
}

}  // namespace holdfast::gpt_train
