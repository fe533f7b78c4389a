// SPDX-License-Identifier: Apache-2.0
// The readings of the protocols, against the formulas that define their metrics.
#include <gtest/gtest.h>

#include "cubed_sphere_swe/oracles.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "harness/measure/measure.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr int n = 9;

Row row_of(const Family<Row>& family, Precision precision) {
  return {.family = &family, .n = n, .options = {.precision = precision}};
}

TEST(SphereMemory, IsPutBesideTwentyArraysOfHeightsAndItsFormula) {
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const Row row = row_of(families::memory, precision);
    const Case one = case_of(row);
    const Measurement found = measure(one, "host", {});
    ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
    EXPECT_EQ(found.check, CheckStatus::passed);
    EXPECT_EQ(one.limit, accuracy(row));
    const double rule = 20. * (precision == Precision::f32 ? 4 : 8) * 6 * (n + 1) * (n + 1);
    for (const Variant variant : {Variant::optimized, Variant::reference}) {
      const auto& told =
          (variant == Variant::optimized ? found.optimized : found.reference.value()).readings;
      const auto backend = open_backend("host");
      const auto step = make(as(families::rk4_step, row), *backend, variant);
      EXPECT_EQ(told.at("peak_bytes"), static_cast<double>(backend->ledger.peak_bytes));
      EXPECT_EQ(told.at("rule_of_thumb_ratio"), told.at("peak_bytes") / rule);
      EXPECT_EQ(told.at("estimate_ratio"), 1);
    }
  }
}

TEST(SphereSetup, MakesTheStartInTheMemoryOfAStep) {
  const Row row = row_of(families::setup, Precision::f64);
  const Measurement found = measure(case_of(row), "host", {});
  ASSERT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  EXPECT_GT(found.optimized.readings.at("setup_s"), 0);
  EXPECT_EQ(found.optimized.readings.at("peak_bytes_warm"),
            static_cast<double>(
                formula_peak_bytes(*open_backend("host"), Variant::optimized, {n}, row.options)));
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
