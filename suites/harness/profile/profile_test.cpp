// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/profile.hpp"

#include <gmock/gmock.h>

#include "formats/schema_check.hpp"
#include "harness/profile/profile_writer.hpp"
#include "harness/testing/synthetic.hpp"

namespace holdfast {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using Kind = Activity::Kind;

// Two steps of 10 us: 6 us of "wide", 1 us of nothing, 2 us of "narrow", 1 us of nothing.
Synthetic two_steps() {
  Synthetic device;
  for (const double begin : {100 * us, 110 * us})
    device.step([&] {
      device.kernel("wide", begin, begin + 6 * us);
      device.kernel("narrow", begin + 7 * us, begin + 9 * us);
    });
  return device;
}

TEST(DeviceSteps, LastFromTheirFirstWorkToThatOfTheNext) {
  const Profile profile = analyse(two_steps().data);
  EXPECT_THAT(profile.step_seconds,
              ElementsAre(DoubleNear(10 * us, 1e-12), DoubleNear(9 * us, 1e-12)));
}

TEST(DeviceSteps, AreBusyWhileSomethingRuns) {
  EXPECT_NEAR(*analyse(two_steps().data).busy_fraction, 16. / 19, 1e-9);
}

TEST(DeviceSteps, AreNotTwiceAsBusyWhereWorkOverlaps) {
  Synthetic device;
  device.step([&] {
    device.kernel("a", 0, 10 * us);
    device.kernel("b", 5 * us, 10 * us);
  });
  EXPECT_NEAR(*analyse(device.data).busy_fraction, 1, 1e-9);
}

TEST(DeviceSteps, AreAsManyThoughACopyForTheNextBeginsEarly) {
  Synthetic device;
  device.step([&] {
    device.kernel("a", 0, 2 * us);
    device.kernel("b", 3 * us, 4 * us);
  });
  device.step([&] {
    device.slice(Kind::upload, "upload", us, 2 * us);
    device.kernel("a", 5 * us, 6 * us);
  });
  EXPECT_THAT(analyse(device.data).step_seconds,
              ElementsAre(DoubleNear(us, 1e-12), DoubleNear(5 * us, 1e-12)));
}

TEST(Gaps, AreNamedByWhatEndsAndWhatBegins) {
  const Profile profile = analyse(two_steps().data);
  ASSERT_EQ(profile.gaps.size(), 3);
  EXPECT_NEAR(profile.gaps[0].seconds, us, 1e-12);
  EXPECT_NEAR(profile.gaps[0].at, 106 * us, 1e-12);
  EXPECT_EQ(profile.gaps[0].after, "wide");
  EXPECT_EQ(profile.gaps[0].before, "narrow");
}

TEST(Gaps, FollowWhatEndsLastAndNotWhatBeganLast) {
  Synthetic device;
  device.step([&] {
    device.kernel("long", 0, 10 * us);
    device.slice(Kind::upload, "upload", us, 2 * us);
    device.kernel("next", 12 * us, 13 * us);
  });
  const auto gaps = analyse(device.data).gaps;
  ASSERT_EQ(gaps.size(), 1);
  EXPECT_EQ(gaps[0].after, "long");
  EXPECT_NEAR(gaps[0].seconds, 2 * us, 1e-12);
}

TEST(Gaps, BetweenStepsBelongToThem) {
  const auto gaps = analyse(two_steps().data).gaps;
  EXPECT_EQ(
      std::count_if(gaps.begin(), gaps.end(), [](const Gap& gap) { return gap.after == "narrow"; }),
      1);
}

TEST(Gaps, BetweenWindowsAreNone) {
  Synthetic device;
  device.step([&] { device.kernel("a", 0, us); });
  device.data.windows.push_back({.first_step = 100});
  device.step([&] { device.kernel("a", 1, 1 + us); });
  const Profile profile = analyse(device.data);
  EXPECT_TRUE(profile.gaps.empty());
  EXPECT_NEAR(*profile.busy_fraction, 1, 1e-9);
}

TEST(Gaps, AreTheTenLongest) {
  Synthetic device;
  device.step([&] {
    for (int i = 0; i < 20; ++i) device.kernel("a", i * i * us, i * i * us + us);
  });
  const auto gaps = analyse(device.data).gaps;
  ASSERT_EQ(gaps.size(), 10);
  EXPECT_NEAR(gaps.front().seconds, 36 * us, 1e-12);
}

TEST(Operations, AreARowPerNameAndShape) {
  Synthetic device;
  device.step([&] {
    device.kernel("a", 0, us, {.grid = {1}, .block = {32}});
    device.kernel("a", us, 2 * us, {.grid = {2}, .block = {32}});
    device.kernel("a", 2 * us, 3 * us, {.grid = {2}, .block = {32}});
  });
  const Profile profile = analyse(device.data);
  ASSERT_EQ(profile.operations.size(), 2);
  EXPECT_EQ(profile.operations[0].count, 2);
  EXPECT_EQ(profile.top_operation, "a");
  EXPECT_NEAR(*profile.top_fraction, 1, 1e-9);
}

TEST(Operations, AreSortedByTime) {
  Synthetic device;
  device.step([&] {
    device.kernel("often", 0, us);
    device.kernel("often", us, 2 * us);
    device.kernel("long", 2 * us, 5 * us);
  });
  const Profile profile = analyse(device.data);
  EXPECT_EQ(profile.operations[0].name, "long");
  EXPECT_NEAR(*profile.operations[0].fraction, 0.6, 1e-9);
}

TEST(Operations, OutsideOfProfiledStepsDoNotCount) {
  Synthetic device;
  device.kernel("warm-up", 0, us);
  device.step([&] { device.kernel("a", us, 2 * us); });
  device.slice(Kind::download, "download", 2 * us, 3 * us);
  const Profile profile = analyse(device.data);
  ASSERT_EQ(profile.operations.size(), 1);
  EXPECT_EQ(profile.operations[0].name, "a");
}

TEST(Operations, OfADeviceThatDoesNotExecuteAreCountedAndNotTimed) {
  Synthetic device(false);
  device.step([&] {
    device.kernel("a", 0, 0);
    device.kernel("b", 0, 0);
    device.kernel("b", 0, 0);
  });
  const Profile profile = analyse(device.data);
  EXPECT_EQ(profile.clock, "none");
  EXPECT_TRUE(profile.step_seconds.empty());
  EXPECT_EQ(profile.operations[0].name, "b");
  EXPECT_FALSE(profile.operations[0].seconds.has_value());
  EXPECT_FALSE(profile.top_operation.has_value());
}

TEST(Operations, HaveTheKindOfTheirKernelOrLibrary) {
  Synthetic device;
  device.function("scatter_edges").kind = KernelKind::scatter;
  device.step([&] {
    device.kernel("scatter_edges", 0, us);
    device.slice(Kind::library, "gemm [6, 48, 49, 49] f64", us, 2 * us);
    device.slice(Kind::library, "fft [128, 128]", 2 * us, 3 * us);
    device.slice(Kind::fill, "fill", 3 * us, 4 * us);
  });
  std::vector<std::string> kinds;
  for (const Operation& row : analyse(device.data).operations) kinds.push_back(row.kind);
  EXPECT_THAT(kinds, testing::UnorderedElementsAre("scatter", "gemm", "fft", "fill"));
}

// 70 registers: 2304 per warp, 28 resident warps, one block of 16; NVIDIA's occupancy calculator
// says 25 % as well.
TEST(Fit, SaysOccupancyAndWaves) {
  const Function function = {.registers = 70, .shared_bytes = 26624};
  const KernelFit kernel = fit(architecture(90), function, {.grid = {2, 4, 33}, .block = {512}});
  EXPECT_DOUBLE_EQ(kernel.occupancy, 0.25);
  EXPECT_DOUBLE_EQ(kernel.waves, 2);
}

// In 228 KiB of shared memory two blocks of 100 KiB fit: 4 warps of 64.
TEST(Fit, CountsTheSharedMemoryThatALaunchAsksFor) {
  const KernelFit kernel = fit(architecture(90), {.registers = 32},
                               {.grid = {2}, .block = {64}, .shared_bytes = 100 << 10});
  EXPECT_DOUBLE_EQ(kernel.occupancy, 4. / 64);
}

TEST(Scopes, FormATreeWithTheTimeThatIsTheirOwn) {
  Synthetic device;
  for (int i = 0; i < 2; ++i)
    device.step([&] {
      device.open("rk4");
      device.kernel("a", 0, us);
      device.open("rhs");
      device.kernel("b", us, 2 * us);
      device.kernel("b", 2 * us, 3 * us);
      device.close();
      device.close();
    });
  const auto scopes = analyse(device.data).scopes;
  ASSERT_EQ(scopes.size(), 2);
  EXPECT_EQ(scopes[0].path, "rk4");
  EXPECT_EQ(scopes[1].path, "rk4/rhs");
  EXPECT_EQ(scopes[1].depth, 1);
  EXPECT_EQ(scopes[0].count, 2);
  EXPECT_NEAR(scopes[0].seconds, 6 * us, 1e-12);
  EXPECT_NEAR(scopes[0].self_seconds, 2 * us, 1e-12);
  EXPECT_EQ(scopes[0].launches, 6);
  EXPECT_EQ(scopes[1].launches, 4);
  EXPECT_NEAR(*scopes[1].fraction, 4. / 6, 1e-9);
}

TEST(Scopes, OfAStepAreItsOwnThoughOneIsOpenAroundIt) {
  Synthetic device;
  device.open("run");
  device.step([&] {
    device.open("rhs");
    device.kernel("a", 0, us);
    device.close();
  });
  device.close();
  const auto scopes = analyse(device.data).scopes;
  ASSERT_EQ(scopes.size(), 1);
  EXPECT_EQ(scopes[0].path, "run/rhs");
  EXPECT_NEAR(scopes[0].self_seconds, us, 1e-12);
  EXPECT_EQ(scopes[0].launches, 1);
}

TEST(Scopes, CountEachNodeOfAReplayedGraph) {
  Synthetic device;
  device.step([&] {
    device.open("loop");
    (void)device.verb(Kind::replay, "replay");
    for (int i = 0; i < 3; ++i) device.enqueue(Kind::kernel, "node", i * us, i * us + us);
    device.close();
  });
  EXPECT_EQ(analyse(device.data).scopes[0].launches, 3);
}

TEST(Scopes, CountKernelsAndLibraryCallsAsLaunchesAndNoTransfer) {
  Synthetic device;
  device.step([&] {
    device.open("rhs");
    device.kernel("a", 0, us);
    device.slice(Kind::library, "gemm [1, 2, 3, 4] f64", us, 2 * us);
    device.slice(Kind::upload, "upload", 2 * us, 3 * us);
    device.slice(Kind::fill, "fill", 3 * us, 4 * us);
    device.close();
  });
  EXPECT_EQ(analyse(device.data).scopes[0].launches, 2);
}

TEST(Scopes, OfAReplayedGraphHaveTheTimeThatTheDeviceTells) {
  Synthetic device;
  std::vector<ScopeRecord>& scopes = device.data.recorded.scopes;
  device.step([&] {
    (void)device.verb(Kind::replay, "replay");
    device.open("forward");
    scopes.back().replayed = true;
    device.enqueue(Kind::kernel, "embed", 0, us).scope = 0;
    device.open("layer");
    scopes.back().replayed = true;
    device.enqueue(Kind::kernel, "attend", us, 4 * us).scope = 1;
    device.close();
    device.close();
  });
  const auto found = analyse(device.data).scopes;
  ASSERT_EQ(found.size(), 2);
  EXPECT_NEAR(found[0].seconds, 4 * us, 1e-12);
  EXPECT_NEAR(found[0].self_seconds, us, 1e-12);
  EXPECT_NEAR(found[1].seconds, 3 * us, 1e-12);
  EXPECT_EQ(found[0].launches, 2);
  EXPECT_EQ(found[1].launches, 1);
}

Synthetic recorded_on_host() {
  Synthetic host;
  host.data.architecture.reset();
  host.data.device = "host";
  return host;
}

TEST(HostOperations, AreScopesWithoutWhatIsInsideAndLibraryCalls) {
  Synthetic host = recorded_on_host();
  host.step([&] {
    host.open("rhs");
    host.now += 2 * us;
    host.open("project");
    host.verb(Kind::library, "gemm [1, 2, 3, 4] f64");
    host.now += 3 * us;
    host.close();
    host.close();
  });
  const Profile profile = analyse(host.data);
  EXPECT_EQ(profile.clock, "host");
  std::map<std::string, double> seconds;
  double sum = 0;
  for (const Operation& row : profile.operations) {
    seconds[row.name] = row.seconds->total;
    sum += *row.fraction;
  }
  EXPECT_NEAR(seconds.at("project"), 3 * us, 1e-12);
  EXPECT_NEAR(seconds.at("rhs"), 2 * us, 1e-12);
  EXPECT_NEAR(seconds.at("gemm [1, 2, 3, 4] f64"), us, 1e-12);
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(profile.top_operation, "project");
}

TEST(HostOperations, OfAStepWithoutScopesAreTheStep) {
  Synthetic host = recorded_on_host();
  host.step([&] { host.now += 5 * us; });
  const Profile profile = analyse(host.data);
  ASSERT_EQ(profile.operations.size(), 1);
  EXPECT_EQ(profile.operations[0].name, "step");
  EXPECT_NEAR(*profile.mean_step_seconds(), 5 * us, 1e-12);
}

TEST(Transfers, OfTheStepsAreSummedByDirection) {
  Synthetic device;
  device.slice(Kind::upload, "upload", 0, us).bytes = 1000;
  device.step([&] {
    device.slice(Kind::upload, "upload", us, 2 * us).bytes = 8;
    device.slice(Kind::upload, "upload", 2 * us, 4 * us).bytes = 16;
    device.slice(Kind::download, "download", 4 * us, 5 * us).bytes = 4;
  });
  const auto transfers = analyse(device.data).transfers;
  EXPECT_EQ(transfers.at("h2d").count, 2);
  EXPECT_EQ(transfers.at("h2d").bytes, 24);
  EXPECT_NEAR(*transfers.at("h2d").seconds, 3 * us, 1e-12);
  EXPECT_EQ(transfers.at("d2h").bytes, 4);
  EXPECT_EQ(transfers.at("d2d").count, 0);
}

TEST(MemoryOverTime, HasEachAllocationAndRelease) {
  Synthetic device;
  device.allocate("state", 100);
  device.allocate("scratch", 50);
  device.release("scratch", 50);
  const auto points = timeline(device.data.recorded.activities);
  ASSERT_EQ(points.size(), 3);
  EXPECT_EQ(points[1].bytes, 150);
  EXPECT_EQ(points[2].delta, -50);
}

TEST(MemoryOverTime, IsThinnedOutWithoutLosingThePeakOrTheEnds) {
  Synthetic device;
  for (int i = 0; i < 5000; ++i) {
    device.allocate("scratch", i == 2345 ? 999 : 1);
    device.release("scratch", i == 2345 ? 999 : 1);
  }
  const auto points = timeline(device.data.recorded.activities, 100);
  EXPECT_LE(points.size(), 100);
  EXPECT_GT(points.size(), 90);
  EXPECT_EQ(points.front().at, device.data.recorded.activities.front().end);
  EXPECT_EQ(points.back().at, device.data.recorded.activities.back().end);
  EXPECT_EQ(std::count_if(points.begin(), points.end(),
                          [](const MemoryPoint& point) { return point.bytes == 999; }),
            1);
  EXPECT_TRUE(
      std::is_sorted(points.begin(), points.end(),
                     [](const MemoryPoint& a, const MemoryPoint& b) { return a.at < b.at; }));
}

TEST(Finder, KnowsWhichStepAnActivityBelongsTo) {
  const Synthetic device = two_steps();
  const StepFinder finder(device.data.windows);
  EXPECT_EQ(finder.step_of(0), 0);
  EXPECT_EQ(finder.step_of(1), 0);
  EXPECT_EQ(finder.step_of(2), 1);
  EXPECT_EQ(finder.step_of(4), std::nullopt);
}

class Documents : public testing::Test {
 protected:
  static void obeys(const Profiled& data) {
    const auto root = schema("profile.schema.json");
    validate(profile_json(data, analyse(data), "toy.trace.json"), root, root, "");
  }
};

TEST_F(Documents, OfAnExecutedProfileObeyTheirSchema) {
  Synthetic device = two_steps();
  Compiled program = {.source_name = "toy.cu", .reason = "first use"};
  program.functions.push_back({.expression = "wide", .registers = 40});
  device.allocate("state", 10);
  device.verb(Kind::compile, "toy.cu").compiled = &program;
  device.data.recorded.device_counts.emplace();
  obeys(device.data);
}

TEST_F(Documents, OfADryProfileObeyTheirSchema) {
  Synthetic device(false);
  device.step([&] { device.kernel("a", 0, 0, {.grid = {7}, .block = {64}}); });
  obeys(device.data);
}

TEST_F(Documents, TellWhatAStepMustBring) {
  Synthetic device = two_steps();
  EXPECT_TRUE(profile_json(device.data, analyse(device.data), "")["overview"]["declared_h2d_bytes"]
                  .is_null());
  device.data.declared_upload_bytes = 48;
  EXPECT_EQ(profile_json(device.data, analyse(device.data), "")["overview"]["declared_h2d_bytes"],
            48);
  obeys(device.data);
}

TEST_F(Documents, OfAHostProfileObeyTheirSchema) {
  Synthetic host = recorded_on_host();
  host.step([&] { host.now += us; });
  obeys(host.data);
}

TEST_F(Documents, CountPerStepInWholeNumbersWhereTheyAre) {
  const Synthetic device = two_steps();
  const auto document = profile_json(device.data, analyse(device.data), "");
  EXPECT_EQ(document["overview"]["launches"].dump(), "2");
  Synthetic odd = two_steps();
  odd.data.counts.launches = 3;
  EXPECT_EQ(profile_json(odd.data, analyse(odd.data), "")["overview"]["launches"], 1.5);
  EXPECT_TRUE(document["trace"].is_null());
}

TEST_F(Documents, NameACompilationAndItsReason) {
  Synthetic device = two_steps();
  Compiled program = {.source_name = "toy.cu", .reason = "constant N: 1 -> 2"};
  Activity& activity = device.verb(Kind::compile, "toy.cu");
  activity.compiled = &program;
  activity.steady = true;
  const auto row = profile_json(device.data, analyse(device.data), "")["compiles"][0];
  EXPECT_EQ(row["reason"], "constant N: 1 -> 2");
  EXPECT_TRUE(row["steady"]);
}

TEST(Windows, TellTheirOwnMeanStepAndHowBusyTheDeviceWas) {
  Synthetic device;
  for (const double busy : {1., 0.5}) {
    device.data.windows.push_back({.seconds = 30 * us});
    for (int i = 0; i < 2; ++i)
      device.step([&] {
        const double begin = (busy == 1 ? 0 : 1) + 10 * i * us;
        device.kernel("a", begin, begin + 5 * us);
        device.kernel("b", begin + 5 * us, begin + 5 * us + 5 * busy * us);
        device.kernel("c", begin + 10 * us, begin + 10 * us);
      });
  }
  const Profile profile = analyse(device.data);
  ASSERT_EQ(profile.windows.size(), 2);
  for (const ProfiledWindow& window : profile.windows) {
    EXPECT_EQ(window.steps, 2);
    EXPECT_NEAR(*window.mean_step_seconds, 15 * us, 1e-12);
  }
  EXPECT_NEAR(*profile.windows[0].busy_fraction, 1, 1e-9);
  EXPECT_NEAR(*profile.windows[1].busy_fraction, 0.75, 1e-9);
}

// One step of 10 us: 1 us of nothing, then 2 us of nothing.
TEST_F(Documents, TellTheNumbersThatTheirNamesSay) {
  Synthetic device;
  device.step([&] {
    device.kernel("a", 0, us);
    device.kernel("a", 2 * us, 5 * us);
    device.slice(Kind::upload, "upload", 7 * us, 10 * us).bytes = 1200;
  });
  Compiled program = {.source_name = "toy.cu", .reason = "first use"};
  program.functions.push_back({.expression = "wide", .registers = 40, .spill_bytes = 8});
  program.functions.push_back({.expression = "narrow", .registers = 32, .spill_bytes = 4});
  program.seconds = {.trace = 1, .lower = 2, .compile = 3, .load = 4};
  device.verb(Kind::compile, "toy.cu").compiled = &program;
  device.data.recorded.device_counts = DeviceCounts{.kernels = 1,
                                                    .copied_bytes_h2d = 2,
                                                    .copied_bytes_d2h = 3,
                                                    .copied_bytes_d2d = 4,
                                                    .modules_loaded = 5,
                                                    .jit_runs = 6,
                                                    .memory_peak_bytes = 7};
  device.data.peak_bytes = 100;
  device.data.live_bytes = 60;
  const nlohmann::json told = profile_json(device.data, analyse(device.data), "");
  const auto near = [](const nlohmann::json& value, double expected) {
    EXPECT_NEAR(value.get<double>(), expected, 1e-9 * expected);
  };
  near(told["overview"]["busy_fraction"], 0.7);
  near(told["overview"]["idle_fraction"], 0.3);
  near(told["overview"]["max_gap_s"], 2 * us);
  EXPECT_EQ(told["overview"]["max_gap_between"], nlohmann::json({"a", "upload"}));
  const auto& kernel = told["ops"][0];
  near(kernel["total_s"], 4 * us);
  near(kernel["mean_s"], 2 * us);
  near(kernel["min_s"], us);
  near(kernel["max_s"], 3 * us);
  near(told["transfers"]["h2d"]["bytes_per_s"], 4e8);
  const auto& compilation = told["compiles"][0];
  EXPECT_EQ(compilation["registers_max"], 40);
  EXPECT_EQ(compilation["spill_bytes"], 12);
  EXPECT_EQ(compilation["trace_s"], 1);
  EXPECT_EQ(compilation["lower_s"], 2);
  EXPECT_EQ(compilation["compile_s"], 3);
  EXPECT_EQ(compilation["load_s"], 4);
  EXPECT_EQ(told["device_counts"], (nlohmann::json{{"kernels", 1},
                                                   {"copied_bytes_h2d", 2},
                                                   {"copied_bytes_d2h", 3},
                                                   {"copied_bytes_d2d", 4},
                                                   {"modules_loaded", 5},
                                                   {"jit_runs", 6},
                                                   {"memory_peak_bytes", 7}}));
  EXPECT_EQ(told["memory"]["peak_bytes"], 100);
  EXPECT_EQ(told["memory"]["live_bytes_end"], 60);
}

TEST(Overview, ForPeopleNamesStepOperationsAndMemory) {
  Synthetic device = two_steps();
  device.allocate("state", 4096);
  device.data.peak_by_site = {{"state", 4096}};
  const std::string words = profile_text(device.data, analyse(device.data));
  EXPECT_THAT(words, testing::HasSubstr("toy/count/n:1/f64 optimized on cuda"));
  EXPECT_THAT(words, testing::HasSubstr("9.5 us on average of 2, device busy 84.2 %, 2 launches"));
  EXPECT_THAT(words, testing::HasSubstr("4096 bytes at the peak, state 4096"));
  EXPECT_THAT(words, testing::HasSubstr("75.0 %  wide (fused), 6 us, occupancy"));
}

}  // namespace
}  // namespace holdfast
