// SPDX-License-Identifier: Apache-2.0
// Symptoms that show beside another case of the same run.
#include <gmock/gmock.h>

#include "gate/testing/test_findings.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using toy::gpu_results;
using toy::names;
using toy::seen_in;

TEST(Detectors, HoldALoopAgainstItsIsolatedStep) {
  Results results = gpu_results();
  results.cases[0].id = "toy/loop/n:64/steps:100/f64";
  results.cases[1].id = "toy/rk4_step/n:64/f64";
  results.cases[0].variants["optimized"].metrics["time_s"] = toy::timed("time", 1.2e-1);
  const auto found = seen_in(results);
  ASSERT_THAT(names(found), ElementsAre("slow_loop"));
  EXPECT_THAT(found[0].sentence,
              AllOf(HasSubstr("2 times the isolated step"),
                    HasSubstr("1.2 ms against 600 us of toy/rk4_step/n:64/f64")));
  results.cases[0].variants["optimized"].metrics["time_s"] = toy::timed("time", 8e-2);
  EXPECT_THAT(names(seen_in(results)), IsEmpty());
}

TEST(Detectors, HoldAGradientAgainstItsForwardPass) {
  Results results = gpu_results();
  results.cases[0].id = "toy/render_grad/fft:128/f64";
  results.cases[1].id = "toy/render/fft:128/f64";
  results.cases[0].variants["optimized"].metrics["time_s"] = toy::timed("time", 2.4e-2);
  const auto found = seen_in(results);
  ASSERT_THAT(names(found), ElementsAre("slow_gradient"));
  EXPECT_THAT(found[0].sentence, HasSubstr("40 times the forward pass (24 ms against 600 us"));
}

}  // namespace
}  // namespace holdfast::gate
