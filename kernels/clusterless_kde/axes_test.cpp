// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Axes, EveryNameLeadsBackToItsValue) {
  for (const Size value : {Size::tiny, Size::small, Size::medium, Size::large, Size::realistic,
                           Size::tet64, Size::hpc1d, Size::hpc2d})
    EXPECT_EQ(size_of(name(value)), value);
  for (const Marks value : {Marks::profile, Marks::cells, Marks::whiten})
    EXPECT_EQ(marks_of(name(value)), value);
  for (const Arithmetic value :
       {Arithmetic::f32, Arithmetic::ffma, Arithmetic::bf16x3, Arithmetic::tf32, Arithmetic::f64})
    EXPECT_EQ(arithmetic_of(name(value)), value);
  for (const Algorithm value :
       {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul, Algorithm::fused})
    EXPECT_EQ(algorithm_of(name(value)), value);
  for (const Distance value : {Distance::difference, Distance::expanded})
    EXPECT_EQ(distance_of(name(value)), value);
  for (const Values value : {Values::stored, Values::recomputed})
    EXPECT_EQ(values_of(name(value)), value);
}

TEST(Axes, NamesAreThoseOfCaseIds) {
  EXPECT_EQ(name(Size::realistic), "realistic");
  EXPECT_EQ(name(Size::hpc2d), "hpc2d");
  EXPECT_EQ(name(Marks::whiten), "whiten");
  EXPECT_EQ(name(Arithmetic::bf16x3), "bf16x3");
  EXPECT_EQ(name(Arithmetic::f64), "f64");
  EXPECT_EQ(name(Algorithm::log_sum_exp), "lse");
  EXPECT_EQ(name(Algorithm::matmul), "clm");
  EXPECT_EQ(name(Algorithm::fused), "fused");
  EXPECT_EQ(name(Distance::expanded), "expanded");
  EXPECT_EQ(name(Values::recomputed), "recomputed");
}

TEST(Axes, AnUnknownWordIsRefusedWithTheKnownOnes) {
  EXPECT_THAT([] { size_of("huge"); },
              ThrowsMessage<Error>(HasSubstr("unknown size 'huge'; use one of tiny, small, medium, "
                                             "large, realistic, tet64, hpc1d, hpc2d")));
  EXPECT_THAT(
      [] { algorithm_of("gemm"); },
      ThrowsMessage<Error>(HasSubstr("unknown algo 'gemm'; use one of linear, lse, clm, fused")));
  EXPECT_THAT([] { marks_of(""); }, ThrowsMessage<Error>(HasSubstr("unknown data ''")));
  EXPECT_THAT([] { arithmetic_of("f16"); }, ThrowsMessage<Error>(HasSubstr("bf16x3")));
  EXPECT_THAT([] { distance_of("Expanded"); }, ThrowsMessage<Error>(HasSubstr("difference")));
  EXPECT_THAT([] { values_of("recompute"); }, ThrowsMessage<Error>(HasSubstr("recomputed")));
}

}  // namespace
}  // namespace holdfast::clusterless_kde
