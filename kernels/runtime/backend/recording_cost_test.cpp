// SPDX-License-Identifier: Apache-2.0
// The cost of verbs and scopes without a recording: measured alone, limited relative to the
// smallest step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/time.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

constexpr int calls = 200'000, rounds = 31;

// CPU seconds per call; the median of many rounds, so that a round which lost its caches does not
// count.
template <class Action>
double seconds_per_call(const Action& action) {
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    const double begin = thread_cpu_seconds();
    for (int i = 0; i < calls; ++i) {
      action();
      asm volatile("" ::: "memory");  // each call reloads the recorder, as each verb does
    }
    seconds.push_back((thread_cpu_seconds() - begin) / calls);
  }
  std::nth_element(seconds.begin(), seconds.begin() + rounds / 2, seconds.end());
  return seconds[rounds / 2];
}

// The smallest step that the suites expect of a GPU: four launches, each under a scope, in 17 us of
// pure latency. 1 % of it may go to recording that is switched off; an empty loop is subtracted.
TEST(RecordingCost, SwitchedOffItIsBelowOnePercentOfTheSmallestStep) {
  constexpr int verbs = 4;
  constexpr double step = 17e-6, allowed = 0.01;
  Ledger ledger;
  const auto nothing = seconds_per_call([] {});
  const auto verb = seconds_per_call([&] {
    const Verb recorded(ledger.recorder, [](Recorder& recorder) {
      return recorder.open(Activity::Kind::kernel, "kernel");
    });
  });
  const auto scope = seconds_per_call([] { const Scope named("scope"); });
  const auto fraction = verbs * (verb + scope - 2 * nothing) / step;
  std::printf("verb %.2f ns, scope %.2f ns, loop %.2f ns: %.4f %% of a step of %.0f us\n",
              verb * 1e9, scope * 1e9, nothing * 1e9, fraction * 100, step * 1e6);
  EXPECT_LE(fraction, allowed);
}

}  // namespace
}  // namespace holdfast
