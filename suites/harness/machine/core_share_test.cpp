// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/core_share.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

using testing::Each;
using testing::Gt;
using testing::SizeIs;

// Cores with scripted probe results.
struct Cores {
  std::vector<double> now;
  CoreShare share() {
    return CoreShare([this] { return now; });
  }
};

TEST(CoreShare, ACoreThatIsCrowdedByAQuarterMoreThanTheBestIsShared) {
  Cores cores{.now = {0.47, 0.47}};
  CoreShare share = cores.share();
  EXPECT_FALSE(share.shared());
  cores.now = {0.52, 0.57};  // steps of a tenth
  EXPECT_FALSE(share.shared());
  cores.now = {0.47, 0.70};
  EXPECT_TRUE(share.shared());
  cores.now = {0.47, 0.47};
  EXPECT_FALSE(share.shared());
}

TEST(CoreShare, WhatBeginsBesideSomebodyIsKnownFromTheFirstLookAtAFreeCoreOn) {
  Cores cores{.now = {0.70, 0.72}};
  CoreShare share = cores.share();
  EXPECT_FALSE(share.shared());
  cores.now = {0.47, 0.70};
  EXPECT_TRUE(share.shared());
}

TEST(CoreShare, AnInterruptedMultiplicationIsNoBetterCore) {
  Cores cores{.now = {0.47}};
  CoreShare share = cores.share();
  for (int i = 0; i < 99; ++i) (void)share.shared();
  cores.now = {0.1};
  EXPECT_FALSE(share.shared());
  cores.now = {0.47};
  EXPECT_FALSE(share.shared());
}

TEST(CoreShare, ThatEndsInNoneOfThreeCasesLastsUntilOneFindsFreeCores) {
  CoreShare share = Cores{}.share();
  share.note(true);
  share.note(true);
  EXPECT_FALSE(share.lasting());
  share.note(true);
  EXPECT_TRUE(share.lasting());
  share.note(false);
  EXPECT_FALSE(share.lasting());
}

TEST(CoreShare, EveryThreadOfTheTeamLooks) {
  EXPECT_THAT(crowding(), SizeIs(host_limits().threads));
  EXPECT_THAT(crowding(), Each(Gt(0)));
}

// Within a team, another one has a single thread.
TEST(CoreShare, AThreadThatDoesNotStartDoesNotLook) {
  std::vector<double> found;
#pragma omp parallel num_threads(2)
#pragma omp single
  found = crowding();
  EXPECT_THAT(found, SizeIs(1));
  EXPECT_THAT(found, Each(Gt(0)));
}

}  // namespace
}  // namespace holdfast
