// SPDX-License-Identifier: Apache-2.0
#include "runtime/scope.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/error.hpp"

namespace holdfast {
namespace {

TEST(Scope, NestedScopesAreRecordedInnermostFirst) {
  const ScopeRecording recording;
  {
    const Scope outer("step");
    const Scope inner("project");
  }
  ASSERT_EQ(recording.records().size(), 2u);
  EXPECT_EQ(recording.records()[0].name, "project");
  EXPECT_EQ(recording.records()[0].depth, 1);
  EXPECT_EQ(recording.records()[1].name, "step");
  EXPECT_EQ(recording.records()[1].depth, 0);
}

TEST(Scope, AnInnerScopeLiesWithinItsOuter) {
  const ScopeRecording recording;
  {
    const Scope outer("step");
    const Scope inner("project");
  }
  const auto& inner = recording.records()[0];
  const auto& outer = recording.records()[1];
  EXPECT_LE(0, outer.begin);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.begin, inner.end);
  EXPECT_LE(inner.end, outer.end);
}

TEST(Scope, NothingIsRecordedBeforeARecordingBegan) {
  { const Scope early("early"); }
  const ScopeRecording recording;
  EXPECT_TRUE(recording.records().empty());
}

TEST(Scope, AScopeThatOutlivesItsRecordingIsDropped) {
  auto first = std::make_unique<ScopeRecording>();
  const auto late = std::make_unique<Scope>("late");
  first.reset();
  const ScopeRecording second;
  { const Scope own("own"); }
  ASSERT_EQ(second.records().size(), 1u);
  EXPECT_EQ(second.records()[0].name, "own");
}

TEST(Scope, AThreadHasAtMostOneRecording) {
  const ScopeRecording recording;
  EXPECT_THROW(ScopeRecording(), Error);
}

}  // namespace
}  // namespace holdfast
