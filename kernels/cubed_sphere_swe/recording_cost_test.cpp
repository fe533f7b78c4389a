// SPDX-License-Identifier: Apache-2.0
// The cost of recording a real step on host, relative to the same step unrecorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr int rounds = 120;

class RecordingCost : public testing::TestWithParam<Variant> {
 protected:
  double seconds(bool recorded) {
    std::optional<Recording> recording;
    if (recorded) recording.emplace(*backend);
    const auto begin = std::chrono::steady_clock::now();
    {
      const Scope scope("step");
      step->step();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::unique_ptr<Backend> backend = open_backend("host");
  std::unique_ptr<Computation> step = make_rk4_step(*backend, GetParam(), {.n = 48});
};
INSTANTIATE_TEST_SUITE_P(Variants, RecordingCost,
                         testing::Values(Variant::reference, Variant::optimized),
                         [](const auto& variant) {
                           return variant.param == Variant::reference ? "reference" : "optimized";
                         });

// Unrecorded, recorded, recorded, unrecorded: slow drift cancels. Other load only adds time, so the
// minimum of many is the step's own; the two unrecorded ones of each round show how well that
// holds.
TEST_P(RecordingCost, ARecordedStepTakesAtMostThirtyPercentLonger) {
  (void)seconds(false);  // the first touch of its memory
  double before = 1e9, after = 1e9, recorded = 1e9;
  for (int round = 0; round < rounds; ++round) {
    before = std::min(before, seconds(false));
    recorded = std::min({recorded, seconds(true), seconds(true)});
    after = std::min(after, seconds(false));
  }
  const double alone = std::min(before, after);
  std::printf("recorded %.4f, control %.4f of an unrecorded step of %.3f ms\n", recorded / alone,
              std::max(before, after) / alone, alone * 1e3);
  EXPECT_LE(recorded, 1.30 * alone);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
