// SPDX-License-Identifier: Apache-2.0
#include "families/invariants.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace holdfast {
namespace {

using testing::HasSubstr;

TEST(RepeatsItself, ToTheBit) {
  EXPECT_FALSE(repeats_itself()({1, 2}, {1, 2}));
  EXPECT_THAT(*repeats_itself()({1, 0.}, {1, -0.}), HasSubstr("value 1 of the result"));
  EXPECT_THAT(*repeats_itself()({1, 2}, {1}), HasSubstr("had 2 values and has 1"));
}

TEST(RepeatsItself, WithinAShareOfTheLargestEntry) {
  const Invariant within = repeats_itself_within(0.125);
  EXPECT_FALSE(within({-8, 1}, {-8, 2}));
  EXPECT_THAT(*within({-8, 1}, {-8, 2.5}), HasSubstr("moved by 1.5"));
  EXPECT_TRUE(repeats_itself_within(0)({1}, {1 + 1e-15}));
  EXPECT_THAT(within({-0.5, 0}, {-0.5, 0.125}).value_or(""), HasSubstr("moved by 0.125"));
  EXPECT_THAT(*within({-8}, {-8, 1}), HasSubstr("had 1 values and has 2"));
}

TEST(RepeatsItself, NotWhereTheResultIsNoNumber) {
  const Invariant within = repeats_itself_within(1);
  EXPECT_TRUE(within({1, 2}, {NAN, 2}));
  for (const double none : {double{NAN}, double{INFINITY}}) {
    EXPECT_TRUE(within({none, 2}, {1, 2})) << none;
    EXPECT_TRUE(within({none, 2}, {none, 2})) << none;
  }
}

}  // namespace
}  // namespace holdfast
