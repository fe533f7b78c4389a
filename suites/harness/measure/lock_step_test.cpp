// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/lock_step.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "base/time.hpp"
#include "runtime/backend/buffer.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A step whose arithmetic cannot be left out.
class Sum final : public Computation {
 public:
  Sum(Backend&, int terms) : terms_(terms) {}
  void step() override {
    for (int i = 0; i < terms_; ++i) sum_ = std::sqrt(sum_ + i);
  }
  std::vector<double> result() override { return {sum_}; }

 private:
  int terms_;
  double sum_ = 1;
};

// The oracle knows that a sum is positive.
Case sum_case(bool reference, double golden_error = 0) {
  return {.id = "fake/sum/n:1/f64",
          .recipe = Steps{.make =
                              [](Backend& backend, Variant variant) {
                                return std::make_unique<Sum>(
                                    backend, variant == Variant::reference ? 4000 : 2000);
                              },
                          .oracle = {.name = "golden values",
                                     .limit = 1e-12,
                                     .expected = [](int) { return std::vector{0.}; },
                                     .distance =
                                         [](const std::vector<double>& result,
                                            const std::vector<double>& expected) {
                                           return result.at(0) > expected.at(0) ? 0. : 1.;
                                         },
                                     .golden = [=](Backend&, Variant) { return golden_error; }}},
          .reference = reference};
}

std::vector<std::string> answers(const Case& one, const std::string& asked,
                                 const std::function<bool()>& disturbed = {}) {
  std::istringstream in(asked);
  std::ostringstream out;
  serve_lock_step(one, "host", in, out, disturbed);
  std::vector<std::string> lines;
  std::istringstream all(out.str());
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

TEST(LockStep, IsReadyBeforeItIsAsked) {
  const auto lines = answers(sum_case(false), "");
  ASSERT_EQ(lines.size(), 1);
  EXPECT_THAT(lines[0], StartsWith("ready "));
  EXPECT_GE(std::stoi(lines[0].substr(6)), 1);
}

TEST(LockStep, AnswersEachSampleWithSecondsPerStep) {
  const auto lines = answers(sum_case(true), "batch 50\noptimized\nreference\n");
  ASSERT_EQ(lines.size(), 4);
  EXPECT_EQ(lines[1], "ok");
  double seconds = 0, cpu = 0, waited = -1, reference = 0;
  std::istringstream(lines[2]) >> seconds >> cpu >> waited;
  std::istringstream(lines[3]) >> reference;
  EXPECT_GT(seconds, 1e-6);  // 2000 square roots
  EXPECT_LT(seconds, 1);
  EXPECT_GT(cpu, 0);
  EXPECT_GE(waited, 0);
  EXPECT_GT(reference, 0);
}

// Computes for so long in each step.
class Busy final : public Computation {
 public:
  explicit Busy(double seconds, int* made = nullptr) : seconds_(seconds), made_(made) {}
  void step() override {
    if (made_) ++*made_;
    for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < seconds_;)
      continue;
  }
  std::vector<double> result() override { return {1}; }

 private:
  double seconds_;
  int* made_;  // steps
};
Case busy_case(double golden_error_of_reference = 0) {
  Case one = sum_case(true);
  Steps& steps = std::get<Steps>(one.recipe);
  steps.make = [](Backend&, Variant variant) {
    return std::make_unique<Busy>(variant == Variant::reference ? 1e-2 : 1e-4);
  };
  steps.oracle.golden = [=](Backend&, Variant variant) {
    return variant == Variant::reference ? golden_error_of_reference : 0;
  };
  return one;
}

TEST(LockStep, OfEitherVariantTellsSecondsOfOneStepHoweverManyASampleHas) {
  const auto lines = answers(busy_case(), "batch 200\noptimized\nreference\n");
  ASSERT_EQ(lines.size(), 4);
  double seconds = 0, cpu = 0, reference = 0;
  std::istringstream(lines[2]) >> seconds >> cpu;
  std::istringstream(lines[3]) >> reference;
  EXPECT_GT(seconds, 0.9e-4);
  EXPECT_LT(seconds, 200 * 1e-4);
  EXPECT_GT(cpu, 0.9e-4);
  EXPECT_LT(cpu, 200 * 1e-4);
  EXPECT_GT(reference, 0.9e-2);
}

TEST(LockStep, ASampleOfEitherVariantIsSomeMillisecondsLong) {
  int references = 0;
  Case one = busy_case();
  std::get<Steps>(one.recipe).make = [&](Backend&, Variant variant) {
    return variant == Variant::reference ? std::make_unique<Busy>(1e-2, &references)
                                         : std::make_unique<Busy>(1e-4);
  };
  EXPECT_LE(std::stoi(answers(one, "optimized\nreference\n")[0].substr(6)), 64);
  EXPECT_LE(references, 1 + 8 + 1 + 1);  // to warm up, accounted, to find the batch, and sampled
}

TEST(LockStep, AStepThatAllocatesWhileItIsSampledIsAnError) {
  struct Late final : Computation {
    explicit Late(Backend& on) : backend(&on) {}
    void step() override {
      if (++made > 20) Buffer<double>(*backend, 7, "late scratch");
    }
    std::vector<double> result() override { return {1}; }
    Backend* backend;
    int made = 0;
  };
  Case one = sum_case(false);
  std::get<Steps>(one.recipe).make = [](Backend& backend, Variant) {
    return std::make_unique<Late>(backend);
  };
  EXPECT_THAT(error_of([&] { return answers(one, "batch 50\noptimized\n"); }).what(),
              HasSubstr("'late scratch'"));
}

TEST(LockStep, TimesNoReferenceThatIsWrong) {
  EXPECT_EQ(answers(busy_case(0.5), "batch 1\noptimized\n").size(), 3);
  EXPECT_THAT(error_of([] { return answers(busy_case(0.5), "reference\n"); }).what(),
              HasSubstr("the reference variant is wrong by 0.5"));
}

TEST(LockStep, TellsOfEachSampleWhetherTheDeviceWasDisturbed) {
  int asked = 0;
  const auto lines = answers(sum_case(true), "batch 50\noptimized\nreference\noptimized\n",
                             [&] { return ++asked == 2; });
  ASSERT_EQ(lines.size(), 5);
  EXPECT_THAT(lines[2], EndsWith(" 0"));
  EXPECT_THAT(lines[3], EndsWith(" 1"));
  EXPECT_THAT(lines[4], EndsWith(" 0"));
}

TEST(LockStep, SaysThatThereIsNoReference) {
  EXPECT_EQ(answers(sum_case(false), "reference\n").back(), "none");
  Case too_slow = sum_case(true);
  too_slow.unreferenced = {"host"};
  EXPECT_EQ(answers(too_slow, "reference\n").back(), "none");
}

TEST(LockStep, RefusesWhatMeansNothing) {
  for (const char* asked : {"faster\n", "batch 0\n", "batch x\n"})
    EXPECT_THROW(answers(sum_case(false), asked), Error) << asked;
}

TEST(LockStep, TimesNothingThatIsWrong) {
  EXPECT_THAT(error_of([] { return answers(sum_case(false, 0.5), "optimized\n"); }).what(),
              HasSubstr("wrong by 0.5"));
}

TEST(LockStep, TimesNothingThatIsWrongAtItsOwnSizeAndRightAtASmallOne) {
  Case one = sum_case(false);
  std::get<Steps>(one.recipe).oracle.expected = [](int) { return std::vector{1e9}; };
  EXPECT_THROW((void)answers(one, "optimized\n"), Error);
}

TEST(LockStep, LooksAtAFewPlacesOfAResultWhereTheOracleSaysWhich) {
  Case one = sum_case(false);
  Oracle& oracle = std::get<Steps>(one.recipe).oracle;
  oracle.expected = [](int) -> std::vector<double> { throw std::runtime_error("too expensive"); };
  oracle.few = [](const std::vector<double>& result) { return result.at(0) > 0 ? 0. : 1.; };
  EXPECT_EQ(answers(one, "optimized\n").size(), 2);
  oracle.few = [](const std::vector<double>&) { return NAN; };
  EXPECT_THROW((void)answers(one, "optimized\n"), Error);
}

TEST(LockStep, RefusesACaseThatIsNoRepeatedStep) {
  const Case protocol = {.id = "fake/protocol/f64", .recipe = Protocol([](Session&) {})};
  EXPECT_THROW(answers(protocol, ""), Error);
}

TEST(LockStep, RefusesADeviceThatExecutesNothing) {
  std::istringstream in;
  std::ostringstream out;
  const Error error =
      error_of([&] { serve_lock_step(sum_case(false), "cuda-dry:sm_90", in, out); });
  if (error.fault() == Fault::no_device) GTEST_SKIP() << "this build has no dry device";
  EXPECT_THAT(error.what(), HasSubstr("executes nothing"));
}

}  // namespace
}  // namespace holdfast
