// SPDX-License-Identifier: Apache-2.0
// Work that is left out once a case was checked and timed is found when it is verified again.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "cubed_sphere_swe/row.hpp"
#include "harness/measure/measure.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using testing::HasSubstr;

// Leaves out the steps that it is told to, counted from the first.
class Skipping : public Computation {
 public:
  Skipping(std::unique_ptr<Computation> inner, std::function<bool(int call)> skips)
      : inner_(std::move(inner)), skips_(std::move(skips)) {}
  void step() override {
    if (!skips_(++calls_)) inner_->step();
  }
  std::vector<double> result() override { return inner_->result(); }
  std::vector<NamedReading> readings() override { return inner_->readings(); }
  void start_again(int input) override { inner_->start_again(input); }

 private:
  std::unique_ptr<Computation> inner_;
  std::function<bool(int call)> skips_;
  int calls_ = 0;
};

Measurement measured(const Case& one) {
  return measure(one, "host",
                 {.budget = {.seconds = 0, .fewest_rounds = 1, .most_rounds = 1}, .seed = 1});
}

Case skipping(const Row& row, const std::function<bool(int call)>& skips) {
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

// Beyond the first step after a start, which the oracle is asked for anyway.
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

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
