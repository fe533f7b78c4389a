// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/thread_modes.hpp"

#include <gmock/gmock.h>
#include <omp.h>
#include <xmmintrin.h>

#include "base/text.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

constexpr unsigned flush_to_zero = 0x8000, round_down = 0x2000, denormals_are_zero = 0x40;

TEST(ThreadModes, AreUnchangedByArithmeticThatIsInexactOrInvalid) {
  const ThreadModes before;
  volatile double one = 1, none = 0;
  one = one / 3;
  none = none / none;
  EXPECT_EQ(before.changed(true), "");
}

TEST(ThreadModes, ThatFlushOrRoundOtherwiseAreChanged) {
  const ThreadModes before;
  const unsigned usual = _mm_getcsr();
  for (const unsigned mode : {flush_to_zero, round_down, denormals_are_zero}) {
    _mm_setcsr(usual | mode);
    const std::string changed = before.changed(false);
    _mm_setcsr(usual);
    EXPECT_EQ(changed, "1 thread with another rounding or flushing of denormals");
  }
}

TEST(ThreadModes, OfAnotherThreadOfTheTeamAreLookedAtIfAsked) {
  const int threads = host_limits().threads;
  if (threads < 2) GTEST_SKIP() << "this process has one thread";
  const ThreadModes before;
  const auto set = [&](unsigned on, unsigned off) {
#pragma omp parallel num_threads(threads)
    if (omp_get_thread_num() == 1) _mm_setcsr((_mm_getcsr() | on) & ~off);
  };
  set(flush_to_zero, 0);
  const std::string whole = before.changed(true), own = before.changed(false);
  set(0, flush_to_zero);
  EXPECT_THAT(whole, HasSubstr("1 thread with another"));
  EXPECT_EQ(own, "");
}

TEST(ThreadModes, AnotherNumberOfThreadsOfALoopIsAChange) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(4);
  const ThreadModes before;
  for (const int other : {3, 5}) {
    omp_set_num_threads(other);
    EXPECT_EQ(before.changed(false), text("loops of ", other, " threads where they had 4"));
  }
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace holdfast
