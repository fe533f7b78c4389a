// SPDX-License-Identifier: Apache-2.0
// What a step must do at least, and what of it counts for its utilisation.
#include <gtest/gtest.h>

#include "gpt_train/gpt_train.hpp"

namespace holdfast::gpt_train {
namespace {

Options of(Model model) {
  return {.shape = shape_of(model)};
}

TEST(GptWork, FlopsThatCountForTheUtilisationArePublished) {
  const std::pair<Model, double> published[] = {{Model::tiny, 8.56e8},
                                                {Model::small, 3.625e10},
                                                {Model::gpt2_124m, 1.309e13},
                                                {Model::llama3_150m, 2.078e12}};
  for (const auto& [model, flops] : published)
    EXPECT_NEAR(model_flops(of(model)) / flops, 1, 1e-3) << model_words.of(model);
}

TEST(GptWork, TwiceTheRowsAreTwiceTheFlops) {
  Options options = of(Model::small);
  const double once = model_flops(options);
  options.shape.batch *= 2;
  EXPECT_EQ(model_flops(options), 2 * once);
}

// From the data: pairs that documents hide are no work, and no optimiser is part of it.
TEST(GptWork, HiddenPairsDoNotCountAndOptimisersDoNotEither) {
  Options options = of(Model::tiny);
  const Shape& s = options.shape;
  const double all = model_flops(options);
  options.documents = true;
  EXPECT_EQ(all - model_flops(options),
            3. * 4 * s.query_width() * s.layers * (16512 - 7390));  // published pairs
  options.optimizer = Optimizer::multiscale;
  const Options adamw = {.documents = true};
  EXPECT_EQ(model_flops(options), model_flops(adamw));
  EXPECT_GT(work_of(Unit::train_step, options).flops, work_of(Unit::train_step, adamw).flops);
}

TEST(GptWork, OfABatchThatNoMachineHoldsIsKnownAtOnce) {
  Options options = of(Model::tiny);
  options.documents = true;
  options.shape.batch = 10'000;  // the most that are counted are between this and twice as many
  const double counted = model_flops(options);
  options.shape.batch = 1'000'000'000;
  EXPECT_NEAR(model_flops(options) / counted / 1e5, 1, 1e-3);
}

}  // namespace
}  // namespace holdfast::gpt_train
