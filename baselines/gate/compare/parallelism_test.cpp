// SPDX-License-Identifier: Apache-2.0
// What a paired comparison says of a step's threads while others compute.
#include <gmock/gmock.h>

#include <cmath>
#include <optional>

#include "gate/compare/sequential.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;

// CPU time is unchanged; real time varies with other work.
Comparison decided(double at_once, double threads = 2, bool told = true) {
  Sequence sequence({.clock = Clock::by_load});
  for (int i = 0; sequence.wants_unit(); ++i) {
    const double others = i % 2 == 0 ? 0.2 : -0.2;
    sequence.add({.real = others - at_once,
                  .cpu = 0,
                  .seconds = 0.5,
                  .others = 0.6,
                  .threads = threads,
                  .at_once = told ? std::optional(at_once + others / 10) : std::nullopt});
  }
  sequence.end();
  return sequence.found();
}

TEST(Parallelism, ALockAroundAllThreadsIsNoPass) {
  const Comparison found = decided(std::log(1 / 1.9));
  EXPECT_EQ(found.clock, Clock::cpu);
  EXPECT_EQ(found.decision, Paired::regression);
  EXPECT_THAT(describe(found, 0.02), HasSubstr("threads running at once -47.4 %"));
}

TEST(Parallelism, SeveralThreadsNeverPassByCpuTimeAlone) {
  EXPECT_EQ(decided(0, 2, false).decision, Paired::undecided);
}

TEST(Parallelism, ThreadsThatWorkAtOnceAsBeforePassWhateverOthersDo) {
  EXPECT_EQ(decided(0).decision, Paired::pass);
}

TEST(Parallelism, ALossThatOthersCouldHideIsUndecided) {
  EXPECT_EQ(decided(std::log(0.9)).decision, Paired::undecided);
}

TEST(Parallelism, OneThreadPassesByCpuTime) {
  EXPECT_EQ(decided(0, 1, false).decision, Paired::pass);
  EXPECT_EQ(decided(0, 1).decision, Paired::pass);
}

// By 15 %, which real time does not show among what others do.
TEST(Parallelism, OneThreadThatSleepsIsNoPass) {
  const Comparison found = decided(std::log(1 / 1.15), 1);
  EXPECT_EQ(found.clock, Clock::cpu);
  EXPECT_EQ(found.decision, Paired::regression);
}

}  // namespace
}  // namespace holdfast::gate
