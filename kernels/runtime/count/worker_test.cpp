// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/worker.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/backend/recording.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(const std::vector<ScopeRecord>& scopes) {
  std::vector<std::string> found;
  for (const ScopeRecord& scope : scopes) found.push_back(scope.name);
  return found;
}

// On a thread that works for the calling one, and then ends.
template <class Work>
void work(std::string_view name, const Work& does) {
  std::thread([&, employer = Employer::here()] {
    const Worker worker(employer, name);
    does();
  }).join();
}

struct WorkerTest : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_F(WorkerTest, ItsScopesAreKeptOnATrackOfTheirOwn) {
  Recording recording(*backend);
  const Scope step("step");
  work("fetch", [] {
    const Scope batch("batch");
    const Scope round("round");
  });
  recording.stop();
  EXPECT_THAT(names(recording.scopes()), ElementsAre("step"));
  ASSERT_EQ(recording.workers().size(), 1);
  const WorkerTrack& track = recording.workers()[0];
  EXPECT_EQ(track.name, "fetch");
  EXPECT_THAT(names(track.scopes), ElementsAre("batch", "round"));
  EXPECT_EQ(track.scopes[0].depth, 0);
  EXPECT_EQ(track.scopes[1].parent, 0);
  EXPECT_LE(recording.scopes()[0].begin, track.scopes[0].begin);
  EXPECT_LE(track.scopes[0].begin, track.scopes[1].begin);
  EXPECT_LE(track.scopes[1].end, track.scopes[0].end);
  EXPECT_LE(track.scopes[0].end, recording.scopes()[0].end);
}

TEST_F(WorkerTest, ThatBeganBeforeARecordingTakesPartInItAndInTheNext) {
  std::optional<Recording> first, second;
  std::latch ready(2), recorded(2), worked(2), again(2), done(2);
  std::thread thread([&, employer = Employer::here()] {
    const Worker worker(employer, "fetch");
    { const Scope unheard("unheard"); }
    ready.arrive_and_wait();
    recorded.arrive_and_wait();
    { const Scope one("one"); }
    const Scope across("across");
    worked.arrive_and_wait();
    again.arrive_and_wait();
    const Scope two("two");
    done.arrive_and_wait();
  });
  const auto next = [&](std::optional<Recording>& recording, std::latch& begun, std::latch& over) {
    recording.emplace(*backend);
    begun.arrive_and_wait();
    over.arrive_and_wait();
  };
  ready.arrive_and_wait();
  next(first, recorded, worked);
  first->stop();
  next(second, again, done);
  thread.join();
  second->stop();
  EXPECT_THAT(names(first->workers().at(0).scopes), ElementsAre("one", "across"));
  EXPECT_GE(first->workers()[0].scopes[1].end, first->workers()[0].scopes[1].begin);
  EXPECT_THAT(names(second->workers().at(0).scopes), ElementsAre("two"));
}

TEST_F(WorkerTest, IsRecordedByNobodyWhereItsEmployerDoesNotRecord) {
  const auto employer = Employer::here();
  std::thread([&] {
    const auto own = open_backend("host");
    Recording recording(*own);
    std::thread([&] {
      const Worker worker(employer, "fetch");
      const Scope scope("batch");
    }).join();
    recording.stop();
    EXPECT_THAT(recording.workers(), IsEmpty());
  }).join();
}

TEST_F(WorkerTest, OfOneThreadTwoNamesAreTwoTracksAndOneNameIsOne) {
  Recording recording(*backend);
  std::thread([employer = Employer::here()] {
    for (const char* name : {"fetch", "write", "fetch"}) {
      const Worker worker(employer, name);
      const Scope scope("once");
    }
  }).join();
  recording.stop();
  ASSERT_EQ(recording.workers().size(), 2);
  EXPECT_EQ(recording.workers()[0].scopes.size(), 2);
  EXPECT_EQ(recording.workers()[1].scopes.size(), 1);
}

TEST_F(WorkerTest, ScopesBeyondTheLimitAreCounted) {
  Recording recording(*backend, {.activities = 2});
  work("fetch", [] {
    for (int i = 0; i < 5; ++i) const Scope scope("batch");
  });
  recording.stop();
  EXPECT_EQ(recording.workers().at(0).scopes.size(), 2);
  EXPECT_EQ(recording.dropped(), 3);
}

// Many workers at once while recordings begin and end, to expose data races (preset tsan).
TEST_F(WorkerTest, ManyTakePartWhileRecordingsBeginAndEnd) {
  std::atomic<bool> over = false;
  std::atomic<int> opened = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, employer = Employer::here()] {
      const Worker worker(employer, "many");
      while (!over) {
        const Scope outer("outer");
        const Scope inner("inner");
        ++opened;
      }
    });
  std::size_t kept = 0;
  for (int i = 0; i < 50; ++i) {
    Recording recording(*backend);
    for (const int before = opened; opened < before + 8;) std::this_thread::yield();
    recording.stop();
    for (const WorkerTrack& track : recording.workers()) {
      for (const ScopeRecord& scope : track.scopes) EXPECT_GE(scope.end, scope.begin);
      kept += track.scopes.size();
    }
  }
  over = true;
  EXPECT_GE(kept, 50u * 2);  // of eight times that number, some began within
}

}  // namespace
}  // namespace holdfast
