// SPDX-License-Identifier: Apache-2.0
// The minimum work of a step, and the part of it that counts towards its utilisation.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "gpt_train/data/data.hpp"
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

// From the data: hidden pairs do not count, and neither do optimisers.
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

double flops_of(Unit unit, const Options& options) {
  return work_of(unit, options).flops;
}
double numbers_of(Unit unit, Options options) {
  options.precision = Precision::f64;
  return work_of(unit, options).bytes / 8;
}

// The backward pass has two products per forward one, and attention has no weights.
TEST(GptWork, OfAPassIsThatOfItsParts) {
  for (const Model model : {Model::tiny, Model::small}) {
    const Options o = of(model);
    const Shape& s = o.shape;
    const double layers = s.layers, n = double(s.tokens()),
                 layer = double(matrix_count(s)) / layers;
    const double attention = flops_of(Unit::attention_forward, o);
    EXPECT_EQ(attention, 4. * s.query_width() * double(pairs_of(o)));
    EXPECT_EQ(flops_of(Unit::attention_backward, o), 2 * attention);
    EXPECT_EQ(flops_of(Unit::layer_forward, o), 2 * n * layer + attention);
    EXPECT_EQ(flops_of(Unit::layer_backward, o), 2 * flops_of(Unit::layer_forward, o));
    EXPECT_EQ(flops_of(Unit::lm_head, o), 3 * 2 * n * s.width * s.vocabulary);
    EXPECT_EQ(flops_of(Unit::forward, o),
              layers * flops_of(Unit::layer_forward, o) + flops_of(Unit::lm_head, o) / 3);
    EXPECT_EQ(flops_of(Unit::forward_backward, o), model_flops(o));
    EXPECT_EQ(flops_of(Unit::train_step, o), model_flops(o) + flops_of(Unit::update, o));
  }
}

// Each layer of tiny, 128 wide, has two matrices of 128 x 128, two of 128 x 64, three of 128 x 384.
TEST(GptWork, OfAnUpdateIsNewtonSchulzForEachTimescale) {
  const auto orthogonal = [](double m, double q) { return 5 * (3 * m * m * q + m * m * m); };
  const double once =
      2 * (2 * orthogonal(128, 128) + 2 * orthogonal(64, 128) + 3 * orthogonal(128, 384));
  const auto flops = [](Optimizer optimizer) {
    return flops_of(Unit::update, {.optimizer = optimizer});
  };
  EXPECT_EQ(flops(Optimizer::adamw), 15. * 656000);
  EXPECT_EQ(flops(Optimizer::muon), 15. * 656000 + once);
  EXPECT_EQ(flops(Optimizer::multiscale), 15. * 656000 + 3 * once);
}

// Parameters and moments are read and written, gradients read; norms have one moment, Adam has two.
TEST(GptWork, AnUpdateMovesParametersMomentsAndGradients) {
  constexpr double all = 656000, norms = 5 * 128, matrices = 656000 - 2 * 1024 * 128 - norms;
  const double adam = 7 * (all - norms) + 5 * norms;
  const auto numbers = [](Optimizer optimizer) {
    return numbers_of(Unit::update, {.optimizer = optimizer});
  };
  EXPECT_EQ(numbers(Optimizer::adamw), adam);
  EXPECT_EQ(numbers(Optimizer::muon), adam - 2 * matrices);
  EXPECT_EQ(numbers(Optimizer::multiscale), adam + 2 * matrices);
  for (const Precision precision : {Precision::f32, Precision::bf16})  // updates use f32 for both
    EXPECT_EQ(work_of(Unit::update, {.precision = precision}).bytes, 4 * adam);
}

// Weights in, and out as gradients; per token, the part's input and its output.
TEST(GptWork, APartMovesItsWeightsAndWhatComesAndGoes) {
  const Options o = of(Model::tiny);
  constexpr double n = 256, d = 128, da = 128, dk = 64, head = 1024 * 128;
  const double layer = double(matrix_count(o.shape)) / 2, all = 656000;
  EXPECT_EQ(numbers_of(Unit::attention_forward, o), n * (2 * da + 2 * dk));
  EXPECT_EQ(numbers_of(Unit::attention_backward, o), 2 * n * (2 * da + 2 * dk));
  EXPECT_EQ(numbers_of(Unit::layer_forward, o), layer + 2 * n * d);
  EXPECT_EQ(numbers_of(Unit::layer_backward, o), 2 * layer + 3 * n * d);
  EXPECT_EQ(numbers_of(Unit::lm_head, o), 2 * head + 2 * n * d);
  EXPECT_EQ(numbers_of(Unit::forward, o), all - head + n * d);
  EXPECT_EQ(numbers_of(Unit::forward_backward, o), 2 * all - head + n * d);
  EXPECT_EQ(numbers_of(Unit::train_step, o),
            numbers_of(Unit::forward_backward, o) + numbers_of(Unit::update, o));
  Options narrow = o;
  for (const auto& [precision, bytes] : {std::pair{Precision::f32, 4}, {Precision::bf16, 2}}) {
    narrow.precision = precision;
    const Work work = work_of(Unit::layer_forward, narrow);
    EXPECT_EQ(work.bytes, bytes * numbers_of(Unit::layer_forward, o));
    EXPECT_EQ(work.precision, precision);
    EXPECT_EQ(work.phases, 1);
  }
}

// Micro has a vocabulary of 61: few tokens do not need all rows, and many need no more than all.
TEST(GptWork, APassReadsNoMoreRowsOfTheEmbeddingThanThereAreTokensOrWords) {
  Options o = of(Model::micro);
  const double others = double(parameter_count(o.shape)) - 61 * 16;
  for (const int batch : {2, 50}) {
    o.shape.batch = batch;
    const std::vector<int> tokens = batch_of(o, 0).tokens;
    const std::set<int> rows(tokens.begin(), tokens.end());
    const double counted = (numbers_of(Unit::forward, o) - others) / 16;
    EXPECT_GE(counted, double(rows.size())) << batch;
    EXPECT_EQ(counted, batch == 2 ? 24 : 61);
    for (const Unit unit : {Unit::forward_backward, Unit::train_step}) {
      const double update = unit == Unit::train_step ? numbers_of(Unit::update, o) : 0;
      EXPECT_EQ(numbers_of(unit, o) - update,
                numbers_of(Unit::forward, o) + double(parameter_count(o.shape)));
    }
  }
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
