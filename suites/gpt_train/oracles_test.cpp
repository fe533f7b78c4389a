// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/oracles.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

using Change = void (*)(Options&);
constexpr Change changes[] = {
    [](Options&) {},
    [](Options& o) { o.shape.columns = 10; },
    [](Options& o) { o.shape.batch = 3; },
    [](Options& o) { o.shape.layers = 3; },
    [](Options& o) { o.shape.head = 4; },
    [](Options& o) { o.documents = true; },
    [](Options& o) { o.optimizer = Optimizer::muon; },
    [](Options& o) { o.optimizer = Optimizer::multiscale; },
    [](Options& o) { o.learning_rate = 0.02; },
    [](Options& o) { o.optimizer = Optimizer::multiscale, o.warm = 1; },
};

TEST(GptOracle, WhateverATrainingDependsOnHasAnAnswerOfItsOwn) {
  std::set<std::vector<double>> answers;
  for (const Change& change : changes) {
    Row row = {.family = &families::train_step, .model = Model::micro};
    row.options.shape = shape_of(Model::micro);
    change(row.options);
    EXPECT_TRUE(answers.insert(oracle_of(row).expected(1)).second) << (&change - changes);
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
