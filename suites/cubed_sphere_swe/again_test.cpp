// SPDX-License-Identifier: Apache-2.0
// Work that is skipped after a case was checked and timed is detected by the repeated verification.
#include <gmock/gmock.h>

#include <utility>

#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "harness/measure/measure.hpp"
#include "harness/testing/lazy.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using testing::HasSubstr;

Measurement measured(const Case& one) {
  return measure(one, "host",
                 {.budget = {.seconds = 0, .fewest_rounds = 1, .most_rounds = 1}, .seed = 1});
}

Case skipping(const Row& row, const Calls& skips) {
  Case one = case_of(row);
  one.derived.clear();
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [=, made = steps.make](Backend& backend,
                                      Variant variant) -> std::unique_ptr<Computation> {
    auto inner = made(backend, variant);
    if (variant == Variant::reference) return inner;
    return std::make_unique<Skipping>(std::move(inner), skips);
  };
  return one;
}

Row small(const Family<Row>& family) {
  return {.family = &family, .n = 12};
}

struct EachStepped : testing::TestWithParam<const Family<Row>*> {
  static Row row() { return row_of(GetParam()); }
  static Row row_of(const Family<Row>* family) {
    Row one = small(*family);
    one.options.steps = 3;
    one.component = {.kind = Component::Kind::sat};
    return one;
  }
};

TEST_P(EachStepped, IsRightFromTheStartAgain) {
  Case one = case_of(row());
  one.derived.clear();
  const Measurement found = measured(one);
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_GE(found.again.value_or(Again{}).steps, 2);
}

TEST_P(EachStepped, IsWrongWhereEverySecondStepDoesNothing) {
  const Measurement found = measured(skipping(row(), [](int call) { return call % 2 == 0; }));
  EXPECT_EQ(found.check, CheckStatus::failed) << found.reason;
}

INSTANTIATE_TEST_SUITE_P(Of, EachStepped,
                         testing::Values(&families::rhs, &families::rk4_step, &families::loop,
                                         &families::component),
                         [](const auto& one) {
                           const std::string id = one.param->id(EachStepped::row_of(one.param));
                           return id.substr(17, id.find('/', 17) - 17);
                         });

// Beyond the first step after a start, for which the oracle is asked anyway.
TEST(Loop, ThatDoesNothingFartherFromAStartIsFoundWithoutAReference) {
  struct Tiring : Skipping {
    explicit Tiring(std::unique_ptr<Computation> inner)
        : Skipping(std::move(inner), [this](int) { return ++since_start > 1; }) {}
    void start_again(int input) override {
      since_start = 0;
      Skipping::start_again(input);
    }
    int since_start = 0;
  };
  Row row = small(families::loop);
  row.options.steps = 3;
  Case one = case_of(row);
  ASSERT_FALSE(one.reference);
  one.derived.clear();
  auto& steps = std::get<Steps>(one.recipe);
  steps.invariant = {};  // which finds it too, after a timed section
  steps.make = [made = steps.make](Backend& backend, Variant variant) {
    return std::make_unique<Tiring>(made(backend, variant));
  };
  EXPECT_THAT(measured(one).reason, HasSubstr("verified again after the timed section"));
}

TEST(Tendency, ThatDoesNothingInEverySecondStepIsFoundOnceItIsVerifiedAgain) {
  const Measurement found =
      measured(skipping(small(families::rhs), [](int call) { return call % 2 == 0; }));
  EXPECT_THAT(found.reason, HasSubstr("verified again after the timed section"));
}

using Kind = Component::Kind;

struct EachComponent : testing::TestWithParam<Component> {
  static std::optional<std::string> found(const Calls& remembers, bool beside_reference) {
    Row row = small(families::component);
    row.component = GetParam();
    return found_again<Remembering>(steps_of(row), remembers, beside_reference);
  }
};

TEST_P(EachComponent, IsRightWithInputsByTurns) {
  for (const bool beside_reference : {true, false})
    EXPECT_EQ(found([](int) { return false; }, beside_reference), std::nullopt);
}

TEST_P(EachComponent, IsWrongWhereItAnswersEverySecondCallFromMemory) {
  for (const bool beside_reference : {true, false})
    for (const int odd : {0, 1})
      EXPECT_TRUE(found([=](int call) { return call > 9 && call % 2 == odd; }, beside_reference));
}

INSTANTIATE_TEST_SUITE_P(
    Of, EachComponent,
    testing::Values(Component{.kind = Kind::operator_apply}, Component{.kind = Kind::project},
                    Component{.kind = Kind::gradient}, Component{.kind = Kind::contravariant},
                    Component{.kind = Kind::divergence}),
    [](const auto& one) { return std::string(component_words.of(one.param.kind)); });

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
