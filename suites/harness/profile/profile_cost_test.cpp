// SPDX-License-Identifier: Apache-2.0
// The cost of being recorded, and of being recordable.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/time.hpp"
#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "harness/measure/timing.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast {
namespace {

struct Stepper {
  std::unique_ptr<Backend> backend = open_backend("host");
  std::unique_ptr<Computation> computation = {};
  int batch = 1;  // steps of one sample

  // Seconds of `batch` steps, without the start and end of the recording.
  double sample(bool recorded) {
    std::optional<Recording> recording;
    if (recorded) recording.emplace(*backend);
    const double start = thread_cpu_seconds();
    for (int i = 0; i < batch; ++i) computation->step();
    return thread_cpu_seconds() - start;
  }
};

Stepper rk4_step() {
  Stepper stepper;
  stepper.computation = cubed_sphere_swe::make_rk4_step(*stepper.backend, Variant::optimized, {48});
  stepper.batch = 10;
  return stepper;
}

// The step with the most verbs and scopes for its time: small dense products.
Stepper reference_rhs() {
  Stepper stepper;
  stepper.computation = cubed_sphere_swe::make_rhs(*stepper.backend, Variant::reference, {24});
  stepper.batch = 10;
  return stepper;
}

struct Spread {
  double median = 0, low = 0, high = 0;  // low and high hold the middle half
};

// The ratio time(b) / time(a), in rounds a b b a.
Spread ratio(Stepper& stepper, bool a, bool b) {
  constexpr int rounds = 61;
  (void)stepper.sample(a);
  (void)stepper.sample(b);
  std::vector<double> ratios;
  for (int i = 0; i < rounds; ++i) {
    const double first = stepper.sample(a), second = stepper.sample(b), third = stepper.sample(b),
                 fourth = stepper.sample(a);
    ratios.push_back((second + third) / (first + fourth));
  }
  std::sort(ratios.begin(), ratios.end());
  return {median(ratios), ratios[rounds / 4], ratios[3 * rounds / 4]};
}

void print(const char* what, const Spread& spread) {
  std::printf("%-28s %.4f (middle half %.4f to %.4f)\n", what, spread.median, spread.low,
              spread.high);
}

void expect_cheap(Stepper stepper) {
  const Spread control = ratio(stepper, false, false), recorded = ratio(stepper, false, true);
  print("not recorded, twice", control);
  print("recorded over not recorded", recorded);
  if (std::abs(control.median - 1) > 0.05)
    GTEST_SKIP() << "the same steps differ as much from themselves: this machine tells nothing now";
  EXPECT_LE(recorded.median, 1.30);
}

TEST(RecordedSteps, OfTheOptimizedVariantTakeAtMostThreeTenthsLonger) {
  expect_cheap(rk4_step());
}

TEST(RecordedSteps, OfManySmallVerbsTakeAtMostThreeTenthsLonger) {
  expect_cheap(reference_rhs());
}

// A scope without a listener, and a verb without a recorder, cost a branch or two.
double seconds_of_a_silent_scope() {
  constexpr int many = 1'000'000;
  const double start = thread_cpu_seconds();
  for (int i = 0; i < many; ++i) const Scope scope("silent");
  return (thread_cpu_seconds() - start) / many;
}

void expect_silence_is_free(Stepper stepper) {
  std::size_t places = 0;
  {
    const Recording recording(*stepper.backend);
    for (int i = 0; i < stepper.batch; ++i) stepper.computation->step();
    places = recording.activities().size() + recording.scopes().size();
  }
  const double share =
      seconds_of_a_silent_scope() * static_cast<double>(places) / stepper.sample(false);
  std::printf("%zu places in %d steps, %.4f %% of their time\n", places, stepper.batch,
              100 * share);
  EXPECT_GT(places, 0);
  EXPECT_LE(share, 0.01);
}

TEST(StepsThatNobodyRecords, OfTheOptimizedVariantPayAtMostOnePercentForIt) {
  expect_silence_is_free(rk4_step());
}

TEST(StepsThatNobodyRecords, OfManySmallVerbsPayAtMostOnePercentForIt) {
  expect_silence_is_free(reference_rhs());
}

}  // namespace
}  // namespace holdfast
