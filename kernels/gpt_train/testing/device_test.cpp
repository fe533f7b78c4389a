// SPDX-License-Identifier: Apache-2.0
// The optimized variant on the emulated device against oracle and published values.
#include <gtest/gtest.h>

#include <cmath>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/device/feed.hpp"
#include "gpt_train/testing/kernels_on_cpu.hpp"
#include "gpt_train/testing/support.hpp"
#include "testing/error_of.hpp"
#include "testing/expect_beginning_again.hpp"

namespace holdfast::gpt_train {
namespace {

// Few numbers, so that many steps take seconds.
constexpr Shape narrow = {120, 64, 1, 1, 2, 32, 88, 2, 24, 15};

std::vector<double> found(Backend& backend, Unit unit, const Options& options, int steps = 1) {
  return result_of(*make(unit, backend, Variant::optimized, options), steps);
}

// The oracle's answer for a pass with documents.
const std::vector<double>& tiny_pass() {
  static const std::vector<double> answer =
      oracle::answer(Unit::forward_backward, on_device(Model::tiny, Optimizer::adamw, true), 1);
  return answer;
}

struct Part {
  Unit unit;
  double most;  // twice the worst tensor's observed error; storage in bf16 is allowed 4e-2
};

TEST(GptDevice, AgreesWithTheOracleInEveryUnit) {
  const auto backend = emulated({.order = emulation::Order::backward});
  for (const auto& [unit, most] : {Part{Unit::forward, 3.5e-3},
                                   {Unit::forward_backward, 2.5e-2},
                                   {Unit::layer_forward, 7.5e-3},
                                   {Unit::layer_backward, 2e-2},
                                   {Unit::attention_forward, 1.2e-2},
                                   {Unit::attention_backward, 1.6e-2},
                                   {Unit::lm_head, 8e-3}}) {
    const Options options = on_device(Model::tiny, Optimizer::adamw, true);
    const std::vector<double> expected =
        unit == Unit::forward_backward ? tiny_pass() : oracle::answer(unit, options, 1);
    // HoldsNoResultThatNoStepHasWritten tests the second step of the others.
    const int steps = unit == Unit::forward || unit == Unit::forward_backward ? 2 : 1;
    const std::vector<double> ours = found(*backend, unit, options, steps);
    EXPECT_LT(distance(unit, options, ours, expected), most) << int(unit);
    EXPECT_LT(oracle::distance_of_rows(unit, options, ours, expected), 2.5e-2) << int(unit);
    if (unit == Unit::forward_backward) {
      EXPECT_NEAR(ours[0] / expected[0], 1, 2e-3);
    }
  }
}

// Rows of E are projected whether they occur or not, Lion updates its moments last, decay is scaled
// by Muon's factor, joined matrices are orthogonalised separately.
TEST(GptDevice, UpdatesAsTheOracleDoes) {
  const auto backend = emulated();
  for (const Optimizer optimizer : optimizers) {
    Options options = on_device(Model::tiny, optimizer);
    options.shape = narrow;
    options.shape.layers = 2;
    const std::vector<double> expected = oracle::answer(Unit::update, options, 2),
                              ours = found(*backend, Unit::update, options, 2);
    const bool is_adam = optimizer == Optimizer::adamw;
    EXPECT_LT(distance(Unit::update, options, ours, expected), is_adam ? 2.4e-6 : 1.4e-4)
        << optimizer_words.of(optimizer);
    EXPECT_LT(oracle::distance_of_movement(options, ours, expected), is_adam ? 3e-4 : 2.6e-2)
        << optimizer_words.of(optimizer);
  }
}

// One of 128 signs that flips is a sixth of a norm's movement; twice that is allowed here.
TEST(GptDevice, MovesAsTheOracleDoesInATraining) {
  const Options options = on_device(Model::tiny);
  EXPECT_LT(oracle::distance_of_movement(options, found(*emulated(), Unit::train_step, options),
                                         oracle::answer(Unit::train_step, options, 1)),
            0.36);
}

// A padded end of a row, and row lengths that are not multiples of a tile, a warp's rows, or 32. A
// token occurs more often than a warp takes at once.
TEST(GptDevice, TakesRowsOfAnyLength) {
  Options options = on_device(Model::tiny, Optimizer::adamw, true);
  options.shape.vocabulary = 24;
  options.shape.columns = 75;
  options.shape.batch = 3;
  options.pad_tail = 9;
  const auto backend = emulated();
  EXPECT_LT(
      distance(Unit::forward_backward, options, found(*backend, Unit::forward_backward, options),
               oracle::answer(Unit::forward_backward, options, 1)),
      3e-2);
}

// More numbers than a warp or a block reads at once on the way back.
TEST(GptDevice, TakesWideRows) {
  Options options = on_device(Model::tiny);
  options.shape = {64, 520, 1, 1, 1, 32, 24, 1, 12, 5};
  const auto backend = emulated();
  EXPECT_LT(
      distance(Unit::forward_backward, options, found(*backend, Unit::forward_backward, options),
               oracle::answer(Unit::forward_backward, options, 1)),
      3e-2);
  const std::vector<double> expected = oracle::answer(Unit::update, options, 1);
  EXPECT_LT(distance(Unit::update, options, found(*backend, Unit::update, options), expected),
            2.4e-6);
}

void expect_classified(const Shape& shape) {
  Options options = on_device(Model::tiny);
  options.shape = shape;
  const std::vector<double> expected = oracle::answer(Unit::lm_head, options, 1),
                            ours = found(*emulated(), Unit::lm_head, options);
  EXPECT_LT(distance(Unit::lm_head, options, ours, expected), 2e-2);
  EXPECT_LT(oracle::distance_of_rows(Unit::lm_head, options, ours, expected), 2.5e-2);
  EXPECT_NEAR(ours[0] / expected[0], 1, 2e-3);
}

TEST(GptDevice, ClassifiesMoreLogitsThanABlockTakesAtOnce) {
  expect_classified({6144, 64, 1, 1, 1, 32, 24, 1, 12, 5});
}

// Also, the loss has more parts than a block adds up at once.
TEST(NightlyGptDevice, ClassifiesMoreRowsThanAreHeldAtOnce) {
  expect_classified({24, 32, 1, 1, 1, 32, 24, 9, 230, 5});
}

// All gradients of a fresh model except the head's are zero, and so are the orthogonalised
// matrices.
TEST(GptDevice, MovesByDecayAloneWhereThereIsNoGradient) {
  Options options = on_device(Model::tiny, Optimizer::multiscale);
  options.shape = narrow;
  options.start = Start::upstream;
  EXPECT_LT(distance(Unit::train_step, options, found(*emulated(), Unit::train_step, options),
                     oracle::answer(Unit::train_step, options, 1)),
            4e-2);
}

// Steps, mean, deviation, objective, norm of all gradients. Returns the result of the last step.
std::vector<double> expect_published(const golden::TinyUpdates& known, int steps) {
  const auto backend = emulated();
  const Options options = on_device(Model::tiny, known.optimizer, known.documents, Launch::graph);
  const auto computation = make(Unit::train_step, *backend, Variant::optimized, options);
  std::vector<double> told;
  for (int step = 0; step < steps; ++step) {
    told = result_of(*computation);
    EXPECT_EQ(told[0], step + 1);
    EXPECT_NEAR(told[1] / known.losses[step], 1, 2e-3) << optimizer_words.of(known.optimizer);
    EXPECT_NEAR(told[4] / known.gradient_norms[step], 1, 4e-2);
  }
  return told;
}

// The second step's values follow from the first step's update.
TEST(GptDevice, BeginsWithThePublishedLossesAndNorms) {
  for (const golden::TinyUpdates& known : golden::tiny_updates)
    if (known.documents == (known.optimizer == Optimizer::multiscale) &&
        known.optimizer != Optimizer::muon)
      expect_published(known, 2);
}

// Wq.0[0,0] is among the parameters.
TEST(NightlyGptDevice, TrainsToThePublishedLossesAndNorms) {
  for (const golden::TinyUpdates& known : golden::tiny_updates) {
    if (known.documents == (known.optimizer == Optimizer::adamw)) continue;
    const std::vector<double> told = expect_published(known, 3);
    const std::size_t at = 5 + 2 * 1024 * 128 + 128 + 128;  // E, W_head, g_final, g1.0
    EXPECT_NEAR(told[at] / known.first_query, 1, 4e-2);
  }
}

// Five steps, each with its own rate, warm-up and batch, in any order of threads and of copies
// among kernels.
TEST(GptDevice, AGraphGivesTheBitsOfLaunchesAndOfASecondRun) {
  using emulation::CopyLane, emulation::Order;
  for (const Optimizer optimizer : optimizers) {
    const auto after = [&](Launch launch, const Emulation& how, double warm_tokens = 720) {
      Options options = on_device(Model::tiny, optimizer, true, launch);
      options.shape = narrow;
      options.warm_tokens = warm_tokens;  // of fifteen steps
      return found(*emulated(how), Unit::train_step, options, 5);
    };
    const std::vector<double> launched =
        after(Launch::host, {.order = Order::backward, .copies = CopyLane::early});
    EXPECT_EQ(after(Launch::graph, {.copies = CopyLane::late}), launched);
    if (optimizer != Optimizer::muon) continue;
    EXPECT_EQ(after(Launch::graph, {.copies = CopyLane::early}), launched);
    EXPECT_NE(after(Launch::graph, {.copies = CopyLane::late}, 1000), launched);
  }
}

// The error of storage in bf16: no tensor's gradient points elsewhere.
TEST(GptDevice, GradientsPointWhereThoseOfTheOracleDo) {
  const Options options = on_device(Model::tiny, Optimizer::adamw, true);
  const std::vector<double>& expected = tiny_pass();
  const std::vector<double> ours = found(*emulated(), Unit::forward_backward, options);
  std::size_t at = 0;
  for (const std::size_t field : fields_of(Unit::forward_backward, options)) {
    double across = 0, own = 0, other = 0;
    for (const std::size_t end = at + field; at < end; ++at) {
      across += ours[at] * expected[at];
      own += ours[at] * ours[at];
      other += expected[at] * expected[at];
    }
    EXPECT_GT(across / std::sqrt(own * other), 0.999) << at;
  }
}

// If the worker wrote a slot during its copy, late copies would show it.
TEST(GptDevice, FetchingAheadGivesTheBitsOfFetchingInEachStep) {
  const auto after = [](Fetching fetching, emulation::CopyLane copies) {
    Options options = on_device(Model::tiny, Optimizer::adamw, true, Launch::graph);
    options.shape = narrow;
    options.fetching = fetching;
    return found(*emulated({.copies = copies}), Unit::train_step, options, 5);
  };
  using emulation::CopyLane;
  const std::vector<double> series = after({.rounds = 2}, CopyLane::early);
  EXPECT_EQ(after({.ahead = true, .rounds = 2}, CopyLane::early), series);
  EXPECT_EQ(after({.ahead = true, .rounds = 2}, CopyLane::late), series);
}

TEST(GptDevice, BeginsAgainWhereItBegan) {
  const auto backend = emulated();
  Options options = on_device(Model::tiny, Optimizer::multiscale, true, Launch::graph);
  options.shape = narrow;
  expect_beginning_again(*make(Unit::train_step, *backend, Variant::optimized, options));
}

TEST(GptDevice, MakesEachPassAnew) {
  Options options = on_device(Model::tiny, Optimizer::muon, true, Launch::graph);
  options.shape = narrow;
  options.shape.layers = 2;
  expect_pass_made_anew(*emulated(), Variant::optimized, Unit::train_step, options);
}

TEST(GptDevice, HoldsNoResultThatNoStepHasWritten) {
  Options options = on_device(Model::tiny, Optimizer::adamw, true);
  options.shape = narrow;
  expect_written_by_each_step(*emulated(), Variant::optimized, options);
}

// The loss of step 1 is checked when its slot is needed again, two steps later; if a training ends
// before that, when its result is read.
TEST(GptDevice, ALossThatIsNoNumberStopsTheTrainingWithItsStep) {
  Options options = on_device(Model::tiny);
  options.shape = narrow;
  options.learning_rate = 1e30;
  using emulation::CopyLane;
  for (const CopyLane copies : {CopyLane::early, CopyLane::late})
    for (const int steps : {2, 3, 5}) {
      const auto backend = emulated({.copies = copies});
      const auto computation = make(Unit::train_step, *backend, Variant::optimized, options);
      const auto train = [&] { (void)result_of(*computation, steps); };
      EXPECT_EQ(refusal_of(train, Fault::broken_rule), "Loss is NaN, stopping training at step 1")
          << steps;
      const auto begin_again = [&] {
        computation->start_again(0);
        (void)result_of(*computation);
      };
      EXPECT_NO_THROW(begin_again()) << steps;
    }
}

TEST(GptDevice, WhatOtherProcessesLeaveNoRoomForIsRefusedBeforeAnythingIsHeld) {
  constexpr std::int64_t all = 1'000'000'000, free = 1'000'000;
  const auto backend = emulated({.memory_bytes = all, .foreign_bytes = all - free});
  EXPECT_TRUE(
      refusal_of([&] { (void)found(*backend, Unit::train_step, on_device(Model::tiny)); },
                 Fault::out_of_memory)
          .ends_with(text("), and ", free, " are free; choose a smaller batch, seq or model")));
  EXPECT_EQ(backend->ledger.peak_bytes, 0);
}

TEST(GptFeed, SortsPositionsByTheirTokensAndKeepsTheOrderOfEach) {
  const std::vector<int> tokens = {3, 0, 3, 1, 0, 3};
  std::vector<int> order(tokens.size());
  sort_by_token(tokens, 5, order);
  EXPECT_EQ(order, (std::vector<int>{1, 4, 3, 0, 2, 5}));
}

}  // namespace
}  // namespace holdfast::gpt_train
