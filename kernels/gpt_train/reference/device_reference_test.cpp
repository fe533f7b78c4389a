// SPDX-License-Identifier: Apache-2.0
// The reference on the emulated device against the oracle, and its launches on the dry one.
#include <gtest/gtest.h>

#include "gpt_train/testing/kernels_on_cpu.hpp"
#include "gpt_train/testing/support.hpp"
#include "testing/dry_run.hpp"

namespace holdfast::gpt_train {
namespace {

// Few numbers, since a thread has two of them and is a fiber here. Keys are narrower than queries;
// matrices are wide, tall and square.
constexpr Shape few_numbers = {120, 64, 1, 1, 2, 32, 88, 2, 40, 15};

Options of(const Shape& shape, Optimizer optimizer = Optimizer::adamw) {
  return {.shape = shape,
          .documents = true,
          .pad_tail = 3,
          .optimizer = optimizer,
          .precision = Precision::bf16};
}

double off(Unit unit, const Options& options, int steps) {
  const auto backend = emulated();
  const auto computation = make(unit, *backend, Variant::reference, options);
  for (int k = 0; k < steps; ++k) computation->step();
  return distance(unit, options, computation->result(), oracle::answer(unit, options, steps));
}

// The worst tensor, relative to its norm: the error of storage in bf16.
TEST(DeviceReference, AgreesWithTheOracleInEveryUnit) {
  for (const Unit unit : parts)
    EXPECT_LT(off(unit, of(few_numbers), 1), 4e-2) << static_cast<int>(unit);
}

TEST(DeviceReference, UpdatesAsTheOracleDoes) {
  for (const Optimizer optimizer : optimizers)
    EXPECT_LT(off(Unit::update, of(few_numbers, optimizer), 2), 1e-3)
        << optimizer_words.of(optimizer);
}

TEST(DeviceReference, TrainsAsTheOracleDoes) {
  for (const Optimizer optimizer : optimizers)
    EXPECT_LT(off(Unit::train_step, of(few_numbers, optimizer), 2), 4e-2)
        << optimizer_words.of(optimizer);
}

// All gradients of a fresh model except the head's are zero, and so are the orthogonalised
// matrices.
TEST(DeviceReference, MovesByDecayAloneWhereThereIsNoGradient) {
  Options options = of(few_numbers, Optimizer::muon);
  options.start = Start::upstream;
  EXPECT_LT(off(Unit::train_step, options, 1), 4e-2);
}

// More than a warp or a block reads at once.
TEST(DeviceReference, TakesWideRowsAndManyLogits) {
  EXPECT_LT(off(Unit::lm_head, of({1544, 264, 1, 1, 1, 32, 24, 1, 12, 5}), 1), 4e-2);
}

TEST(DeviceReference, HoldsNoResultThatNoStepHasWritten) {
  expect_written_by_each_step(*emulated(), Variant::reference, of(few_numbers));
}

TEST(DeviceReference, MakesEachPassAnew) {
  expect_pass_made_anew(*emulated(), Variant::reference, Unit::forward_backward, of(few_numbers));
}

TEST(DeviceReference, TakesAnotherInputAsTheOptimizedVariantDoes) {
  expect_another_input(*emulated(), of(few_numbers), 8e-2);
}

TEST(DeviceReference, HoldsWhatItsFormulaSays) {
  for (const Model model : {Model::tiny, Model::small, Model::llama3_150m, Model::gpt2_124m})
    for (const Optimizer optimizer : optimizers)
      for (const Unit unit : {Unit::update, Unit::train_step, Unit::forward, Unit::layer_backward,
                              Unit::attention_backward, Unit::lm_head}) {
        const Options options = of(shape_of(model), optimizer);
        const DryRun run(
            90, [&](Backend& backend) { return make(unit, backend, Variant::reference, options); });
        const auto formula = formula_peak_bytes(Variant::reference, unit, options);
        EXPECT_NEAR(double(run.backend->ledger.peak_bytes) / double(formula), 1, 0.002)
            << model_words.of(model) << ' ' << static_cast<int>(unit);
      }
}

std::int64_t launches(Unit unit, Optimizer optimizer = Optimizer::adamw) {
  DryRun run(90, [&](Backend& backend) {
    return make(unit, backend, Variant::reference, of(shape_of(Model::tiny), optimizer));
  });
  EXPECT_LE(run.setup.programs, 3);
  const Counts step = run.step();
  EXPECT_EQ(step.plans + step.programs + step.allocations + step.syncs, 0);
  return step.launches;
}

// README.md has the counts.
TEST(DeviceReference, LaunchesWhatIsWritten) {
  constexpr int layers = 2, layer = 28, back = 47, head = 7, head_back = 12, others = 3;
  EXPECT_EQ(launches(Unit::attention_forward), 11);
  EXPECT_EQ(launches(Unit::attention_backward), 12);
  EXPECT_EQ(launches(Unit::layer_forward), layer);
  EXPECT_EQ(launches(Unit::layer_backward), layer - 2 + back);
  EXPECT_EQ(launches(Unit::lm_head), head + head_back);
  const int pass = layers * (2 * layer - 2 + back) + head + head_back + others;
  EXPECT_EQ(launches(Unit::forward_backward), pass);
  constexpr int embedding = 11, adam = 9, lion = 7, norms = 2 * layers + 1, turned = 3;
  EXPECT_EQ(launches(Unit::train_step), pass + embedding + adam + norms * lion + layers * 7 * adam);
  for (const auto& [optimizer, scales] :
       {std::pair{Optimizer::muon, 1}, std::pair{Optimizer::multiscale, 3}})
    EXPECT_EQ(
        launches(Unit::update, optimizer),
        embedding + adam + norms * lion + layers * (7 * (4 + 31 * scales) + turned * 2 * scales));
}

}  // namespace
}  // namespace holdfast::gpt_train
