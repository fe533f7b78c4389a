// SPDX-License-Identifier: Apache-2.0
// Training on a real GPU: skipped if there is none.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/testing/support.hpp"
#include "runtime/backend/recording.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast::gpt_train {
namespace {

// The limits for storage in bf16, as in suites/gpt_train/README.md.
constexpr double of_a_loss = 2e-3, of_a_tensor = 4e-2, of_a_row = 0.1, of_an_update = 0.1,
                 of_a_training = 0.75;
constexpr Variant variants[] = {Variant::reference, Variant::optimized};

Options of(Model model, Optimizer optimizer = Optimizer::adamw, bool documents = false) {
  return on_device(model, optimizer, documents, Launch::graph);
}

struct GptOnAGpu : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("cuda");

  std::vector<double> found(Unit unit, Variant variant, const Options& options, int steps) const {
    return result_of(*make(unit, *backend, variant, options), steps);
  }
};

TEST_F(GptOnAGpu, AgreesWithTheOracleInEveryUnit) {
  const Options options = of(Model::tiny, Optimizer::adamw, true);
  for (const Unit unit :
       {Unit::forward, Unit::forward_backward, Unit::layer_forward, Unit::layer_backward,
        Unit::attention_forward, Unit::attention_backward, Unit::lm_head}) {
    const std::vector<double> expected = oracle::answer(unit, options, 1);
    for (const Variant variant : variants) {
      const std::vector<double> ours = found(unit, variant, options, 2);
      EXPECT_LT(distance(unit, options, ours, expected), of_a_tensor)
          << int(unit) << ' ' << int(variant);
      EXPECT_LT(oracle::distance_of_rows(unit, options, ours, expected), of_a_row)
          << int(unit) << ' ' << int(variant);
    }
  }
}

TEST_F(GptOnAGpu, UpdatesAsTheOracleDoes) {
  for (const Optimizer optimizer : optimizers) {
    const Options options = of(Model::tiny, optimizer);
    const std::vector<double> expected = oracle::answer(Unit::update, options, 2);
    for (const Variant variant : variants) {
      const std::vector<double> ours = found(Unit::update, variant, options, 2);
      EXPECT_LT(distance(Unit::update, options, ours, expected), 1e-3)
          << optimizer_words.of(optimizer) << ' ' << int(variant);
      EXPECT_LT(oracle::distance_of_movement(options, ours, expected), of_an_update)
          << optimizer_words.of(optimizer) << ' ' << int(variant);
    }
  }
}

TEST_F(GptOnAGpu, MovesAsTheOracleDoesInATraining) {
  for (const Optimizer optimizer : optimizers) {
    const Options options = of(Model::tiny, optimizer);
    const std::vector<double> expected = oracle::answer(Unit::train_step, options, 1);
    for (const Variant variant : variants)
      EXPECT_LT(oracle::distance_of_movement(options, found(Unit::train_step, variant, options, 1),
                                             expected),
                of_a_training)
          << optimizer_words.of(optimizer) << ' ' << int(variant);
  }
}

// Wide and tall, not multiples of a square of 32, and those of tiny's gates.
TEST_F(GptOnAGpu, MatricesAreMadeOrthogonalAsByTheOracle) {
  for (const auto& [rows, columns, batch] :
       {std::tuple{40, 104, 3}, std::tuple{72, 40, 2}, std::tuple{128, 384, 6}}) {
    const Matrices what = {rows, columns, batch, Precision::bf16};
    const std::vector<double> expected = oracle::answer(what);
    const std::vector<std::size_t> fields(std::size_t(batch), std::size_t(what.each()));
    for (const Variant variant : variants) {
      const auto computation = make_newton_schulz(*backend, variant, what);
      EXPECT_LT(oracle::distance(fields, result_of(*computation, 2), expected), 3e-2)
          << rows << ' ' << int(variant);
    }
  }
}

TEST_F(GptOnAGpu, TrainsToThePublishedLossesAndNorms) {
  for (const golden::TinyUpdates& known : golden::tiny_updates) {
    const auto training = make(Unit::train_step, *backend, Variant::optimized,
                               of(Model::tiny, known.optimizer, known.documents));
    for (int step = 0; step < 3; ++step) {
      const std::vector<double> told = result_of(*training);
      EXPECT_NEAR(told[1] / known.losses[step], 1, of_a_loss)
          << optimizer_words.of(known.optimizer);
      EXPECT_NEAR(told[4] / known.gradient_norms[step], 1, of_a_tensor);
    }
  }
}

// Steps, mean, deviation, objective, norm of all gradients.
TEST_F(GptOnAGpu, LargerShapesBeginWithTheirPublishedLosses) {
  for (const golden::Large& known : golden::large)
    for (const Variant variant : variants) {
      const std::vector<double> told =
          found(Unit::train_step, variant, of(known.model, Optimizer::adamw, known.documents), 1);
      EXPECT_NEAR(told[1] / known.mean, 1, of_a_loss) << model_words.of(known.model);
      EXPECT_NEAR(told[3] / known.objective, 1, of_a_loss);
      if (known.gradient_norm > 0) {
        EXPECT_NEAR(told[4] / known.gradient_norm, 1, of_a_tensor);
      }
    }
}

TEST_F(GptOnAGpu, BothVariantsStayTogetherForTwentySteps) {
  for (const Optimizer optimizer : optimizers) {
    const Options options = of(Model::tiny, optimizer, true);
    const double plain = found(Unit::train_step, Variant::reference, options, 20)[1];
    EXPECT_NEAR(found(Unit::train_step, Variant::optimized, options, 20)[1] / plain, 1, 2e-2)
        << optimizer_words.of(optimizer);
  }
}

TEST_F(GptOnAGpu, AGraphGivesTheBitsOfLaunchesOfASecondRunAndOfFetchingAhead) {
  Options options = on_device(Model::small, Optimizer::muon, true);
  const std::vector<double> launched = found(Unit::train_step, Variant::optimized, options, 12);
  options.launch = Launch::graph;
  for (const bool ahead : {false, true, true}) {
    options.fetching = {.ahead = ahead, .rounds = 3};
    EXPECT_EQ(found(Unit::train_step, Variant::optimized, options, 12), launched) << ahead;
  }
}

// The published threshold for an operation worth inspecting, in the shape of its example.
TEST_F(GptOnAGpu, NoOperationOfAStepTakesTenMilliseconds) {
  for (const Optimizer optimizer : optimizers) {
    const auto training =
        make(Unit::train_step, *backend, Variant::optimized, of(Model::llama3_150m, optimizer));
    training->step();
    Recording recording(*backend);
    training->step();
    recording.stop();
    if (const auto silence = recording.device_silence()) GTEST_SKIP() << *silence;
    for (const DeviceSlice& slice : recording.slices())
      EXPECT_LT(slice.end.value_or(0) - slice.begin.value_or(0), 10e-3) << slice.name;
  }
}

// However far the host runs ahead.
TEST_F(GptOnAGpu, EveryStepCountsTheSame) {
  const Options options = of(Model::llama3_150m);
  const auto training = make(Unit::train_step, *backend, Variant::optimized, options);
  training->step();
  Counts before = backend->ledger.counts;
  for (int k = 0; k < 30; ++k) {
    training->step();
    const Counts step = backend->ledger.counts - before;
    before = backend->ledger.counts;
    EXPECT_EQ(step.h2d_bytes, 12 * options.shape.tokens() + 64);
    EXPECT_EQ(step.d2h_bytes, 16);
    EXPECT_EQ(step.host_launches, 1);
    EXPECT_EQ(step.syncs + step.programs + step.plans + step.allocations + step.copies, 0);
  }
}

}  // namespace
}  // namespace holdfast::gpt_train

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
