// SPDX-License-Identifier: Apache-2.0
// A regression planted into a decode of clusterless_kde, and the real commands that must notice and
// name the cause.
#include "planted/gate.hpp"

namespace holdfast::planted {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(PlantedDecodesOnHost, AreRightAsBuilt) {
  EXPECT_THAT(judged_on_host(PLANTED_DECODES_BINARY, "").words, Not(HasSubstr("WRONG")));
}

TEST(PlantedDecodesOnHost, AStepThatAnswersFromMemoryWhileItIsTimedIsWrong) {
  expect_said(judged_on_host(PLANTED_DECODES_BINARY, "remembers"), 1,
              {"WRONG +planted_decodes/decode/size:small/data:profile/f32",
               "verified again after the timed section, the optimized variant is wrong "
               "by .*: a step must do all of its work whenever it is called"});
}

}  // namespace
}  // namespace holdfast::planted
