// SPDX-License-Identifier: Apache-2.0
// The cases a case is compared with, and which of the two times divides the other.
#include "families/testing/beside.hpp"

#include <gmock/gmock.h>

#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

Row beside_row(const Family<Row>& family, const Options& options = {}) {
  return {
      .family = &family, .recipe = {.size = Size::tiny, .marks = Marks::cells}, .options = options};
}
auto told_of(const Family<Row>& family, const Options& options = {}) {
  return beside_three_seconds(beside_row(family, options));
}

TEST(DecodeBeside, DividesTheWayThatTheMetricIsCalled) {
  EXPECT_THAT(told_of(families::total), UnorderedElementsAre(Pair("encode_share", 3. / 2)));
  EXPECT_THAT(told_of(families::features), IsEmpty());
  EXPECT_THAT(told_of(families::features, {.distance = Distance::expanded}),
              UnorderedElementsAre(Pair("expanded_over_difference", 2. / 3)));
  EXPECT_THAT(told_of(families::tune, {.block = 3}),
              UnorderedElementsAre(Pair("over_default", 2. / 3)));
  EXPECT_THAT(told_of(families::precision, {.arithmetic = Arithmetic::f64}),
              UnorderedElementsAre(Pair("over_f32", 2. / 3)));
  EXPECT_THAT(told_of(families::production), IsEmpty());
  EXPECT_THAT(told_of(families::production, {.cut = true}),
              UnorderedElementsAre(Pair("cut_speedup", 3. / 2)));
}

TEST(DecodeBeside, WhatIsPutBesideIsWhatTheMetricIsCalledAfter) {
  const auto expect = [](const Row& row, const char* name, const Row& other) {
    EXPECT_EQ(bytes_beside(row, name), bytes_of(other)) << name;
    EXPECT_NE(bytes_of(row), bytes_of(other)) << name;
  };
  expect(beside_row(families::total), "encode_share", beside_row(families::encode));
  expect(beside_row(families::tune, {.block = 3}), "over_default", beside_row(families::tune));
  expect(beside_row(families::precision, {.arithmetic = Arithmetic::f64}), "over_f32",
         beside_row(families::precision));
  expect(beside_row(families::production, {.cut = true}), "cut_speedup",
         beside_row(families::production));
}

TEST(DecodeBeside, PublishedSecondsAreOfThePublishedRecordingInSinglePrecision) {
  Row row = {.family = &families::production,
             .recipe = {.size = Size::tet64, .marks = Marks::cells}};
  EXPECT_THAT(rates_in_a_second(row),
              UnorderedElementsAre(Pair("vs_seed_decode", 8.88), Pair("vs_seed_rewrite", 1.01)));
  row.options.arithmetic = Arithmetic::f64;
  EXPECT_THAT(rates_in_a_second(row), IsEmpty());
}

#ifdef HOLDFAST_CUDA
// For such a small recording an optimized encode uploads a quarter more than it must.
TEST(DecodeUploads, AreWhatAStepMustBringAndLittleMore) {
  for (const Family<Row>* family :
       {&families::encode, &families::decode, &families::total, &families::local})
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const double share = brought_of_what_must_be(beside_row(*family), variant);
      EXPECT_GE(share, 1) << family->id(beside_row(*family));
      EXPECT_LT(share, 1.3) << family->id(beside_row(*family));
    }
}
#endif

}  // namespace
}  // namespace holdfast::clusterless_kde
