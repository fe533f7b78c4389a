// SPDX-License-Identifier: Apache-2.0
// Work that is left out once a case was checked and timed is found when it is verified again.
#include <gmock/gmock.h>

#include "galaxy_shear/row.hpp"
#include "harness/testing/lazy.hpp"

namespace holdfast::galaxy_shear {
namespace {

template <class Lazy>
std::optional<std::string> found(const Family<Row>& family, const Calls& calls,
                                 bool beside_reference = true) {
  const Row row = {.family = &family, .options = {.fft = 32, .image = 21, .batch = 2, .steps = 3}};
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

std::string family_name(const testing::TestParamInfo<const Family<Row>*>& one) {
  const std::string id = one.param->id({.family = one.param}).substr(sizeof("galaxy_shear"));
  return id.substr(0, id.find('/'));
}

INSTANTIATE_TEST_SUITE_P(Of, EachStepped,
                         testing::Values(&families::render, &families::render_grad,
                                         &families::forward, &families::svi_step, &families::map,
                                         &families::psf_table),
                         family_name);

using EachOfTwoInputs = EachStepped;

TEST_P(EachOfTwoInputs, IsWrongWhereItAnswersEverySecondCallFromMemory) {
  for (const bool beside_reference : {true, false})
    for (const int odd : {0, 1})
      EXPECT_TRUE(found<Remembering>(
          *GetParam(), [=](int call) { return call > 9 && call % 2 == odd; }, beside_reference));
}

INSTANTIATE_TEST_SUITE_P(Of, EachOfTwoInputs,
                         testing::Values(&families::render, &families::render_grad,
                                         &families::forward, &families::map),
                         family_name);

}  // namespace
}  // namespace holdfast::galaxy_shear
