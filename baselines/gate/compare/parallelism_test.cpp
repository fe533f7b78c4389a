// SPDX-License-Identifier: Apache-2.0
// What a paired comparison says of steps of several threads while others compute.
#include <gmock/gmock.h>

#include <cmath>

#include "gate/compare/sequential.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;

// Of two threads, as long as before by CPU time; each fourth unit has the machine to itself.
Comparison decided(double real, double threads, bool ever_quiet) {
  Sequence sequence({.clock = Clock::by_load});
  for (int i = 0; sequence.wants_unit(); ++i)
    sequence.add({.real = i % 2 == 0 ? real : real - 0.4,  // others come and go
                  .cpu = 0,
                  .seconds = 0.5,
                  .others = ever_quiet && i % 4 == 0 ? 0 : 0.6,
                  .threads = threads});
  return sequence.found();
}

TEST(Parallelism, ALockAroundAllThreadsIsNoPass) {
  const Comparison found = decided(std::log(1.9), 2, true);
  EXPECT_EQ(found.clock, Clock::cpu);
  EXPECT_EQ(found.decision, Paired::regression);
  EXPECT_THAT(describe(found, 0.02), HasSubstr("CPU time over real time -47.4 %"));
}

TEST(Parallelism, SeveralThreadsNeverPassByCpuTimeAlone) {
  const Comparison found = decided(0.2, 2, false);
  EXPECT_EQ(found.decision, Paired::undecided);
  EXPECT_THAT(describe(found, 0.02), HasSubstr("no unit was quiet enough"));
}

TEST(Parallelism, ThreadsThatWorkAtOnceAsBeforePass) {
  const Comparison found = decided(0, 2, true);
  EXPECT_EQ(found.decision, Paired::pass);
  EXPECT_GT(found.quiet_units, 0u);
}

TEST(Parallelism, OneThreadPassesByCpuTime) {
  EXPECT_EQ(decided(0.2, 1, false).decision, Paired::pass);
}

}  // namespace
}  // namespace holdfast::gate
