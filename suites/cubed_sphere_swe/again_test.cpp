// SPDX-License-Identifier: Apache-2.0
// Work that is skipped after a case was checked and timed is detected by the repeated verification.
#include <gmock/gmock.h>

#include <utility>

#include "cubed_sphere_swe/row.hpp"
#include "families/testing/each_stepped.hpp"
#include "harness/measure/measure.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using testing::HasSubstr;
using Kind = Component::Kind;

Row small(const Family<Row>& family, Kind kind = Kind::sat) {
  return {.family = &family, .n = 12, .options = {.steps = 3}, .component = {.kind = kind}};
}

INSTANTIATE_TEST_SUITE_P(Of, EachStepped,
                         testing::Values(stepped(small(families::rhs)),
                                         stepped(small(families::rk4_step)),
                                         stepped(small(families::loop)),
                                         stepped(small(families::component))),
                         EachStepped::name);

auto of_two_inputs() {
  std::vector<holdfast::Stepped> all;
  for (const Kind kind :
       {Kind::operator_apply, Kind::project, Kind::gradient, Kind::contravariant, Kind::divergence})
    all.push_back(stepped(small(families::component, kind)));
  return testing::ValuesIn(all);
}
INSTANTIATE_TEST_SUITE_P(Components, EachStepped, of_two_inputs(), EachStepped::name);
INSTANTIATE_TEST_SUITE_P(Components, EachOfTwoInputs, of_two_inputs(), EachStepped::name);

// What is said of a row whose optimized variant is `Lazy`.
template <class Lazy>
std::string reason(const Row& row) {
  Case one = case_of(row);
  one.derived.clear();
  auto& steps = std::get<Steps>(one.recipe);
  if (is_loop(row)) steps.invariant = {};  // which finds it too, after a timed section
  steps.make = [made = steps.make](Backend& backend,
                                   Variant variant) -> std::unique_ptr<Computation> {
    auto inner = made(backend, variant);
    if (variant == Variant::reference) return inner;
    return std::make_unique<Lazy>(std::move(inner));
  };
  return measure(one, "host",
                 {.budget = {.seconds = 0, .fewest_rounds = 1, .most_rounds = 1}, .seed = 1})
      .reason;
}

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
  ASSERT_FALSE(case_of(small(families::loop)).reference);
  EXPECT_THAT(reason<Tiring>(small(families::loop)),
              HasSubstr("verified again after the timed section"));
}

TEST(Tendency, ThatDoesNothingInEverySecondStepIsFoundOnceItIsVerifiedAgain) {
  struct Lazy : Skipping {
    explicit Lazy(std::unique_ptr<Computation> inner)
        : Skipping(std::move(inner), [](int call) { return call % 2 == 0; }) {}
  };
  EXPECT_THAT(reason<Lazy>(small(families::rhs)),
              HasSubstr("verified again after the timed section"));
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
