// SPDX-License-Identifier: Apache-2.0
// Tests that take the oracle seconds: published updates of tiny, and twenty steps of training.
#include <gtest/gtest.h>

#include <cmath>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/oracle/oracle.hpp"
#include "gpt_train/testing/support.hpp"

namespace holdfast::gpt_train {
namespace {

// The norm of a state's tensor, by name.
double norm_of(const oracle::State& state, const Shape& shape, const std::string& name) {
  const std::vector<Tensor> tensors = tensors_of(shape);
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].name == name) return oracle::norm(state.parameters[k]);
  return NAN;
}

// Wq.0 comes after E, W_head, g_final and g1.0.
constexpr std::size_t first_query = 4;

TEST(GptTraining, ThreeUpdatesOfTinyArePublishedForTheOracle) {
  for (const golden::TinyUpdates& known : golden::tiny_updates) {
    const Options options = {.documents = known.documents, .optimizer = known.optimizer};
    oracle::State state = oracle::begun(options);
    for (int step = 0; step < 3; ++step) {
      const oracle::Pass pass = oracle::train_step(options, state);
      EXPECT_NEAR(pass.loss.mean / known.losses[step], 1, 1e-10);
      EXPECT_NEAR(oracle::norm(pass.gradients) / known.gradient_norms[step], 1, 1e-10);
    }
    const oracle::Pass last =
        oracle::forward_backward(options.shape, state.parameters, batch_of(options, 3));
    EXPECT_NEAR(last.loss.mean / known.losses[3], 1, 1e-8);
    EXPECT_NEAR(state.parameters[first_query][0] / known.first_query, 1, 1e-8);
    const std::pair<const char*, double> norms[] = {{"Wk.1", known.key_norm},
                                                    {"Wd.0", known.down_norm},
                                                    {"W_head", known.head_norm},
                                                    {"E", known.embedding_norm},
                                                    {"g_final", known.final_norm}};
    for (const auto& [name, expected] : norms)
      EXPECT_NEAR(norm_of(state, options.shape, name) / expected, 1, 1e-9) << name;
  }
}

struct Course {
  Optimizer optimizer = {};
  double at_10 = 0, at_20 = 0;
};

// From a fresh model, with the rate warming up over ten steps.
class TwentySteps : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Optimized, TwentySteps, testing::Values(Variant::optimized));
INSTANTIATE_TEST_SUITE_P(NightlyReference, TwentySteps, testing::Values(Variant::reference));

TEST_P(TwentySteps, FallAsPublished) {
  for (const Course& known :
       {Course{Optimizer::adamw, 6.478154, 5.525625}, Course{Optimizer::muon, 6.484183, 5.553750},
        Course{Optimizer::multiscale, 6.484253, 5.554029}})
    for (const Precision precision : {Precision::f64, Precision::f32}) {
      const Options options = {.documents = true,
                               .optimizer = known.optimizer,
                               .start = Start::upstream,
                               .learning_rate = 0.0025,
                               .warm_tokens = 2560,
                               .precision = precision};
      const double allowed = precision == Precision::f64 ? 1e-5 : 2e-3;
      const auto backend = open_backend("host");
      const auto computation = make(Unit::train_step, *backend, GetParam(), options);
      for (int step = 0; step <= 20; ++step) {
        const double mean = result_of(*computation)[1];
        if (step <= 1) {
          EXPECT_NEAR(mean, std::log(1024), allowed);
        }
        if (step == 10) {
          EXPECT_NEAR(mean, known.at_10, allowed);
        }
        if (step == 20) {
          EXPECT_NEAR(mean, known.at_20, allowed);
        }
      }
    }
}

// The larger shape with published values: both variants, the norm of the whole gradient.
TEST(GptTraining, SmallHasThePublishedLossAndGradient) {
  const Options options = {.shape = shape_of(Model::small), .documents = true};
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    const std::vector<double> found = after(variant, Unit::forward_backward, options);
    EXPECT_NEAR(found[0] / golden::small.mean, 1, 1e-6);
    EXPECT_NEAR(found[2] / golden::small.objective, 1, 1e-6);
    double squares = 0;
    for (std::size_t k = 3; k < found.size(); ++k) squares += found[k] * found[k];
    EXPECT_NEAR(std::sqrt(squares) / golden::small.gradient_norm, 1, 1e-5);
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
