// SPDX-License-Identifier: Apache-2.0
// Work that is left out once a case was checked and timed is found when it is verified again.
#include <gmock/gmock.h>

#include "harness/testing/lazy.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

template <class Lazy>
std::optional<std::string> found(const Family<Row>& family, const Calls& calls,
                                 bool beside_reference = true) {
  const Row row = {.family = &family, .angles = 3, .frames = 37};
  return found_again<Lazy>(steps_of(row), calls, beside_reference);
}

struct EachStepped : testing::TestWithParam<const Family<Row>*> {};

TEST_P(EachStepped, IsRightFromTheStartAgain) {
  for (const bool beside_reference : {true, false})
    EXPECT_EQ(found<Skipping>(
                  *GetParam(), [](int) { return false; }, beside_reference),
              std::nullopt);
}

TEST_P(EachStepped, IsWrongWhereEverySecondStepDoesNothing) {
  for (const int odd : {0, 1})
    EXPECT_TRUE(
        found<Skipping>(*GetParam(), [=](int call) { return call > 1 && call % 2 == odd; }));
}

TEST_P(EachStepped, IsWrongWhereEveryTenthStepDoesNothing) {
  EXPECT_TRUE(found<Skipping>(*GetParam(), [](int call) { return call % 10 == 0; }));
}

TEST_P(EachStepped, IsWrongWhereItDoesNothingAfterFortyCalls) {
  EXPECT_TRUE(found<Skipping>(*GetParam(), [](int call) { return call > 40; }));
}

TEST_P(EachStepped, IsWrongWhereItAnswersEverySecondCallFromMemory) {
  for (const bool beside_reference : {true, false})
    for (const int odd : {0, 1})
      EXPECT_TRUE(found<Remembering>(
          *GetParam(), [=](int call) { return call > 9 && call % 2 == odd; }, beside_reference));
}

std::string family_name(const testing::TestParamInfo<const Family<Row>*>& one) {
  const std::string id = one.param->id({.family = one.param}).substr(sizeof("xpcs_fit"));
  return id.substr(0, id.find('/'));
}

INSTANTIATE_TEST_SUITE_P(Of, EachStepped,
                         testing::Values(&families::g2, &families::residual,
                                         &families::normal_equations),
                         family_name);

}  // namespace
}  // namespace holdfast::xpcs_fit
