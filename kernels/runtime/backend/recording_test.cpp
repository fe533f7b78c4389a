// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/recording.hpp"

#include <gmock/gmock.h>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct HostRecording : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
  Ledger& ledger = backend->ledger;
};

std::vector<std::string> told(const Recording& recording) {
  std::vector<std::string> result;
  for (const auto& activity : recording.activities())
    result.push_back(text(name(activity.kind), " ", activity.name, " ", activity.bytes));
  return result;
}

TEST_F(HostRecording, TellsMemoryBySiteAndOverTime) {
  Recording recording(*backend);
  {
    const Buffer<double> state(*backend, 10, "state");
    const Buffer<double> scratch(*backend, 5, "scratch");
  }
  recording.stop();
  EXPECT_THAT(told(recording), ElementsAre("allocate state 80", "allocate scratch 40",
                                           "release scratch 40", "release state 80"));
  std::vector<std::int64_t> live;
  for (const auto& activity : recording.activities()) live.push_back(activity.live_bytes);
  EXPECT_THAT(live, ElementsAre(80, 120, 80, 0));
}

TEST_F(HostRecording, TellsLibraryCallsByTheirProblem) {
  const Buffer<double> x(*backend, 1000, "x");
  Blas blas(*backend);
  Recording recording(*backend);
  Transform transform(*backend,
                      {.kind = Fft::Kind::complex_forward, .rows = 8, .columns = 4, .batch = 3});
  transform(x.data(), x.data());
  blas({.m = 2, .n = 3, .k = 4, .lda = 4, .ldb = 3, .ldc = 3}, x.data(), x.data() + 100,
       x.data() + 200);
  recording.stop();
  EXPECT_THAT(told(recording), ElementsAre("plan fft complex_forward [3, 8, 4] f64 0",
                                           "library fft complex_forward [3, 8, 4] f64 0",
                                           "library gemm [1, 2, 4, 3] f64 0"));
}

TEST_F(HostRecording, HasNoDeviceAndMissesNone) {
  Recording recording(*backend);
  { const Buffer<double> x(*backend, 10, "x"); }
  recording.stop();
  EXPECT_TRUE(recording.slices().empty());
  EXPECT_FALSE(recording.device_counts());
  EXPECT_FALSE(recording.device_silence());
}

TEST_F(HostRecording, AnActivityKnowsItsInnermostScopeAndPhase) {
  Recording recording(*backend);
  { const Buffer<int> outside(*backend, 1, "outside"); }
  ledger.enter(Ledger::Phase::steady, {.may_allocate = true});
  {
    const Scope step("step"), rhs("rhs");
    const Buffer<int> inside(*backend, 1, "inside");
  }
  const auto& activities = recording.activities();
  EXPECT_EQ(activities[0].scope, -1);
  EXPECT_FALSE(activities[0].steady);
  EXPECT_EQ(recording.scopes().at(static_cast<std::size_t>(activities[2].scope)).name, "rhs");
  EXPECT_TRUE(activities[2].steady);
}

TEST_F(HostRecording, AnActivityLiesWithinItsScopeOnOneClock) {
  Recording recording(*backend);
  const auto before = recording.now();
  {
    const Scope step("step");
    const Buffer<int> inside(*backend, 1, "inside");
  }
  const auto& activity = recording.activities()[0];
  const auto& scope = recording.scopes()[0];
  EXPECT_LE(before, scope.begin);
  EXPECT_LE(scope.begin, activity.begin);
  EXPECT_LE(activity.begin, activity.end);
  EXPECT_LE(activity.end, scope.end);
  EXPECT_LE(scope.end, recording.now());
}

TEST_F(HostRecording, WhatThrewIsNotKept) {
  Recording recording(*backend);
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THROW(Buffer<int>(*backend, 1, "forbidden"), Error);
  EXPECT_THROW(Transform(*backend, {.columns = 8}), Error);
  EXPECT_TRUE(recording.activities().empty());
  EXPECT_EQ(recording.dropped(), 0);
}

TEST_F(HostRecording, WhatIsReleasedWhileAnErrorUnwindsIsKept) {
  Recording recording(*backend);
  (void)error_of([&] {
    const Buffer<int> held(*backend, 1, "held");
    throw Error(Fault::device, "something else");
  });
  EXPECT_THAT(told(recording), ElementsAre("allocate held 4", "release held 4"));
}

TEST_F(HostRecording, BeyondItsLimitNothingMoreIsKeptButCounted) {
  Recording recording(*backend, {.activities = 3});
  for (int i = 0; i < 5; ++i) const Buffer<int> x(*backend, 1, "x");
  { const Scope late("late"); }
  recording.stop();
  EXPECT_EQ(recording.activities().size(), 3);
  EXPECT_EQ(recording.dropped(), 8);
  EXPECT_TRUE(recording.scopes().empty());
}

TEST_F(HostRecording, NothingIsKeptBeforeOrAfterIt) {
  { const Buffer<int> early(*backend, 1, "early"); }
  Recording recording(*backend);
  { const Buffer<int> own(*backend, 1, "own"); }
  recording.stop();
  { const Buffer<int> late(*backend, 1, "late"); }
  EXPECT_THAT(told(recording), ElementsAre("allocate own 4", "release own 4"));
}

TEST_F(HostRecording, ABackendHasAtMostOne) {
  const Recording recording(*backend);
  EXPECT_THAT(refusal_of([&] { const Recording second(*backend); }, Fault::broken_rule),
              HasSubstr("backend host is being recorded already"));
  const Scope scope("still");  // the refused one left the first listening
  EXPECT_EQ(recording.scopes().size(), 1);
}

TEST_F(HostRecording, ABackendCanBeRecordedAgain) {
  { const Recording first(*backend); }
  Recording second(*backend);
  const Buffer<int> own(*backend, 1, "own");
  EXPECT_THAT(told(second), ElementsAre("allocate own 4"));
}

TEST_F(HostRecording, DoesNotChangeWhatIsCounted) {
  const auto work = [](Backend& on) {
    const Buffer<double> x(on, 64, "x");
    Transform transform(on, {.kind = Fft::Kind::complex_forward, .columns = 8});
    transform(x.data(), x.data());
    return on.ledger.counts;
  };
  const auto alone = work(*open_backend("host"));
  Recording recording(*backend);
  const auto recorded = work(*backend);
  EXPECT_TRUE(recorded == alone);
}

}  // namespace
}  // namespace holdfast
