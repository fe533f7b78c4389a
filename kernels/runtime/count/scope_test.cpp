// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/scope.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <thread>

#include "runtime/backend/recording.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::Field;

struct ScopeTest : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_F(ScopeTest, ScopesAreKeptInTheOrderInWhichTheyOpenedWithTheirParents) {
  Recording recording(*backend);
  {
    const Scope step("step");
    { const Scope project("project"); }
    const Scope rhs("rhs");
    const Scope gradient("gradient");
  }
  { const Scope step("step"); }
  recording.stop();
  const auto& scopes = recording.scopes();
  EXPECT_THAT(scopes,
              ElementsAre(Field(&ScopeRecord::name, "step"), Field(&ScopeRecord::name, "project"),
                          Field(&ScopeRecord::name, "rhs"), Field(&ScopeRecord::name, "gradient"),
                          Field(&ScopeRecord::name, "step")));
  std::vector<int> parents, depths;
  for (const auto& scope : scopes) {
    parents.push_back(scope.parent);
    depths.push_back(scope.depth);
  }
  EXPECT_THAT(parents, ElementsAre(-1, 0, 0, 2, -1));
  EXPECT_THAT(depths, ElementsAre(0, 1, 1, 2, 0));
}

TEST_F(ScopeTest, AnInnerScopeLiesWithinItsOuter) {
  Recording recording(*backend);
  {
    const Scope outer("step");
    const Scope inner("project");
  }
  const auto &outer = recording.scopes()[0], &inner = recording.scopes()[1];
  EXPECT_LE(0, outer.begin);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.begin, inner.end);
  EXPECT_LE(inner.end, outer.end);
}

TEST_F(ScopeTest, NothingIsKeptOfAScopeThatWasOpenBefore) {
  const Scope early("early");
  Recording recording(*backend);
  { const Scope own("own"); }
  EXPECT_THAT(recording.scopes(), ElementsAre(Field(&ScopeRecord::name, "own")));
  EXPECT_EQ(recording.scopes()[0].parent, -1);
}

TEST_F(ScopeTest, AScopeThatOutlivesItsRecordingEndsWithItAndLeavesTheNextAlone) {
  std::optional<Recording> first(std::in_place, *backend);
  const Scope late("late");
  first->stop();
  EXPECT_GE(first->scopes().at(0).end, first->scopes()[0].begin);
  const auto end = first->scopes()[0].end;
  Recording second(*backend);
  { const Scope own("own"); }
  EXPECT_THAT(second.scopes(), ElementsAre(Field(&ScopeRecord::name, "own")));
  EXPECT_EQ(first->scopes()[0].end, end);
}

TEST_F(ScopeTest, AScopeOfAThreadThatWorksForNobodyIsNotKept) {
  Recording recording(*backend);
  std::thread([] { const Scope other("other"); }).join();
  recording.stop();
  EXPECT_TRUE(recording.scopes().empty());
  EXPECT_TRUE(recording.workers().empty());
}

TEST_F(ScopeTest, AThreadHasAtMostOneRecording) {
  const auto other = open_backend("host");
  const Recording recording(*backend);
  EXPECT_THROW(Recording second(*other), Error);
}

TEST(ScopePath, NamesTheOpenScopesOfThisThreadOutermostFirst) {
  EXPECT_EQ(scope_path(), "");
  const Scope step("rk4_step");
  {
    const Scope rhs("rhs");
    EXPECT_EQ(scope_path(), "rk4_step/rhs");
  }
  EXPECT_EQ(scope_path(), "rk4_step");
}

}  // namespace
}  // namespace holdfast
