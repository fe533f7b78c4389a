// SPDX-License-Identifier: Apache-2.0
// What a training is compared with, and its rates per second.
#include "families/testing/beside.hpp"

#include <gmock/gmock.h>

#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Row training(const Options& options) {
  Row row = {.family = &families::train_step, .options = options};
  row.options.shape = shape_of(row.model);
  return row;
}

TEST(GptBeside, AStepOfADeviceIsPutBesideItsUpdateAndBesideLaunches) {
  const auto share = Pair("update_share", 3. / 2);
  EXPECT_THAT(beside_three_seconds(training({})), IsEmpty());
  EXPECT_THAT(beside_three_seconds(training({.precision = Precision::bf16})),
              UnorderedElementsAre(share));
  EXPECT_THAT(
      beside_three_seconds(training({.precision = Precision::bf16, .launch = Launch::graph})),
      UnorderedElementsAre(share, Pair("graph_speedup", 3. / 2)));
}

// Three times the flops of a forward pass, for any optimiser.
TEST(GptBeside, ASecondHoldsTheTokensOfAStepAndItsModelsFlops) {
  const Row host = training({});
  const double flops = 3 * work_of(Unit::forward, host.options).flops;
  const auto tokens = Pair("tokens_per_s", 256.), model = Pair("model_flops_per_s", flops);
  EXPECT_THAT(rates_in_a_second(host), UnorderedElementsAre(tokens, model));
  EXPECT_THAT(rates_in_a_second(training({.optimizer = Optimizer::muon})),
              UnorderedElementsAre(tokens, model));
  EXPECT_THAT(rates_in_a_second(as(families::forward, host)), UnorderedElementsAre(tokens));
  EXPECT_THAT(rates_in_a_second(training({.precision = Precision::bf16})),
              UnorderedElementsAre(tokens, model, Pair("mfu", flops)));
}

#ifdef HOLDFAST_CUDA
TEST(GptUploads, AreWhatAStepMustBring) {
  for (const Variant variant : {Variant::reference, Variant::optimized})
    EXPECT_EQ(brought_of_what_must_be(training({.precision = Precision::bf16}), variant), 1);
}
#endif

}  // namespace
}  // namespace holdfast::gpt_train
