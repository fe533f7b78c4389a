// SPDX-License-Identifier: Apache-2.0
// The cost of recording a training step on a host, and of being able to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/time.hpp"
#include "gpt_train/gpt_train.hpp"
#include "runtime/backend/host_threads.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast::gpt_train {
namespace {

constexpr int rounds = 20;

// On one thread, in its CPU time: other users of the machine only add to it, so the minimum of many
// steps is a step's own time.
struct RecordingCost : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
  FewerThreads one{1};  // opening the backend would reset it
  std::unique_ptr<Computation> training =
      make(Unit::train_step, *backend, Variant::optimized, Options{.documents = true});

  double seconds(bool recorded) {
    std::optional<Recording> recording;
    if (recorded) recording.emplace(*backend);
    const double begun = thread_cpu_seconds();
    training->step();
    return thread_cpu_seconds() - begun;
  }
};

TEST_F(RecordingCost, ARecordedStepTakesAtMostThirtyPercentLonger) {
  (void)seconds(false);
  double alone = INFINITY, recorded = INFINITY;
  for (int round = 0; round < rounds; ++round) {
    alone = std::min(alone, seconds(false));
    recorded = std::min(recorded, seconds(true));
  }
  std::printf("recorded %.4f of a step of %.3f ms\n", recorded / alone, alone * 1e3);
  EXPECT_LE(recorded, 1.30 * alone);
}

// Every scope and verb costs a branch or two if nothing records.
TEST_F(RecordingCost, AStepThatNobodyRecordsPaysAtMostOnePercent) {
  constexpr int many = 1'000'000;
  std::size_t places = 0;
  {
    Recording recording(*backend);
    training->step();
    recording.stop();
    places = recording.activities().size() + recording.scopes().size();
  }
  double silent = INFINITY, step = INFINITY;
  for (int round = 0; round < 5; ++round) {
    const double begun = thread_cpu_seconds();
    for (int i = 0; i < many; ++i) const Scope scope("silent");
    silent = std::min(silent, (thread_cpu_seconds() - begun) / many);
    step = std::min(step, seconds(false));
  }
  std::printf("%zu places, %.4f %% of a step\n", places,
              100 * silent * static_cast<double>(places) / step);
  EXPECT_GT(places, 50u);
  EXPECT_LE(silent * static_cast<double>(places), 0.01 * step);
}

}  // namespace
}  // namespace holdfast::gpt_train
