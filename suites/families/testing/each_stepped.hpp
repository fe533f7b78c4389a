// SPDX-License-Identifier: Apache-2.0
// For the tests of a suite, which instantiates both: for each stepped family, work that is skipped
// after a case was checked and timed is detected by the repeated verification.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>

#include "families/family.hpp"
#include "harness/testing/lazy.hpp"

namespace holdfast {

struct Stepped {
  std::string name = {};
  std::function<Steps()> steps = {};
};
inline void PrintTo(const Stepped& one, std::ostream* out) {
  *out << one.name;
}

// A test parameter for a row, with the family's name from its id.
template <class Row>
Stepped stepped(const Row& row) {
  const std::string id = row.family->id(row), family = id.substr(id.find('/') + 1);
  return {.name = family.substr(0, family.find('/')), .steps = [row] { return steps_of(row); }};
}

struct EachStepped : testing::TestWithParam<Stepped> {
  template <class Lazy>
  static std::optional<std::string> found(const Calls& calls, bool beside_reference = true) {
    return found_again<Lazy>(GetParam().steps(), calls, beside_reference);
  }
  static std::string name(const testing::TestParamInfo<Stepped>& one) { return one.param.name; }
};

TEST_P(EachStepped, IsRightFromTheStartAgain) {
  for (const bool beside_reference : {true, false})
    EXPECT_EQ(found<Skipping>([](int) { return false; }, beside_reference), std::nullopt);
}

TEST_P(EachStepped, IsWrongWhereEverySecondStepDoesNothing) {
  for (const int odd : {0, 1})
    EXPECT_TRUE(found<Skipping>([=](int call) { return call > 1 && call % 2 == odd; }));
}

TEST_P(EachStepped, IsWrongWhereEveryTenthStepDoesNothing) {
  EXPECT_TRUE(found<Skipping>([](int call) { return call % 10 == 0; }));
}

TEST_P(EachStepped, IsWrongWhereItDoesNothingAfterFortyCalls) {
  EXPECT_TRUE(found<Skipping>([](int call) { return call > 40; }));
}

// For unchained steps with two inputs.
struct EachOfTwoInputs : EachStepped {};

TEST_P(EachOfTwoInputs, IsWrongWhereItAnswersEverySecondCallFromMemory) {
  for (const bool beside_reference : {true, false})
    for (const int odd : {0, 1})
      EXPECT_TRUE(found<Remembering>([=](int call) { return call > 9 && call % 2 == odd; },
                                     beside_reference));
}

}  // namespace holdfast
