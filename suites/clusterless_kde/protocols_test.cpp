// SPDX-License-Identifier: Apache-2.0
// A case's readings against the formulas that define its metrics; and its oracle's verdicts in ways
// that only some runs take.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "clusterless_kde/lone_spikes.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/row.hpp"
#include "harness/measure/measure.hpp"
#include "harness/testing/answers_folder.hpp"

namespace holdfast::clusterless_kde {
namespace {

using testing::Gt;

Row tiny(const Family<Row>& family, std::uint64_t seed = Recipe{}.seed) {
  return {.family = &family, .recipe = {.size = Size::tiny, .marks = Marks::cells, .seed = seed}};
}

// 4 (P + E (N P + N M + M P) + 2 N), and of the largest electrode 4 (n P + 100 n + m P).
TEST(DecodeMemory, IsPutBesideThePublishedRulesAndItsPlan) {
  const Row row = tiny(families::memory);
  const Case one = case_of(row);
  const Measurement found = measure(one, "host", {});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  EXPECT_EQ(one.limit, 1);
  const Shape numbers = shape(row.recipe);
  const auto n = static_cast<double>(numbers.encoding_total()),
             m = static_cast<double>(numbers.decoding_total()),
             p = static_cast<double>(numbers.bins);
  const double rule = 4 * (p + numbers.electrodes * (n * p + n * m + m * p) + 2 * n);
  double electrode = 0;
  for (std::size_t e = 0; e < numbers.encoding.size(); ++e) {
    const auto own = static_cast<double>(numbers.encoding[e]);
    electrode = std::max(electrode,
                         4 * (own * p + own * 100 + static_cast<double>(numbers.decoding[e]) * p));
  }
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    const auto& told =
        (variant == Variant::optimized ? found.optimized : found.reference.value()).readings;
    EXPECT_EQ(told.at("rule_of_thumb_bytes"), rule);
    EXPECT_EQ(told.at("electrode_bytes"), electrode);
    EXPECT_EQ(told.at("rule_of_thumb_ratio"), told.at("peak_bytes") / rule);
    const auto backend = open_backend("host");
    const auto decode = make(as(families::decode, row), *backend, variant);
    decode->step();
    EXPECT_EQ(told.at("bytes_in_use"), static_cast<double>(backend->ledger.live_bytes));
    EXPECT_EQ(told.at("peak_bytes"), static_cast<double>(backend->ledger.peak_bytes));
  }
  EXPECT_EQ(found.optimized.readings.at("estimate_bytes"),
            found.optimized.readings.at("peak_bytes"));
  EXPECT_EQ(found.optimized.readings.at("estimate_ratio"), 1);
}

// For spikes each alone in its row, at all places.
TEST(FlooredFraction, IsOfAllPairsOfASpikeAndAPlace) {
  const Row row = tiny(families::decode);
  const Input lone = one_spike_per_row(input_of(row.recipe), 256);
  const double floored = oracle_decoding(lone).floored_fraction;
  EXPECT_GT(floored, 0.1);
  EXPECT_NEAR(floored_fraction(row), floored, 1e-9);
  EXPECT_EQ(floored_fraction({.family = &families::decode, .recipe = {.size = Size::tiny}}), 0);
}

TEST(DecodeCase, TellsTheErrorOfLoneSpikesAndHowManyAreFloored) {
  const Row row = tiny(families::decode);
  const Case one = case_of(row);
  const Measurement found = measure(
      one, "host", {.budget = {.seconds = 0, .fewest_rounds = 1, .most_rounds = 1}, .seed = 1});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  const auto backend = open_backend("host");
  const Oracle& known = std::get<Steps>(one.recipe).oracle;
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    const auto& told =
        (variant == Variant::optimized ? found.optimized : found.reference.value()).readings;
    const double error = spike_error(row, *backend, variant);
    EXPECT_EQ(told.at("floored_fraction"), floored_fraction(row));
    EXPECT_EQ(told.at("err_spike_max"), error);
    EXPECT_EQ(known.golden(*backend, variant), error / spike_limit(row));
  }
}

// Twice, with two inputs, and with everything that a step writes spoilt before.
TEST(DecodeCase, IsVerifiedAsCloselyAsItCanBe) {
  for (const Family<Row>* family :
       {&families::encode, &families::decode, &families::total, &families::local}) {
    const Row row = tiny(*family);
    const Steps steps = steps_of(row);
    EXPECT_EQ(steps.warm_up, 2);
    EXPECT_EQ(steps.inputs, 2);
    EXPECT_FALSE(steps.chained);
    EXPECT_TRUE(steps.invariant);
    EXPECT_TRUE(steps.upload_bytes);
    const auto backend = open_backend("host");
    for (const Variant variant : {Variant::optimized, Variant::reference})
      EXPECT_EQ(steps.rewritten(*backend, variant), rewritten(row, *backend, variant));
  }
}

TEST(DecodeCase, IsOfTheWorkThatItsFamilyIsCalledAfter) {
  const Shape numbers = shape(tiny(families::decode).recipe);
  const auto expect = [](const Family<Row>& family, const Work& work) {
    const Work told = case_of(tiny(family)).work;
    EXPECT_EQ(told.flops, work.flops);
    EXPECT_EQ(told.bytes, work.bytes);
    EXPECT_EQ(told.specials, work.specials);
  };
  expect(families::encode, encode_work(numbers));
  expect(families::decode, decode_work(numbers));
  expect(families::total, total_work(numbers));
  expect(families::local, local_work(numbers));
  Row budget = tiny(families::budget);
  budget.options.budget = 1 << 20;
  EXPECT_EQ(case_of(budget).work.bytes, decode_work(numbers, {.consume = true}).bytes);
}

using Sites = std::vector<std::string>;

// Intermediates between the stages of a step are named as well; otherwise a stage that does nothing
// would look like one that repeated its result.
TEST(DecodeCase, NamesAllThatAStepWritesOnAHost) {
  const auto backend = open_backend("host");
  const auto written = [&](const Row& row, Variant variant = Variant::optimized) {
    return rewritten(row, *backend, variant);
  };
  const Sites model = {"occupancy",
                       "ground",
                       "sums of kernels",
                       "marks",
                       "centres of marks",
                       "positions of encoding spikes",
                       "order of encoding spikes"},
              sums = {"order", "items", "sums at nodes or bins"};
  const auto all = [](std::initializer_list<Sites> parts) {
    Sites together;
    for (const Sites& part : parts) together.insert(together.end(), part.begin(), part.end());
    return together;
  };
  EXPECT_EQ(written(tiny(families::encode)), all({model, {"positions"}}));
  EXPECT_EQ(written(tiny(families::decode)), all({{"out"}, sums}));
  EXPECT_EQ(written(tiny(families::total)), all({{"out"}, model, {"positions"}, sums}));
  EXPECT_EQ(written(tiny(families::local)), all({{"out"}, {"terms"}}));
  Row two_hop = tiny(families::total);
  two_hop.recipe.size = Size::medium;
  ASSERT_TRUE(is_two_hop(two_hop));
  EXPECT_EQ(written(two_hop), all({{"out"}, model, {"psi", "phi"}, sums}));
  Row budget = tiny(families::budget);
  budget.options.budget = 1 << 20;
  EXPECT_EQ(written(budget), all({{"consumed"}, sums}));
  EXPECT_EQ(written(tiny(families::total), Variant::reference), (Sites{"out", "model"}));
}

TEST(StrategyCase, ExpectsManyLaunchesOfManyElectrodesAndOfNoFusedDecode) {
  const auto expected = [](Algorithm algorithm, Size size) {
    return families::strategy
        .expected({.family = &families::strategy,
                   .recipe = {.size = size},
                   .options = {.algorithm = algorithm}})
        .size();
  };
  EXPECT_EQ(expected(Algorithm::linear, Size::medium), 1U);
  EXPECT_EQ(expected(Algorithm::linear, Size::small), 0U);
  EXPECT_EQ(expected(Algorithm::fused, Size::medium), 0U);
}

TEST(ProductionCase, HasAReferenceUnlessPairsAreLeftOut) {
  Row row = {.family = &families::production,
             .recipe = {.size = Size::hpc1d, .marks = Marks::cells, .scale = 64}};
  EXPECT_TRUE(has_reference(row));
  row.options.cut = true;
  EXPECT_FALSE(has_reference(row));
}

TEST(LoneSpikes, AreDecodedByTheVariantThatIsAskedAbout) {
  const Row row = tiny(families::decode);
  const auto backend = open_backend("host");
  const double reference = spike_error(row, *backend, Variant::reference),
               optimized = spike_error(row, *backend, Variant::optimized);
  for (const double error : {reference, optimized}) {
    EXPECT_GT(error, 0);
    EXPECT_LT(error, spike_limit(row));
  }
  EXPECT_NE(reference, optimized);
}

// Seeds unused by other tests of this process.
TEST(KeptAnswers, AreOfTheRecipeThatWasAskedFor) {
  const AnswersFolder answers;
  const auto backend = open_backend("host");
  for (const std::uint64_t seed : {1001, 1002}) {
    const Row row = tiny(families::decode, seed);
    EXPECT_LT(spike_error(row, *backend, Variant::optimized), spike_limit(row)) << seed;
  }
}

TEST(KeptAnswers, OfALocalLikelihoodAreWithItsFloorOrWithout) {
  const AnswersFolder answers;
  const auto expected = [](bool floor) {
    Row row = tiny(families::local, 1003);
    row.options.local_floor = floor;
    return families::local.oracle(row).expected(1);
  };
  EXPECT_NE(expected(true), expected(false));
}

TEST(Between, TwoResultsAreHeldToEachOtherToTheLastOfThem) {
  const Oracle known = families::decode.oracle(tiny(families::decode));
  const std::vector<double> right = {1, 1, 1};
  EXPECT_EQ(known.between(right, right), 0);
  EXPECT_EQ(known.between({1, 1}, right), INFINITY);
  EXPECT_EQ(known.between({1, 1, NAN}, right), INFINITY);
  EXPECT_THAT(known.between({1, 1, 1.1}, right), Gt(known.limit));
}

TEST(AFewEntries, AreOfAllCornersOfADecode) {
  const Row row = tiny(families::decode);
  const Oracle known = families::decode.oracle(row);
  const auto backend = open_backend("host");
  const auto decode = make(row, *backend, Variant::optimized);
  decode->step();
  const std::vector<double> right = decode->result();
  EXPECT_LE(known.few(right), known.limit);
  for (const std::size_t at : {std::size_t{0}, right.size() - 1}) {
    std::vector<double> spoilt = right;
    spoilt.at(at) += 1;
    if (at > 0) {
      EXPECT_THAT(known.few(spoilt), Gt(known.limit)) << at;
    }
    spoilt.at(at) = NAN;
    EXPECT_EQ(known.few(spoilt), INFINITY) << at;
  }
}

TEST(AnotherInput, OfAConsumerIsHeldToTheSumOfARow) {
  Row row = tiny(families::budget);
  row.options.budget = 1 << 20;
  const Oracle known = families::budget.oracle(row);
  const auto backend = open_backend("host");
  const auto decode = make(row, *backend, Variant::optimized);
  decode->start_again(1);
  decode->step();
  std::vector<double> result = decode->result();
  EXPECT_LE(known.other(result, 1), known.limit);
  for (double& value : result) value += 0.1;
  EXPECT_THAT(known.other(result, 1), Gt(known.limit));
}

}  // namespace
}  // namespace holdfast::clusterless_kde
