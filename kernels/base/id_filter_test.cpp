// SPDX-License-Identifier: Apache-2.0
#include "base/id_filter.hpp"

#include <gtest/gtest.h>

#include "base/time.hpp"

namespace holdfast {
namespace {

TEST(IdFilter, TakesWhatItFindsAnywhereInAnId) {
  const IdFilter filter("n:(24|48)/");
  EXPECT_TRUE(filter.takes("toy/step/n:48/f64"));
  EXPECT_FALSE(filter.takes("toy/step/n:480/f64"));
}

TEST(IdFilter, TakesAllOthersAfterAMinus) {
  const IdFilter filter("-f32$");
  EXPECT_TRUE(filter.takes("toy/step/f64"));
  EXPECT_FALSE(filter.takes("toy/step/f32"));
}

TEST(IdFilter, TakesAllWhereItIsEmpty) {
  EXPECT_TRUE(IdFilter("").takes("toy/step/f64"));
}

TEST(IdFilter, TakesNothingAfterAMinusAlone) {
  EXPECT_FALSE(IdFilter("-").takes("toy/step/f64"));
}

TEST(IdFilter, TakesEachLetterAsItStands) {
  EXPECT_FALSE(IdFilter("F64").takes("toy/step/f64"));
  EXPECT_FALSE(IdFilter("f64 ").takes("toy/step/f64"));
}

TEST(IdFilter, SaysWhyItIsNoneAndTakesNothing) {
  const IdFilter filter("(a");
  EXPECT_EQ(filter.problem(), "missing ): (a");
  EXPECT_FALSE(filter.takes("a"));
  EXPECT_EQ(IdFilter("a").problem(), "");
}

// Backtracking would take 2^40 steps, or a stack as long as the id.
TEST(IdFilter, TakesTimeInProportionToTheIdWhateverThePattern) {
  const double start = thread_cpu_seconds();
  EXPECT_FALSE(IdFilter("^(a+)+$").takes(std::string(40, 'a') + "!"));
  EXPECT_TRUE(IdFilter("(.|x)*end$").takes(std::string(1 << 20, 'x') + "end"));
  EXPECT_LT(thread_cpu_seconds() - start, 2);
}

TEST(IdFilter, ChoosesAmongTenThousandIds) {
  std::string all = "^(";
  for (int i = 0; i < 10000; ++i) all += "toy/step/n:" + std::to_string(i) + "/f64|";
  const IdFilter filter(all + "toy/none)$");
  EXPECT_EQ(filter.problem(), "");
  EXPECT_TRUE(filter.takes("toy/step/n:9999/f64"));
  EXPECT_FALSE(filter.takes("toy/step/n:10000/f64"));
}

}  // namespace
}  // namespace holdfast
