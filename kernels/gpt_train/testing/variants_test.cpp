// SPDX-License-Identifier: Apache-2.0
// Both variants against the oracle, unit by unit, and changes that must not change a result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpt_train/data/golden.hpp"
#include "gpt_train/testing/support.hpp"
#include "testing/error_of.hpp"
#include "testing/expect_beginning_again.hpp"

namespace holdfast::gpt_train {
namespace {

constexpr Unit units[] = {
    Unit::forward,           Unit::forward_backward,   Unit::layer_forward, Unit::layer_backward,
    Unit::attention_forward, Unit::attention_backward, Unit::lm_head,       Unit::update,
    Unit::train_step};
constexpr Variant variants[] = {Variant::reference, Variant::optimized};

// More rows than a tile, not a multiple of it; a head narrower than a vector; documents that end
// inside tiles and leave whole tiles hidden; three query heads per key head.
constexpr Options odd = {.shape = {67, 24, 2, 2, 3, 10, 20, 2, 150, 40},
                         .documents = true,
                         .pad_tail = 5,
                         .precision = Precision::f64};

TEST(GptVariants, AgreeWithTheOracleInDoublePrecision) {
  for (const Options& options : {golden::micro, odd})
    for (const Unit unit : units) {
      const int steps = unit == Unit::update || unit == Unit::train_step ? 2 : 1;
      const std::vector<double> expected = oracle::answer(unit, options, steps);
      for (const Variant variant : variants)
        EXPECT_LT(distance(unit, options, after(variant, unit, options, steps), expected), 1e-10)
            << static_cast<int>(unit) << ' ' << static_cast<int>(variant);
    }
}

// Without a pass back the stream alternates between two places, and ends in the other one.
TEST(GptVariants, AForwardPassOfThreeLayersEndsInTheOtherPlace) {
  Options options = golden::micro;
  options.shape.layers = 3;
  const std::vector<double> expected = oracle::answer(Unit::forward, options, 1);
  for (const Variant variant : variants)
    EXPECT_LT(distance(Unit::forward, options, after(variant, Unit::forward, options), expected),
              1e-10)
        << static_cast<int>(variant);
}

TEST(GptVariants, EveryOptimizerUpdatesAsTheOracleDoes) {
  for (const Options& base : {golden::micro, odd})
    for (const Optimizer optimizer : {Optimizer::muon, Optimizer::multiscale}) {
      Options options = base;
      options.optimizer = optimizer;
      const std::vector<double> expected = oracle::answer(Unit::train_step, options, 3);
      for (const Variant variant : variants)
        EXPECT_LT(distance(Unit::train_step, options, after(variant, Unit::train_step, options, 3),
                           expected),
                  1e-8)
            << optimizer_words.of(optimizer) << ' ' << static_cast<int>(variant);
    }
}

TEST(GptVariants, AgreeWithTheOracleInSinglePrecision) {
  for (const Unit unit : units) {
    const Options options = {.documents = true};  // tiny
    const std::vector<double> expected = oracle::answer(unit, options, 1);
    for (const Variant variant : variants) {
      const std::vector<double> found = after(variant, unit, options);
      EXPECT_LT(distance(unit, options, found, expected), 5e-5)
          << static_cast<int>(unit) << ' ' << static_cast<int>(variant);
      if (unit == Unit::forward_backward) {
        EXPECT_NEAR(found[0] / expected[0], 1, 1e-5);
      }
    }
  }
}

TEST(GptVariants, TheFusedClassifierAgreesWithMaterialisedLogitsToTheLastDigits) {
  Options options = {.precision = Precision::f64};
  options.shape.vocabulary = 301;
  const auto of = [&](Variant variant) { return after(variant, Unit::lm_head, options); };
  EXPECT_LT(distance(Unit::lm_head, options, of(Variant::optimized), of(Variant::reference)),
            1e-14);
}

// In tiles with a running maximum, and over the whole square.
TEST(GptVariants, TiledAttentionAgreesWithThatOfTheWholeSquareToTheLastDigits) {
  for (const Unit unit : {Unit::attention_forward, Unit::attention_backward})
    EXPECT_LT(distance(unit, odd, after(Variant::optimized, unit, odd),
                       after(Variant::reference, unit, odd)),
              1e-14)
        << static_cast<int>(unit);
}

// All gradients of a fresh model except the head's are zero, and so are the orthogonalised
// matrices.
TEST(GptVariants, WhereThereIsNoGradientOnlyDecayMoves) {
  for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::multiscale}) {
    Options options = golden::micro;
    options.optimizer = optimizer;
    options.start = Start::upstream;
    const std::vector<double> expected = oracle::answer(Unit::train_step, options, 1);
    for (const Variant variant : variants)
      EXPECT_LT(
          distance(Unit::train_step, options, after(variant, Unit::train_step, options), expected),
          1e-10)
          << optimizer_words.of(optimizer) << ' ' << static_cast<int>(variant);
  }
}

// Rates that bring gates and logits to dozens and thousands in one step: the loss of the second.
TEST(GptVariants, GatesAndLogitsFarBeyondTheUsualHaveTheirLoss) {
  for (const double rate : {10., 1e3}) {
    Options options = golden::micro;
    options.learning_rate = rate;
    const std::vector<double> expected = oracle::answer(Unit::train_step, options, 2);
    for (const Variant variant : variants) {
      const std::vector<double> found = after(variant, Unit::train_step, options, 2);
      for (const std::size_t k : {1, 2, 3})  // mean, deviation, objective
        EXPECT_NEAR(found[k] / expected[k], 1, 1e-8) << rate << ' ' << static_cast<int>(variant);
    }
  }
}

// Five matrices of 256 x 256, of which two threads take two at a time (matrices_at_a_time) and the
// last one alone.
TEST(GptVariants, MatricesInSeveralBatchesAreUpdatedAsOneByOne) {
  const Options options = {.shape = {32, 256, 1, 1, 8, 32, 256, 1, 4, 2},
                           .optimizer = Optimizer::muon,
                           .precision = Precision::f64};
  EXPECT_LT(distance(Unit::update, options, after(Variant::optimized, Unit::update, options),
                     after(Variant::reference, Unit::update, options)),
            1e-10);
}

TEST(GptVariants, PaddingLearnsNothing) {
  const Shape& s = odd.shape;
  for (const Variant variant : variants) {
    const std::vector<double> found = after(variant, Unit::forward_backward, odd);
    const auto embedding = found.begin() + 3;  // mean, deviation, objective
    EXPECT_EQ(std::count(embedding + (s.vocabulary - 1) * s.width,
                         embedding + s.vocabulary * s.width, 0.),
              s.width);
  }
}

TEST(GptVariants, RepeatThemselvesToTheBit) {
  const Options options = {.documents = true, .optimizer = Optimizer::multiscale};
  for (const Variant variant : variants)
    EXPECT_EQ(after(variant, Unit::train_step, options, 2),
              after(variant, Unit::train_step, options, 2));
}

TEST(GptVariants, BeginAgainWhereTheyBegan) {
  const Options options = {.documents = true, .optimizer = Optimizer::muon};
  const auto backend = open_backend("host");
  for (const Variant variant : variants)
    expect_beginning_again(*make(Unit::train_step, *backend, variant, options));
}

TEST(GptVariants, HoldNoResultThatNoStepHasWritten) {
  const auto backend = open_backend("host");
  for (const Options& options : {golden::micro, odd})
    for (const Variant variant : variants) expect_written_by_each_step(*backend, variant, options);
}

TEST(GptVariants, MakeEachPassAnew) {
  const auto backend = open_backend("host");
  for (const Unit unit : {Unit::forward, Unit::forward_backward, Unit::train_step})
    for (const Variant variant : variants) expect_pass_made_anew(*backend, variant, unit, odd);
}

TEST(GptVariants, TakeAnotherInput) {
  const auto backend = open_backend("host");
  for (const Options& options : {golden::micro, odd})
    expect_another_input(*backend, options, 1e-10);
}

TEST(GptVariants, PeakIsTheFormula) {
  for (const Options& base : {golden::micro, odd, Options{}})
    for (const Optimizer optimizer : {Optimizer::adamw, Optimizer::muon, Optimizer::multiscale})
      for (const Unit unit : units)
        for (const Variant variant : variants) {
          Options options = base;
          options.optimizer = optimizer;
          if (optimizer != Optimizer::adamw && unit != Unit::train_step) continue;
          const auto backend = open_backend("host");
          const auto computation = make(unit, *backend, variant, options);
          const auto formula = double(formula_peak_bytes(variant, unit, options));
          EXPECT_NEAR(double(backend->ledger.peak_bytes) / formula, 1, 0.01)
              << static_cast<int>(unit) << ' ' << static_cast<int>(variant);
        }
}

TEST(GptVariants, FusedMemoryGrowsWithTheRowAndNotWithItsSquare) {
  Options once = {}, twice = {};
  twice.shape.columns *= 2;
  const auto peak = [](const Options& options) {
    const auto backend = open_backend("host");
    (void)make(Unit::attention_backward, *backend, Variant::optimized, options);
    return double(backend->ledger.peak_bytes);
  };
  EXPECT_LE(peak(twice), 2 * peak(once));
}

struct Nonsense {
  void (*spoil)(Options&);
  const char* sentence;
};

TEST(GptVariants, WhatCannotBeIsRefusedWithFieldValueAndLimit) {
  const Nonsense all[] = {
      {[](Options& o) { o.shape.batch = 0; }, "batch = 0: it must be at least 1"},
      {[](Options& o) { o.shape.columns = 1; }, "seq = 1: it must be at least 2"},
      {[](Options& o) { o.shape.layers = 0; }, "layers = 0: it must be at least 1"},
      {[](Options& o) { o.shape.vocabulary = 2; }, "vocabulary = 2: it must be at least 3"},
      {[](Options& o) { o.shape.repeats = 0; },
       "query heads of a key head = 0: it must be at least 1"},
      {[](Options& o) { o.shape.document = 0; }, "mean document = 0: it must be at least 1"},
      {[](Options& o) { o.shape.head = 7; },
       "unsupported head width 7: halves of a head are rotated, so it must be even"},
      {[](Options& o) { o.pad_tail = 12; }, "pad tail = 12: it must be 0 to 11, less than a row"},
      {[](Options& o) { o.learning_rate = NAN; }, "lr = nan: it must be a finite number"},
      {[](Options& o) { o.learning_rate = INFINITY; }, "lr = inf: it must be a finite number"},
      {[](Options& o) { o.warm = -0.1; }, "w0 = -0.1: warm-up is a share from 0 to 1"},
      {[](Options& o) { o.warm = 1.5; }, "w0 = 1.5: warm-up is a share from 0 to 1"},
      {[](Options& o) { o.warm = NAN; }, "w0 = nan: warm-up is a share from 0 to 1"},
      {[](Options& o) { o.warm_tokens = INFINITY; },
       "warm tokens = inf: it must be finite and not negative"},
      {[](Options& o) { o.fetching.rounds = -1; }, "fetch rounds = -1: it must be at least 0"},
      {[](Options& o) { o.launch = Launch::graph; },
       "launch = graph: a host has no graphs; it must be host"}};
  const auto backend = open_backend("host");
  for (const auto& [spoil, sentence] : all) {
    Options options = golden::micro;
    spoil(options);
    EXPECT_EQ(
        refusal_of([&] { (void)make(Unit::train_step, *backend, Variant::optimized, options); }),
        sentence);
  }
  EXPECT_EQ(refusal_of([] { (void)optimizer_words.read("sgd"); }),
            "unknown optimizer 'sgd'; use one of adamw, muon, multiscale");
}

TEST(GptVariants, ALossThatIsNoNumberStopsTheTrainingWithItsStep) {
  Options options = golden::micro;
  options.learning_rate = 1e308;
  const auto backend = open_backend("host");
  const auto computation = make(Unit::train_step, *backend, Variant::optimized, options);
  computation->step();
  EXPECT_EQ(refusal_of([&] { computation->step(); }, Fault::broken_rule),
            "Loss is NaN, stopping training at step 1");
}

}  // namespace
}  // namespace holdfast::gpt_train
