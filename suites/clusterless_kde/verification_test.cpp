// SPDX-License-Identifier: Apache-2.0
// A result that contradicts the mathematics is detected, wherever it is wrong.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "clusterless_kde/lone_spikes.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/row.hpp"
#include "harness/measure/account.hpp"
#include "harness/measure/measure.hpp"
#include "harness/results/result_writer.hpp"
#include "harness/testing/lazy.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

using testing::HasSubstr;

using Change = std::function<void(std::vector<double>&)>;

class Changed : public Computation {
 public:
  Changed(std::unique_ptr<Computation> inner, Change change)
      : inner_(std::move(inner)), change_(std::move(change)) {}
  void step() override { inner_->step(); }
  std::vector<double> result() override {
    std::vector<double> values = inner_->result();
    change_(values);
    return values;
  }
  std::vector<NamedReading> readings() override { return inner_->readings(); }
  void start_again(int input) override { inner_->start_again(input); }

 private:
  std::unique_ptr<Computation> inner_;
  Change change_;
};

Row row_of(const Family<Row>& family, Arithmetic arithmetic = Arithmetic::f32) {
  return {.family = &family,
          .recipe = {.size = Size::tiny, .marks = Marks::cells},
          .options = {.arithmetic = arithmetic}};
}

// The case of a row whose optimized variant returns something else.
Case changed(const Row& row, const Change& change) {
  Case one = case_of(row);
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [change, made = steps.make](Backend& backend,
                                           Variant variant) -> std::unique_ptr<Computation> {
    auto inner = made(backend, variant);
    if (variant == Variant::reference) return inner;
    return std::make_unique<Changed>(std::move(inner), change);
  };
  return one;
}

Measurement measured(const Case& one) {
  return measure(one, "host", {.budget = {.seconds = 0, .fewest_rounds = 1, .most_rounds = 1}});
}

void a_thousandth_more(std::vector<double>& values) {
  for (double& value : values) value *= 1.001;
}

struct EachFamily : testing::TestWithParam<const Family<Row>*> {};

TEST_P(EachFamily, IsRightAsItIs) {
  const Measurement found = measured(case_of(row_of(*GetParam())));
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.optimized.readings.at("allclose"), 1);
  EXPECT_EQ(found.optimized.readings.at("reference_allclose"), 1);
}

TEST_P(EachFamily, IsNotTimedWhereItIsAThousandthMore) {
  const Measurement found = measured(changed(row_of(*GetParam()), a_thousandth_more));
  EXPECT_EQ(found.check, CheckStatus::failed);
  EXPECT_THAT(found.reason, HasSubstr("the optimized variant is wrong by"));
  EXPECT_FALSE(found.speedup);
}

TEST_P(EachFamily, IsWrongAndToldWhereItHoldsNoNumber) {
  const Case one =
      changed(row_of(*GetParam()), [](std::vector<double>& values) { values.front() = NAN; });
  const Measurement found = measured(one);
  EXPECT_EQ(found.check, CheckStatus::failed);
  EXPECT_EQ(case_json({&one, found}, "host")["check"]["status"], "failed");
}

TEST_P(EachFamily, IsWrongAndToldWhereItIsTooShort) {
  const Case one =
      changed(row_of(*GetParam()), [](std::vector<double>& values) { values.clear(); });
  const Measurement found = measured(one);
  EXPECT_EQ(found.check, CheckStatus::failed);
  EXPECT_EQ(case_json({&one, found}, "host")["check"]["status"], "failed");
}

TEST_P(EachFamily, IsWrongWhereItAnswersEverySecondCallFromMemory) {
  for (const bool beside_reference : {true, false}) {
    Case one = case_of(row_of(*GetParam()));
    one.reference = one.reference && beside_reference;
    auto& steps = std::get<Steps>(one.recipe);
    if (!one.reference && !steps.oracle.few) continue;  // its oracle would take too long
    one.metrics.clear();
    steps.read = {};
    steps.make = [made = steps.make](Backend& backend,
                                     Variant variant) -> std::unique_ptr<Computation> {
      auto inner = made(backend, variant);
      if (variant == Variant::reference) return inner;
      return std::make_unique<Remembering>(std::move(inner),
                                           [](int call) { return call > 6 && call % 2 == 0; });
    };
    const Measurement found = measured(one);
    EXPECT_EQ(found.check, CheckStatus::failed);
    EXPECT_THAT(found.reason, HasSubstr("verified again after the timed section"));
  }
}

TEST_P(EachFamily, IsNotTimedInLockStepWhereItIsAThousandthMore) {
  const Case one = changed(row_of(*GetParam()), a_thousandth_more);
  const auto& steps = std::get<Steps>(one.recipe);
  EXPECT_THROW(verify(steps, account(steps, Variant::optimized, "host"), "host"), Error);
  EXPECT_NO_THROW(verify(steps, account(steps, Variant::reference, "host"), "host"));
}

std::string family_name(const testing::TestParamInfo<const Family<Row>*>& one) {
  const std::string name = one.param->id(row_of(*one.param)).substr(sizeof("clusterless_kde"));
  return name.substr(0, name.find('/'));
}

INSTANTIATE_TEST_SUITE_P(Of, EachFamily,
                         testing::Values(&families::encode, &families::decode, &families::total,
                                         &families::local),
                         family_name);

TEST(Verification, HoldsADecodeOfAnotherInputToItsOwnOracleWhereThereIsNoReference) {
  for (const Family<Row>* family : {&families::decode, &families::total}) {
    Case one = case_of(row_of(*family));
    one.reference = false;
    one.metrics.clear();
    std::get<Steps>(one.recipe).read = {};
    const Measurement found = measured(one);
    EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
    EXPECT_GE(found.again.value_or(Again{}).steps, 2);
  }
}

TEST(Verification, HoldsDoubleToMoreThanSingle) {
  const auto slightly = [](std::vector<double>& values) {
    for (double& value : values) value *= 1 + 1e-7;
  };
  EXPECT_EQ(measured(changed(row_of(families::decode), slightly)).check, CheckStatus::passed);
  EXPECT_EQ(measured(changed(row_of(families::decode, Arithmetic::f64), slightly)).check,
            CheckStatus::failed);
}

TEST(Verification, HoldsALocalLikelihoodWithoutFloorToWhatLiesBelowIt) {
  const Row floored = row_of(families::local);
  Row row = floored;
  row.options.local_floor = false;
  Case one = case_of(row);
  EXPECT_EQ(measured(one).check, CheckStatus::passed);
  std::get<Steps>(one.recipe).make = [=](Backend& backend, Variant variant) {
    return make(floored, backend, variant);
  };
  EXPECT_EQ(measured(one).check, CheckStatus::failed);
}

TEST(Verification, FindsARowThatIsLeftOut) {
  const Measurement found =
      measured(changed(row_of(families::decode), [](std::vector<double>& out) {
        out.resize(out.size() - 100);  // places of the last row
      }));
  EXPECT_EQ(found.check, CheckStatus::failed);
}

TEST(Verification, InLockStepNeedsNoMoreRowsThanThereAre) {
  Row row = row_of(families::decode);
  row.recipe.scale = 4;
  ASSERT_LT(input_of(row.recipe).rows(), 16);
  const Case one = case_of(row);
  const auto& steps = std::get<Steps>(one.recipe);
  EXPECT_NO_THROW(verify(steps, account(steps, Variant::optimized, "host"), "host"));
}

double reading(const std::vector<NamedReading>& readings, std::string_view name) {
  for (const NamedReading& one : readings)
    if (one.name == name) return one.value;
  throw Error(Fault::bad_input, text("nothing reads ", name));
}

// An entry of a decode outside the oracle's samples and columns.
std::size_t unknown_entry(const Row& row) {
  const Input& input = input_of(row.recipe);
  const std::int64_t bins = input.bins();
  std::set<std::int64_t> seen;
  for (const auto& [t, p] : sampled_entries(input, row.recipe.seed, 4096))
    seen.insert(t * bins + p);
  const auto in_a_column = [&](std::int64_t p) {
    return p == 0 || p == (bins - 1) / 4 || p == (bins - 1) / 2 || p == bins - 1;
  };
  std::int64_t unseen = 0;
  while (seen.contains(unseen) || in_a_column(unseen % bins)) ++unseen;
  return static_cast<std::size_t>(unseen);
}

TEST(Verification, FindsAPlaceThatWasNeverWrittenWhereNothingIsKnownOfIt) {
  const Row row = row_of(families::decode);
  const Case one =
      changed(row, [entry = unknown_entry(row)](std::vector<double>& out) { out.at(entry) = NAN; });
  const auto& steps = std::get<Steps>(one.recipe);
  EXPECT_EQ(measured(one).check, CheckStatus::failed);
  EXPECT_THROW(verify(steps, account(steps, Variant::optimized, "host"), "host"), Error);
}

TEST(Verification, HoldsAllOfAResultToTheReference) {
  const Row row = row_of(families::decode);
  const auto backend = open_backend("host");
  const auto decode = make(row, *backend, Variant::reference);
  decode->step();
  const std::vector<double> reference = decode->result();
  std::vector<double> spoilt = reference;
  spoilt.at(unknown_entry(row)) += 1;
  EXPECT_EQ(reading(comparison(row, spoilt), "allclose"), 1);
  EXPECT_EQ(reading(agreement(row, spoilt, reference), "reference_allclose"), 0);
  EXPECT_EQ(reading(agreement(row, spoilt, reference), "reference_max_abs_diff"), 1);
  EXPECT_EQ(reading(agreement(row, reference, reference), "reference_allclose"), 1);
}

// Means of whole columns cover rows without samples.
TEST(Verification, HoldsColumnsToTheirMeans) {
  const Row row = row_of(families::decode);
  const Input& input = input_of(row.recipe);
  std::set<std::int64_t> sampled;
  for (const auto& [t, p] : sampled_entries(input, row.recipe.seed, 4096))
    sampled.insert(t * input.bins() + p);
  const auto backend = open_backend("host");
  const auto decode = make(row, *backend, Variant::optimized);
  decode->step();
  for (const double fraction : {0., 0.25, 0.5, 1.}) {
    auto at = static_cast<std::int64_t>(fraction * static_cast<double>(input.bins() - 1));
    while (sampled.contains(at)) at += input.bins();
    std::vector<double> spoilt = decode->result();
    EXPECT_EQ(reading(comparison(row, spoilt), "allclose"), 1);
    spoilt.at(static_cast<std::size_t>(at)) += 10;
    EXPECT_EQ(reading(comparison(row, spoilt), "allclose"), 0) << fraction;
  }
}

// ln sum exp of a row's places, behind those of all rows the likeliest place of each.
TEST(Verification, HoldsAConsumerToItsSumsAndToTheLikeliestPlaces) {
  Row row = row_of(families::budget);
  row.options.budget = 1 << 20;
  const auto rows = static_cast<std::size_t>(input_of(row.recipe).rows());
  const auto bins = static_cast<double>(input_of(row.recipe).bins());
  const auto backend = open_backend("host");
  const auto decode = make(row, *backend, Variant::optimized);
  decode->step();
  const std::vector<double> right = decode->result();
  ASSERT_EQ(right.size(), 2 * rows);
  EXPECT_EQ(reading(comparison(row, right), "allclose"), 1);
  for (const std::size_t t : {rows / 2 - 1, rows - 1}) {
    std::vector<double> spoilt = right;
    spoilt.at(t) += 0.1;
    EXPECT_EQ(reading(comparison(row, spoilt), "allclose"), 0) << t;
    for (const double named : {std::fmod(right[rows + t] + bins / 2, bins), -1., std::nan("")}) {
      spoilt = right;
      spoilt.at(rows + t) = named;
      EXPECT_EQ(reading(comparison(row, spoilt), "allclose"), 0) << t << ' ' << named;
    }
  }
}

TEST(Verification, TellsDifferencesToEitherSideAsTheirMean) {
  const auto told = agreement(row_of(families::decode), {1.5, 0.75}, {1, 1});
  EXPECT_EQ(reading(told, "reference_mean_abs_diff"), 0.375);
  EXPECT_EQ(reading(told, "reference_max_abs_diff"), 0.5);
}

TEST(Verification, OfTwoRightModelsOnOppositeSidesAgrees) {
  const Row row = row_of(families::encode);
  const std::vector<double> more = {1 + 1.9e-5, 1}, too_much = {1 + 2.3e-5, 1}, one = {1, 1};
  EXPECT_EQ(reading(agreement(row, more, one), "reference_allclose"), 1);
  EXPECT_EQ(reading(agreement(row, too_much, one), "reference_allclose"), 0);
}

// Near 1 a decode in f32 may be wrong by 1e-5 plus 1e-4 relative, near 0 by the former alone.
TEST(Verification, AllowsADecodeWhatItsPrecisionLeavesAndNoMore) {
  const auto agrees = [](Arithmetic arithmetic, double found, double right) {
    const Row row = row_of(families::decode, arithmetic);
    return reading(agreement(row, {found}, {right}), "reference_allclose") == 1;
  };
  for (const double sign : {-1., 1.}) {
    EXPECT_TRUE(agrees(Arithmetic::f32, 1 + sign * 1.09e-4, 1));
    EXPECT_FALSE(agrees(Arithmetic::f32, 1 + sign * 1.11e-4, 1));
    EXPECT_TRUE(agrees(Arithmetic::f32, sign * 0.9e-5, 0));
    EXPECT_FALSE(agrees(Arithmetic::f32, sign * 1.1e-5, 0));
    EXPECT_TRUE(agrees(Arithmetic::f64, 1 + sign * 1.9e-9, 1));
    EXPECT_FALSE(agrees(Arithmetic::f64, 1 + sign * 2.1e-9, 1));
  }
}

// A single spike must be within its class: 1e-4 in f32, 1e-10 in f64 and, through nodes, 1e-9.
TEST(Verification, HoldsALoneSpikeToTheClassOfItsArithmetic) {
  const auto limit = [](const Options& options, Size size = Size::tiny) {
    return spike_limit({.family = &families::decode, .recipe = {.size = size}, .options = options});
  };
  EXPECT_EQ(limit({}), 1e-4);
  EXPECT_EQ(limit({.arithmetic = Arithmetic::bf16x3}), 1e-4);
  EXPECT_EQ(limit({.arithmetic = Arithmetic::tf32}), 1.5e-3);
  EXPECT_EQ(limit({.distance = Distance::expanded}), 1e-3);
  EXPECT_EQ(limit({.arithmetic = Arithmetic::f64}), 1e-10);
  EXPECT_EQ(limit({.arithmetic = Arithmetic::f64}, Size::realistic), 1e-9);
}

TEST(Verification, TellsADifferenceThatIsNoNumberAsTheMost) {
  const auto told = agreement(row_of(families::decode), {NAN, 1}, {1, 1});
  EXPECT_EQ(reading(told, "reference_max_abs_diff"), std::numeric_limits<double>::max());
  EXPECT_EQ(reading(told, "reference_mean_abs_diff"), std::numeric_limits<double>::max());
  EXPECT_EQ(reading(told, "reference_allclose"), 0);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
