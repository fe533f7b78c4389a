// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/again.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "harness/testing/answers_folder.hpp"
#include "harness/testing/toy.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double ample = 60;  // seconds
constexpr int never = 1000;   // steps

// Results in ten times (its input's number plus one), recomputed in each step; calls that are
// `stale` repeat the last result.
class Fresh : public Computation {
 public:
  using Wrong = std::function<bool(int call)>;
  Fresh(Backend& backend, Wrong stale) : stale_(std::move(stale)), out_(backend, 1, "out") {}
  void step() override {
    if (stale_ && stale_(++calls_)) return out_.upload(std::vector<double>{last_});
    out_.data()[0] = last_ = 10. * (input_ + 1);
  }
  std::vector<double> result() override { return out_.to_host(); }
  void start_again(int input) override { input_ = input; }

 private:
  Wrong stale_;
  Buffer<double> out_;
  double last_ = 0;
  int input_ = 0, calls_ = 0;
};

Case fresh_case(const Fresh::Wrong& stale) {
  Case one = toy_case();
  Steps& steps = steps_of(one);
  steps.make = [=](Backend& backend, Variant variant) {
    return std::make_unique<Fresh>(backend, variant == Variant::optimized ? stale : nullptr);
  };
  steps.oracle.expected = [](int) { return std::vector{10.}; };
  steps.oracle.other = [](const std::vector<double>& result, int input) {
    return std::abs(result.at(0) - 10. * (input + 1));
  };
  steps.rewritten = always({"out"});
  steps.chained = false;
  steps.inputs = 2;
  return one;
}

// The outcome for a case whose variants were built, warmed up and accounted.
struct Found {
  std::optional<std::string> fault = {};
  Again done = {};
};
Found look(Case one, double seconds = ample, std::uint32_t seed = 1) {
  const Steps& steps = steps_of(one);
  Subject optimized = account(steps, Variant::optimized, "host");
  std::optional<Subject> reference;
  if (one.reference) reference = account(steps, Variant::reference, "host");
  Found found;
  found.fault = verify_again(steps, reference ? &*reference : nullptr, optimized,
                             {.case_id = one.id, .seconds = seconds, .seed = seed}, found.done);
  return found;
}

Case alone(Case one) {
  one.reference = false;
  return one;
}

// A toy whose optimized variant does nothing at these calls, and counts on afterwards.
Case skipping(const std::function<bool(int call)>& skips) {
  Case one = toy_case();
  steps_of(one).make = [=](Backend& backend, Variant variant) {
    struct Skipping : Toy {
      Skipping(Backend& b, std::function<bool(int)> when) : Toy(b), skips(std::move(when)) {}
      void step() override {
        if (!skips || !skips(++calls)) Toy::step();
      }
      std::function<bool(int)> skips;
      int calls = 0;
    };
    return std::make_unique<Skipping>(backend, variant == Variant::optimized ? skips : nullptr);
  };
  return one;
}

TEST(Again, WhatDoesAllOfItsWorkPassesFromTheStart) {
  for (const Case& one : {toy_case(), alone(toy_case()), fresh_case({}), alone(fresh_case({}))})
    EXPECT_EQ(look(one).fault, std::nullopt);
}

TEST(Again, AVariantThatSkipsEveryTenthStepIsFoundWhateverIsDrawn) {
  const auto every_tenth = [](int call) { return call > 5 && call % 10 == 0; };
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    for (const Case& one : {skipping(every_tenth), alone(skipping(every_tenth))}) {
      const Found found = look(one, ample, seed);
      ASSERT_TRUE(found.fault) << seed;
      EXPECT_THAT(*found.fault, AllOf(HasSubstr("the optimized variant is wrong by"),
                                      HasSubstr("seed " + std::to_string(seed))));
    }
}

TEST(Again, AnAnswerFromMemoryInEveryTenthStepIsFoundWhateverIsDrawn) {
  const auto every_tenth = [](int call) { return call > 5 && call % 10 == 0; };
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    for (const Case& one : {fresh_case(every_tenth), alone(fresh_case(every_tenth))})
      ASSERT_TRUE(look(one, ample, seed).fault) << seed;
}

// Whether the reference is measured, or the oracle asked for more than the warm-up.
TEST(Again, AStepThatDoesNothingFarFromAStartIsFound) {
  struct Tiring : Toy {
    using Toy::Toy;
    void step() override {
      if (++since_start_ <= 3) Toy::step();
    }
    void start_again(int input) override {
      since_start_ = 0;
      Toy::start_again(input);
    }
    int since_start_ = 0;
  };
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant variant) -> std::unique_ptr<Computation> {
    if (variant == Variant::reference) return std::make_unique<Toy>(backend);
    return std::make_unique<Tiring>(backend);
  };
  EXPECT_TRUE(look(one).fault);
  EXPECT_FALSE(look(alone(one)).fault);  // an oracle that says nothing is asked for the warm-up
  steps_of(one).oracle.most_steps = 40;
  EXPECT_THAT(look(alone(one)).fault.value_or(""), HasSubstr("oracle: "));
}

TEST(Again, AnOracleIsAskedForNoMoreThanItKnows) {
  int most = 0;  // of six that are drawn
  Case one = alone(toy_case());
  Oracle& oracle = steps_of(one).oracle;
  oracle.most_steps = 4;
  oracle.expected = [&, expected = oracle.expected](int steps) {
    most = std::max(most, steps);
    return expected(steps);
  };
  EXPECT_EQ(look(one).fault, std::nullopt);
  EXPECT_EQ(most, 4);
}

TEST(Again, AnOracleThatMeasuresErrorsItselfTellsHowFarApartVariantsLie) {
  for (const Case& one : {toy_case(), fresh_case({})}) {
    Steps steps = std::get<Steps>(one.recipe);
    steps.oracle.distance = [](const auto&, const auto&) { return 0; };
    EXPECT_THROW(check_between(steps, true), Error);
    EXPECT_NO_THROW(check_between(steps, false));
    steps.oracle.between = steps.oracle.distance;
    EXPECT_NO_THROW(check_between(steps, true));
  }
}

TEST(Again, AnOracleTellsNothingOfVariantsThatAreNotHeldToOneAnother) {
  Steps steps = std::get<Steps>(fresh_case({}).recipe);
  steps.oracle.distance = [](const auto&, const auto&) { return 0; };
  steps.inputs = 1;
  EXPECT_NO_THROW(check_between(steps, true));
}

// If either may lie a limit from the truth, unless the oracle itself tells how far apart they lie.
TEST(Again, VariantsLieTwoLimitsFromOneAnotherAtMost) {
  const auto apart = [](double share, bool told = false) {
    struct Scaled : Toy {
      Scaled(Backend& backend, double by) : Toy(backend), factor(by) {}
      std::vector<double> result() override { return {factor * Toy::result()[0]}; }
      double factor;
    };
    Case one = toy_case();
    steps_of(one).oracle.limit = 0.01;
    if (told)
      steps_of(one).oracle.between = [](const auto& ours, const auto& theirs) {
        return std::abs(ours.at(0) / theirs.at(0) - 1);
      };
    steps_of(one).make = [=](Backend& backend, Variant variant) {
      return std::make_unique<Scaled>(backend, variant == Variant::optimized ? 1 + share : 1);
    };
    return look(one).fault;
  };
  EXPECT_EQ(apart(0.019), std::nullopt);
  EXPECT_THAT(apart(0.021).value_or(""), HasSubstr("the limit is 0.02 (beside the reference"));
  EXPECT_EQ(apart(0.009, true), std::nullopt);
  EXPECT_THAT(apart(0.011, true).value_or(""),
              HasSubstr("the limit is 0.01 (beside the reference"));
}

TEST(Again, VariantsLieApartByThePartInWhichTheyDo) {
  struct Parted : Toy {
    Parted(Backend& backend, double by) : Toy(backend), factor(by) {}
    std::vector<double> result() override {
      return {1e6 * Toy::result()[0], factor * Toy::result()[0]};
    }
    double factor;
  };
  Case one = toy_case();
  steps_of(one).oracle.limit = 0.01;
  steps_of(one).oracle.parts = {1, 1};
  steps_of(one).make = [](Backend& backend, Variant variant) {
    return std::make_unique<Parted>(backend, variant == Variant::optimized ? 1.5 : 1);
  };
  EXPECT_THAT(look(one).fault.value_or(""), HasSubstr("wrong by 0.5, the limit is 0.02"));
}

TEST(Again, AStepThatDoesNothingEverySecondTimeIsFound) {
  EXPECT_TRUE(look(skipping([](int call) { return call > 5 && call % 2 == 0; })).fault);
}

TEST(Again, AStepThatAnswersFromMemoryEverySecondTimeIsFound) {
  for (const int odd : {0, 1}) {
    const auto every_second = [=](int call) { return call > 5 && call % 2 == odd; };
    Case one = fresh_case(every_second);
    EXPECT_TRUE(look(alone(one)).fault);
    steps_of(one).oracle.other = nullptr;  // the reference tells of the other input
    EXPECT_TRUE(look(one).fault);
  }
}

TEST(Again, AStepThatLeavesAnEarlierResultAsItIsIsFound) {
  struct Leaving : Fresh {
    explicit Leaving(Backend& backend) : Fresh(backend, nullptr) {}
    void step() override {
      if (made++ < 5) Fresh::step();
    }
    int made = 0;
  };
  Case one = alone(fresh_case({}));
  steps_of(one).inputs = 1;
  steps_of(one).make = [](Backend& backend, Variant) { return std::make_unique<Leaving>(backend); };
  EXPECT_TRUE(look(one).fault);
}

// The case, with a reference that is stale from some step on, and its steps counted.
Case with_reference_stale_from(int first_stale, int& steps_made) {
  Case one = fresh_case({});
  steps_of(one).make = [=, &steps_made](Backend& backend, Variant variant) {
    const auto late = [=, &steps_made](int call) { return ++steps_made, call > first_stale; };
    return std::make_unique<Fresh>(backend,
                                   variant == Variant::reference ? Fresh::Wrong(late) : nullptr);
  };
  return one;
}

TEST(Again, AReferenceThatIsStaleIsFoundToo) {
  int steps = 0;
  EXPECT_THAT(look(with_reference_stale_from(5, steps)).fault.value_or(""),
              HasSubstr("beside the reference variant"));
}

TEST(Again, AReferenceThatStepsAloneIsAskedOnceInARun) {
  const AnswersFolder of_the_run;
  int first = 0, second = 0;
  EXPECT_EQ(look(with_reference_stale_from(never, first)).fault, std::nullopt);
  EXPECT_EQ(look(with_reference_stale_from(never, second)).fault, std::nullopt);
  EXPECT_EQ(second, first - 2);  // neither input
  const Case one = fresh_case({});
  EXPECT_TRUE(was_verified(std::get<Steps>(one.recipe), Variant::reference, one.id));
  EXPECT_FALSE(was_verified(std::get<Steps>(one.recipe), Variant::optimized, one.id));
  EXPECT_TRUE(look(fresh_case([](int call) { return call > 12; })).fault);
}

TEST(Again, AReferenceThatIsStaleLeavesNoAnswer) {
  int all = 0, steps = 0;
  (void)look(with_reference_stale_from(never, all));
  const AnswersFolder of_the_run;
  for (int process = 0; process < 2; ++process)
    EXPECT_THAT(look(with_reference_stale_from(all - 1, steps)).fault.value_or(""),
                HasSubstr("the reference variant is wrong"));
}

TEST(Again, AStepThatWritesNoNumberIsToldInWords) {
  Case one = alone(toy_case());
  steps_of(one).make = [](Backend& backend, Variant) {
    struct Spoilt : Toy {
      using Toy::Toy;
      std::vector<double> result() override {
        return ++results > 1 ? std::vector{std::numeric_limits<double>::quiet_NaN()}
                             : Toy::result();
      }
      int results = 0;
    };
    return std::make_unique<Spoilt>(backend);
  };
  EXPECT_THAT(look(one).fault.value_or(""), HasSubstr("it holds what is no number"));
}

TEST(Again, AComputationThatGoesOnWhereItWasIsToldToBeginAnew) {
  Case one = alone(toy_case());
  steps_of(one).make = [](Backend& backend, Variant) {
    struct Onward : Toy {
      using Toy::Toy;
      void start_again(int) override {}
    };
    return std::make_unique<Onward>(backend);
  };
  EXPECT_THAT(look(one).fault.value_or(""), HasSubstr("start_again() begin anew"));
}

TEST(Again, AStepThatCountsSomethingElseIsAnError) {
  const Case one = alone(toy_case([](Backend& backend, int step) {
    if (step <= 2 + 8) ++backend.ledger.counts.launches;  // warm-up and accounting
  }));
  EXPECT_THROW((void)look(one), std::exception);
}

TEST(Again, TheNumberOfStepsFollowsFromTheSeedAndCoversFortyOne) {
  EXPECT_EQ(look(toy_case(), ample, 7).done.steps, 41);
  EXPECT_EQ(look(toy_case(), ample, 7).done.seed, 7u);
  EXPECT_EQ(look(fresh_case({}), ample, 7).done.steps, look(fresh_case({}), ample, 7).done.steps);
}

TEST(Again, WithoutTimeItMakesTheFewestSteps) {
  EXPECT_EQ(look(fresh_case({}), 0).done.steps, 2);
  EXPECT_EQ(look(alone(toy_case()), 0).done.steps, 2);  // as many as the warm-up, which is known
  Case one = fresh_case({});
  steps_of(one).inputs = 1;
  EXPECT_EQ(look(one, 0).done.steps, 2) << "of one input, too";
}

}  // namespace
}  // namespace holdfast
