// SPDX-License-Identifier: Apache-2.0
// What the protocols read, compared with the formulas that their metrics are named after.
#include <gtest/gtest.h>

#include "harness/measure/measure.hpp"
#include "xpcs_fit/nearest_rank.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/stream/streamed_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

Measurement measured(const Row& row) {
  return measure(case_of(row), "host", {});
}

// Data and Jacobian, twice, in double.
TEST(XpcsMemory, OfNormalEquationsIsPutBesideThePublishedEstimate) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Row row = {.family = &families::memory, .options = {.mode = mode}};
    const Measurement found = measured(row);
    ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
    EXPECT_EQ(found.check, CheckStatus::passed);
    const double parameters = mode == Mode::at_rest ? 5 : 9;
    const double rule = 2 * 8. * 4 * 48 * 48 * (1 + parameters);
    for (const Variant variant : {Variant::optimized, Variant::reference}) {
      const auto& told =
          (variant == Variant::optimized ? found.optimized : found.reference.value()).readings;
      EXPECT_EQ(told.at("rule_of_thumb_ratio"), told.at("peak_bytes") / rule);
      const auto formula = static_cast<double>(estimate_bytes(
          Unit::normal_equations, *open_backend("host"), variant, size_of(row), row.options));
      EXPECT_EQ(told.at("estimate_ratio"), told.at("peak_bytes") / formula);
    }
  }
}

TEST(XpcsSaving, TellsTheBytesOfAFileAndOrderedTimes) {
  const Measurement found =
      measured({.family = &families::stream_checkpoint, .count = 3, .parameters = 5});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  const auto& told = found.optimized.readings;
  EXPECT_EQ(told.at("file_bytes"), 64. + static_cast<double>(StreamedFit::saved_bytes(5, 3)));
  EXPECT_GT(told.at("save_p50_s"), 0);
  EXPECT_LE(told.at("save_p50_s"), told.at("save_p95_s"));
  EXPECT_LE(told.at("save_p95_s"), told.at("save_max_s"));
}

TEST(XpcsSaving, OfTwentyTimesTheLastButOneBoundsNinetyFivePercent) {
  std::vector<double> twenty;
  for (int k = 20; k > 0; --k) twenty.push_back(k);
  EXPECT_EQ(nearest_rank(twenty, 95), 19);
  EXPECT_EQ(nearest_rank(twenty, 96), 20);
  EXPECT_EQ(nearest_rank(twenty, 100), 20);
  EXPECT_EQ(nearest_rank(twenty, 1), 1);
  EXPECT_EQ(nearest_rank({7}, 50), 7);
}

TEST(XpcsTurns, OfTwoNoisesAreEachItsOwn) {
  const Measurement found = measured({.family = &families::in_turn});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  EXPECT_EQ(found.optimized.readings.at("allclose"), 1);
  EXPECT_EQ(found.reference.value().readings.at("allclose"), 1);
}

TEST(XpcsResume, EndsAsAFitThatWasNotStopped) {
  const Measurement found = measured({.family = &families::stream_resume});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  EXPECT_EQ(found.optimized.readings.at("resumed"), 3);
  EXPECT_EQ(found.optimized.readings.at("skipped_files"), 3);
  EXPECT_EQ(found.optimized.readings.at("differing_values"), 0);
}

// They are stopped before anything is saved, so they begin anew, and end with the same bits.
TEST(XpcsResume, OfFitsThatBeginAnewIsWrong) {
  const Measurement found =
      measured({.family = &families::stream_resume, .checkpoint_frequency = 1000});
  EXPECT_EQ(found.check, CheckStatus::failed);
  EXPECT_EQ(found.optimized.readings.at("resumed"), 0);
  EXPECT_EQ(found.optimized.readings.at("skipped_files"), 0);
  EXPECT_EQ(found.optimized.readings.at("differing_values"), 0);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
