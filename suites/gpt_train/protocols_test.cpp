// SPDX-License-Identifier: Apache-2.0
// What the protocols read, compared with the formulas that their metrics are named after.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gpt_train/problem/tensors.hpp"
#include "gpt_train/row.hpp"
#include "harness/measure/measure.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

#ifdef HOLDFAST_CUDA
TEST(GptLayoutBytes, AreNotReadAsNoneWhereCopiesWereMade) {
  for (const Family<Row>* family : {&families::attention_forward, &families::newton_schulz}) {
    Row row = {.family = family, .matrices = {128, 384, 2, Precision::bf16}};
    row.options.precision = Precision::bf16;
    const Steps steps = steps_of(row);
    const auto backend = open_backend("cuda-dry:sm_90");
    const std::vector<double> nothing;
    const std::vector<NamedReading> own = {{"layout_bytes", 0}};
    const Verified found = {.backend = *backend, .result = nothing, .own = own};
    EXPECT_NO_THROW((void)steps.read(found));
    backend->ledger.counts.copies = 1;
    EXPECT_THROW((void)steps.read(found), Error) << family->id(row);
  }
}
#endif

// Parameters, gradients and two moments of each, in single precision.
TEST(GptMemory, IsPutBesideFourNumbersOfEachParameterAndItsFormula) {
  Row row = {.family = &families::memory, .model = Model::micro};
  row.options.shape = shape_of(Model::micro);
  const Measurement found = measure(case_of(row), "host", {});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  const double rule = 4. * 4 * static_cast<double>(parameter_count(row.options.shape));
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    const auto& told =
        (variant == Variant::optimized ? found.optimized : found.reference.value()).readings;
    EXPECT_EQ(told.at("rule_of_thumb_ratio"), told.at("peak_bytes") / rule);
    EXPECT_EQ(told.at("estimate_ratio"), 1);
  }
}

// Two members of the batch exchanged, which changes no norm.
TEST(GptMatrices, OfSizesWithoutAnOracleAreHeldToTheReferences) {
  struct Exchanged final : Computation {
    Exchanged(std::unique_ptr<Computation> own, std::int64_t length)
        : inner(std::move(own)), each(length) {}
    void step() override { inner->step(); }
    std::vector<double> result() override {
      std::vector<double> all = inner->result();
      if (std::ssize(all) == 2 * each) std::rotate(all.begin(), all.begin() + each, all.end());
      return all;
    }
    void start_again(int input) override { inner->start_again(input); }
    std::unique_ptr<Computation> inner;
    std::int64_t each;
  };
  const Row row = {.family = &families::newton_schulz, .matrices = {264, 272, 2}};
  Case one = case_of(row);
  one.derived = {};
  const MeasureOptions brief = {.budget = {.seconds = 0, .fewest_rounds = 3, .most_rounds = 3}};
  const Measurement right = measure(one, "host", brief);
  EXPECT_EQ(right.status, Measurement::Status::ok) << right.reason;
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [=, made = steps.make](Backend& backend,
                                      Variant variant) -> std::unique_ptr<Computation> {
    auto inner = made(backend, variant);
    if (variant == Variant::reference) return inner;
    return std::make_unique<Exchanged>(std::move(inner), row.matrices.each());
  };
  EXPECT_EQ(measure(one, "host", brief).check, CheckStatus::failed);
}

// One row of 768 is 4 % of the norm: two results may be as far apart as a whole.
TEST(GptMatrices, OfALargeMatrixOneWrongRowOrColumnIsBeyondTheLimit) {
  const Matrices what = {.rows = 768, .columns = 768, .precision = Precision::bf16};
  const Row row = {.family = &families::newton_schulz, .matrices = what};
  const Oracle oracle = families::newton_schulz.oracle(row);
  std::vector<double> right(std::size_t(what.numbers()));
  for (std::int64_t k = 0; k < what.numbers(); k += what.columns + 1) right[k] = 1;
  std::vector<double> rounded = right, repeated = right, lost = right;
  for (double& value : rounded) value *= 1.01;
  std::copy_n(right.end() - 2 * what.columns, what.columns, repeated.end() - what.columns);
  lost.back() = 0;  // all that its column has
  EXPECT_LT(oracle.between(rounded, right), oracle.limit);
  EXPECT_GT(oracle.between(repeated, right), oracle.limit);
  EXPECT_GT(oracle.between(lost, right), oracle.limit);
}

// The training whose result is off.
class Off final : public Computation {
 public:
  explicit Off(std::unique_ptr<Computation> inner) : inner_(std::move(inner)) {}
  void step() override { inner_->step(); }
  std::vector<double> result() override {
    std::vector<double> all = inner_->result();
    for (double& value : all) value *= 1.5;
    return all;
  }
  std::vector<NamedReading> readings() override { return inner_->readings(); }

 private:
  std::unique_ptr<Computation> inner_;
};

// What spoils one of the three trainings: one alone, one after the other, and side by side.
enum class Spoilt { nothing, result, rounds };
Measurement of_a_pipeline(Spoilt what, int which) {
  static Spoilt spoilt;
  static int place, count;
  spoilt = what, place = which, count = 0;
  Family<Row> family = families::train_step;
  family.make = [](const Row& row, Backend& backend, Variant variant) {
    const bool here = ++count == place;
    Row own = row;
    if (here && spoilt == Spoilt::rounds) --own.options.fetching.rounds;
    auto right = families::train_step.make(own, backend, variant);
    if (here && spoilt == Spoilt::result) right = std::make_unique<Off>(std::move(right));
    return right;
  };
  Row row = {.family = &families::data_pipeline, .model = Model::micro, .trained = &family};
  row.options.shape = shape_of(Model::micro);
  row.options.fetching.ahead = true;
  return measure(case_of(row), "host", {});
}

TEST(GptPipeline, IsWrongIfAnyOfTheTrainingsThatItPutsBesideEachOtherIs) {
  const Measurement right = of_a_pipeline(Spoilt::nothing, 0);
  ASSERT_EQ(right.status, Measurement::Status::ok) << right.reason;
  for (const int which : {1, 2, 3})
    EXPECT_EQ(of_a_pipeline(Spoilt::result, which).check, CheckStatus::failed) << which;
  for (const int which : {2, 3}) {
    const Measurement found = of_a_pipeline(Spoilt::rounds, which);
    EXPECT_EQ(found.check, CheckStatus::failed) << which;
    EXPECT_EQ(found.oracle, "a checksum of all rounds") << which;
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
