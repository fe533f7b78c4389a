// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile_record.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/time.hpp"
#include "harness/profile/profile.hpp"
#include "harness/testing/toy.hpp"
#include "runtime/backend/recording.hpp"
#include "runtime/count/recorder.hpp"
#include "runtime/count/scope.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

// Each step opens a scope, and allocates in the warm-up.
Case scoped_case() {
  return toy_case([](Backend& backend, int step) {
    const Scope scope("count");
    if (step == 2) Buffer<double>(backend, 7, "warm");
  });
}

ProfiledSubject recorded(const Case& one, const ProfilePlan& plan = {.steps = 3}) {
  return record("toy", one, Variant::optimized, "host", plan,
                expected_result(std::get<Steps>(one.recipe), "host"));
}

TEST(Recorded, StepsAreThoseAfterTheWarmUp) {
  const ProfiledSubject subject = recorded(scoped_case());
  EXPECT_EQ(subject.data.warm_up.size(), 2);
  ASSERT_EQ(subject.data.windows.size(), 1);
  EXPECT_EQ(subject.data.windows[0].first_step, 0);
  EXPECT_EQ(subject.data.step_count(), 3);
  EXPECT_EQ(subject.computation->result(), std::vector<double>{50});
}

TEST(Recorded, StepsHoldTheirScopes) {
  const ProfiledSubject subject = recorded(scoped_case());
  const auto scopes = analyse(subject.data).scopes;
  ASSERT_EQ(scopes.size(), 1);
  EXPECT_EQ(scopes[0].path, "count");
  EXPECT_EQ(scopes[0].count, 3);
}

TEST(Recorded, AFirstCallEndsBeforeTheSecondStep) {
  const Case one = toy_case([](Backend&, int step) {
    const double begin = thread_cpu_seconds();
    while (step == 2 && thread_cpu_seconds() - begin < 0.02) continue;
  });
  const Profiled data = recorded(one).data;
  EXPECT_GT(data.first_call_seconds, 0);
  EXPECT_LE(data.first_call_seconds, data.warm_up.at(1).begin);
}

TEST(Recorded, MemoryIsOfTheWholeLife) {
  const ProfiledSubject subject = recorded(scoped_case());
  EXPECT_EQ(subject.data.peak_bytes, 64);
  EXPECT_EQ(subject.data.live_bytes, 8);
  const auto points = analyse(subject.data).timeline;
  ASSERT_EQ(points.size(), 3);
  EXPECT_EQ(points[0].site, "state");
  EXPECT_EQ(points[1].bytes, 64);
}

TEST(Recorded, WindowsBeginAtMultiplesOfTheirPeriod) {
  const ProfiledSubject subject = recorded(scoped_case(), {.steps = 2, .every = 5, .windows = 3});
  std::vector<int> first;
  for (const StepWindow& window : subject.data.windows) first.push_back(window.first_step);
  EXPECT_THAT(first, testing::ElementsAre(5, 10, 15));
  EXPECT_EQ(subject.computation->result(), std::vector<double>{10. * (2 + 17)});
}

TEST(Recorded, WindowsKeepNothingOfTheStepsBetweenThem) {
  const ProfiledSubject subject = recorded(scoped_case(), {.steps = 2, .every = 5, .windows = 3});
  EXPECT_EQ(subject.data.recorded.scopes.size(), 2 + 3 * 2);
  EXPECT_EQ(analyse(subject.data).scopes[0].count, 6);
}

TEST(Recorded, WindowsShareOneClock) {
  const ProfiledSubject subject = recorded(scoped_case(), {.steps = 1, .every = 3, .windows = 2});
  double before = 0;
  for (const ScopeRecord& scope : subject.data.recorded.scopes) {
    EXPECT_GE(scope.begin, before);
    EXPECT_GE(scope.end, scope.begin);
    before = scope.end;
  }
  for (const StepWindow& window : subject.data.windows) {
    const ProfiledStep& step = window.steps[0];
    const ScopeRecord& scope = subject.data.recorded.scopes.at(step.first_scope);
    EXPECT_LE(step.begin, scope.begin);
    EXPECT_GE(step.end, scope.end);
  }
}

TEST(Recorded, AWorkerOfSeveralWindowsHasOneTrackOnTheirClock) {
  std::atomic<int> batches = 0;
  const std::jthread fetches([&, employer = Employer::here()](const std::stop_token& over) {
    const Worker worker(employer, "fetch");
    for (; !over.stop_requested(); ++batches) {
      const Scope scope("batch");
      std::this_thread::yield();
    }
  });
  // Steps as long as two batches, so that one lies within.
  const Case one = toy_case([&](Backend&, int) {
    for (const int seen = batches; batches < seen + 2;) std::this_thread::yield();
  });
  const ProfiledSubject subject = recorded(one, {.steps = 1, .every = 3, .windows = 2});
  ASSERT_EQ(subject.data.recorded.workers.size(), 1);
  const std::vector<ScopeRecord>& scopes = subject.data.recorded.workers[0].scopes;
  EXPECT_TRUE(std::ranges::is_sorted(scopes, {}, &ScopeRecord::begin));
  for (const StepWindow& window : subject.data.windows)
    EXPECT_TRUE(std::ranges::any_of(scopes, [&](const ScopeRecord& scope) {
      return window.steps[0].begin <= scope.begin && scope.end <= window.steps[0].end;
    }));
}

TEST(Recorded, CountsAreOfTheProfiledStepsOfAllWindows) {
  const Case one = toy_case([](Backend& backend, int) { backend.ledger.counts.launches += 5; });
  const ProfiledSubject subject = recorded(one, {.steps = 2, .every = 5, .windows = 3});
  EXPECT_EQ(subject.data.counts.launches, 3 * 2 * 5);
}

TEST(Recorded, WhatWasDroppedIsThatOfAllRecordings) {
  const auto backend = open_backend("host");
  Recorded both;
  for (int i = 0; i < 2; ++i) {
    Recording recording(*backend, {.activities = 1});
    { const Buffer<int> x(*backend, 1, "x"); }
    recording.stop();
    append(both, recording, i);
  }
  EXPECT_EQ(both.activities.size(), 2);
  EXPECT_EQ(both.dropped, 2);
}

TEST(Recorded, WhatTheDeviceCountsIsAddedUpButForItsPeak) {
  const auto backend = open_backend("host");
  Recorded all;
  for (const std::int64_t peak : {900, 70, 800}) {
    Recording recording(*backend);
    // As a device's own counters would say.
    backend->ledger.recorder->device_counts = DeviceCounts{.kernels = 1,
                                                           .copied_bytes_h2d = 2,
                                                           .copied_bytes_d2h = 3,
                                                           .copied_bytes_d2d = 4,
                                                           .modules_loaded = 5,
                                                           .jit_runs = 6,
                                                           .memory_peak_bytes = peak};
    recording.stop();
    append(all, recording, 0);
  }
  const DeviceCounts& sum = all.device_counts.value();
  EXPECT_EQ(sum.kernels, 3);
  EXPECT_EQ(sum.copied_bytes_h2d, 6);
  EXPECT_EQ(sum.copied_bytes_d2h, 9);
  EXPECT_EQ(sum.copied_bytes_d2d, 12);
  EXPECT_EQ(sum.modules_loaded, 15);
  EXPECT_EQ(sum.jit_runs, 18);
  EXPECT_EQ(sum.memory_peak_bytes, 900);
}

#ifdef HOLDFAST_CUDA
// On a device that does not execute, whose slices are in order.
TEST(Recorded, WorkOfLaterWindowsBelongsToTheirOwnVerbsAndScopes) {
  struct Clearing : Computation {
    explicit Clearing(Backend& on) : backend(&on), x(on, 8, "x") {}
    void step() override {
      const std::string name = text("step ", ++steps);
      const Scope scope(name);
      backend->device->fill_zero(x.data(), x.bytes());
    }
    std::vector<double> result() override { return {}; }
    Backend* backend;
    Buffer<double> x;
    int steps = 0;
  };
  Case one = toy_case();
  std::get<Steps>(one.recipe).make = [](Backend& backend, Variant) {
    return std::make_unique<Clearing>(backend);
  };
  const Recorded all = record("toy", one, Variant::optimized, "cuda-dry:sm_90",
                              {.steps = 2, .every = 4, .windows = 2}, std::nullopt)
                           .data.recorded;
  std::vector<std::string> of_slices, of_verbs;
  for (const DeviceSlice& slice : all.slices) {
    const Activity& verb = all.activities.at(slice.activity);
    EXPECT_EQ(verb.kind, Activity::Kind::fill);
    of_slices.push_back(all.scopes.at(static_cast<std::size_t>(slice.scope)).name);
    of_verbs.push_back(all.scopes.at(static_cast<std::size_t>(verb.scope)).name);
  }
  // Two to warm up; of those after them the fifth and sixth, the ninth and tenth.
  EXPECT_THAT(of_slices,
              testing::ElementsAre("step 1", "step 2", "step 7", "step 8", "step 11", "step 12"));
  EXPECT_EQ(of_verbs, of_slices);
}

// After the first call, and before and after the steps of the window.
TEST(Recorded, TimesEndWhenTheDeviceIsDone) {
  struct Idle : Computation {
    void step() override {}
    std::vector<double> result() override { return {}; }
  };
  Case one = toy_case();
  std::get<Steps>(one.recipe).make = [](Backend&, Variant) { return std::make_unique<Idle>(); };
  const auto subject =
      record("toy", one, Variant::optimized, "cuda-dry:sm_90", {.steps = 2}, std::nullopt);
  EXPECT_EQ(std::ranges::count(subject.data.recorded.activities, Activity::Kind::synchronize,
                               &Activity::kind),
            3);
}
#endif

std::string complaint(const Case& one) {
  return refusal_of([&] { return recorded(one); }, Fault::broken_rule);
}

TEST(Recording, RefusesAResultThatIsWrong) {
  Case one = toy_case();
  std::get<Steps>(one.recipe).oracle.expected = [](int) { return std::vector{1.}; };
  EXPECT_THAT(complaint(one), HasSubstr("optimized variant is wrong"));
}

TEST(Recording, RefusesGoldenValuesThatAreMissed) {
  Case one = toy_case();
  std::get<Steps>(one.recipe).oracle.golden = [](Backend&, Variant) { return 1.; };
  EXPECT_THAT(complaint(one), HasSubstr("optimized variant is wrong by 1 "));
}

TEST(Recording, RefusesABrokenInvariant) {
  Case one = toy_case();
  std::get<Steps>(one.recipe).invariant = [](const auto&, const auto&) { return "it leaks"; };
  EXPECT_THAT(complaint(one), HasSubstr("it leaks"));
}

TEST(Recording, RefusesAllocationsInProfiledSteps) {
  EXPECT_THAT(complaint(toy_case([](Backend& backend, int step) {
                if (step > 2) Buffer<double>(backend, 1, "leak");
              })),
              HasSubstr("'leak'"));
}

TEST(Recording, LeavesTheOraclesScopesOut) {
  Case one = scoped_case();
  std::get<Steps>(one.recipe).oracle.golden = [](Backend&, Variant) {
    const Scope scope("oracle");
    return 0.;
  };
  for (const ScopeRecord& scope : recorded(one).data.recorded.scopes)
    EXPECT_EQ(scope.name, "count");
}

}  // namespace
}  // namespace holdfast
