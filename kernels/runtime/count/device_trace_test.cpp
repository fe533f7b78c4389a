// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/device_trace.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using Kind = Activity::Kind;
using Record = DeviceRecord;

// Synthetic records on a device's clock that shows 5 s when the recording begins; times in
// microseconds since then.
struct DeviceTraceTest : testing::Test {
  static constexpr std::int64_t origin = 5'000'000'000;
  Function stage{.expression = "stage<double>", .name = "_Z5stageIdEvPT_"};
  Function fold{.expression = "fold", .name = "_Z4foldv"};
  DeviceRecords records{.first = {.seconds = 0, .device = origin},
                        .last = {.seconds = 1, .device = origin + 1'000'000'000}};
  std::vector<DeviceSlice> slices = {};

  void ran(Record::Kind kind, std::uint32_t correlation, double begin, double end,
           std::string_view name = {}) {
    records.work.push_back({.kind = kind,
                            .name = name.empty() ? nullptr : records.named(name),
                            .correlation = correlation,
                            .begin = origin + static_cast<std::int64_t>(begin * 1000),
                            .end = origin + static_cast<std::int64_t>(end * 1000),
                            .bytes = 8});
  }
  void kernel(std::uint32_t correlation, double begin, double end, const Function& function) {
    ran(Record::Kind::kernel, correlation, begin, end, function.name);
  }
  // The launch of this activity.
  void kernel(std::uint32_t correlation, double begin, double end, const Function& function,
              std::uint64_t activity) {
    kernel(correlation, begin, end, function);
    belongs(correlation, activity);
  }
  void belongs(std::uint32_t correlation, std::uint64_t activity) {
    records.correlations.push_back({correlation, activity});
  }
  void enqueued(std::initializer_list<std::size_t> activities, const Function& function) {
    for (const std::size_t activity : activities) enqueued(activity, function);
  }
  void enqueued(std::size_t activity, const Function& function) {
    slices.push_back({.name = function.expression, .activity = activity, .function = &function});
  }
  void enqueued(std::size_t activity, Kind kind, int kernels = 1) {
    slices.push_back({.kind = kind, .activity = activity, .kernels = kernels});
  }

  // Begins in microseconds; -1 if absent.
  std::vector<double> begins() const {
    std::vector<double> result;
    for (const auto& slice : slices) result.push_back(slice.begin ? *slice.begin * 1e6 : -1);
    return result;
  }
  auto are(auto... microseconds) const { return ElementsAre(DoubleNear(microseconds, 1e-3)...); }
};

TEST_F(DeviceTraceTest, AKernelGetsItsTimeByCorrelationHoweverTheRecordsAreOrdered) {
  enqueued({0, 1}, stage);
  enqueued(2, fold);
  kernel(72, 30, 35, fold);
  kernel(70, 10, 18, stage);
  kernel(71, 20, 29, stage);
  for (const std::uint32_t correlation : {72, 71, 70}) belongs(correlation, correlation - 70);
  EXPECT_EQ(place(slices, records), 0);
  EXPECT_THAT(begins(), are(10, 20, 30));
  EXPECT_NEAR(*slices[1].end * 1e6, 29, 1e-3);
}

// A device may run later enqueued work first; a time window would confuse the two.
TEST_F(DeviceTraceTest, TimeNeverDecidesWhoseARecordIs) {
  enqueued({0, 1}, stage);
  kernel(70, 50, 60, stage, 0);
  kernel(71, 10, 20, stage, 1);
  place(slices, records);
  EXPECT_THAT(begins(), are(50, 10));
}

TEST_F(DeviceTraceTest, ALibraryCallSpansItsKernelsAndCountsThem) {
  enqueued(0, Kind::library);
  ran(Record::Kind::kernel, 81, 25, 40, "splitk_reduce");
  ran(Record::Kind::fill, 82, 5, 6);
  ran(Record::Kind::kernel, 80, 10, 45, "gemm_nn");
  for (const auto correlation : {80, 81, 82}) belongs(static_cast<std::uint32_t>(correlation), 0);
  EXPECT_EQ(place(slices, records), 0);
  EXPECT_THAT(begins(), are(5));
  EXPECT_NEAR(*slices[0].end * 1e6, 45, 1e-3);
  EXPECT_EQ(slices[0].kernels, 2);
}

TEST_F(DeviceTraceTest, CopiesThatCameWithAFirstLaunchAreNotTheKernel) {
  enqueued(0, stage);
  ran(Record::Kind::upload, 70, 1, 2);
  kernel(70, 10, 20, stage);
  belongs(70, 0);
  place(slices, records);
  EXPECT_THAT(begins(), are(10));
}

TEST_F(DeviceTraceTest, AnUploadInPiecesIsOneSlice) {
  enqueued(3, Kind::upload);
  ran(Record::Kind::upload, 70, 10, 20);
  ran(Record::Kind::upload, 71, 22, 30);
  belongs(70, 3);
  belongs(71, 3);
  place(slices, records);
  EXPECT_THAT(begins(), are(10));
  EXPECT_NEAR(*slices[0].end * 1e6, 30, 1e-3);
}

TEST_F(DeviceTraceTest, TheNodesOfAReplayTakeItsRecordsInTheOrderTheyRan) {
  for (const std::size_t replay : {0, 1}) {
    enqueued(replay, stage);
    enqueued(replay, Kind::copy);
    enqueued(replay, stage);
  }
  kernel(91, 130, 140, stage);
  ran(Record::Kind::copy, 90, 22, 24);
  kernel(90, 30, 40, stage);
  kernel(91, 110, 120, stage);
  ran(Record::Kind::copy, 91, 122, 124);
  kernel(90, 10, 20, stage);
  belongs(91, 1);
  belongs(90, 0);
  EXPECT_EQ(place(slices, records), 0);
  EXPECT_THAT(begins(), are(10, 22, 30, 110, 122, 130));
}

TEST_F(DeviceTraceTest, ALibraryNodeOfAReplayTakesAsManyRecordsAsItHasNodes) {
  enqueued(0, Kind::library, 2);
  enqueued(0, Kind::library, 1);
  enqueued(0, stage);
  for (int i = 0; i < 3; ++i) ran(Record::Kind::kernel, 90, 10 * i + 1, 10 * i + 5, "gemm");
  kernel(90, 31, 35, stage);
  belongs(90, 0);
  EXPECT_EQ(place(slices, records), 0);
  EXPECT_THAT(begins(), are(1, 21, 31));
  EXPECT_NEAR(*slices[0].end * 1e6, 15, 1e-3);
  EXPECT_EQ(slices[0].kernels, 2);
}

TEST_F(DeviceTraceTest, WhenAReplayLostARecordOnlyWhatIsCertainGetsATime) {
  enqueued(0, stage);
  enqueued(0, fold);
  enqueued(0, stage);
  enqueued(0, Kind::library, 1);
  kernel(90, 10, 20, stage);  // the first stage or the second?
  kernel(90, 30, 35, fold);
  ran(Record::Kind::kernel, 90, 40, 45, "gemm");
  belongs(90, 0);
  enqueued(1, Kind::library, 1);
  enqueued(1, stage);
  kernel(91, 50, 60, stage, 1);
  EXPECT_EQ(place(slices, records), 4);
  EXPECT_THAT(begins(), are(-1, 30, -1, -1, -1, 50));
}

TEST_F(DeviceTraceTest, WhenAReplayHasARecordTooManyOnlyWhatIsCertainGetsATime) {
  enqueued(0, stage);
  enqueued(0, fold);
  kernel(90, 10, 20, stage);
  kernel(90, 30, 35, fold);  // this one or the next?
  kernel(90, 40, 45, fold);
  belongs(90, 0);
  EXPECT_EQ(place(slices, records), 1);
  EXPECT_THAT(begins(), are(10, -1));
}

TEST_F(DeviceTraceTest, AMissingRecordLeavesOnlyItsOwnSliceWithoutATime) {
  enqueued({0, 1, 4}, stage);
  kernel(70, 10, 20, stage, 0);
  kernel(74, 50, 60, stage, 4);
  belongs(71, 1);
  EXPECT_EQ(place(slices, records), 1);
  EXPECT_THAT(begins(), are(10, -1, 50));
}

TEST_F(DeviceTraceTest, ACorrelationToldTwiceAlikeIsOne) {
  enqueued(0, stage);
  kernel(70, 10, 20, stage);
  belongs(70, 0);
  belongs(70, 0);
  EXPECT_EQ(place(slices, records), 0);
}

TEST_F(DeviceTraceTest, ACorrelationThatTwoVerbsClaimBelongsToNeither) {
  enqueued({0, 1}, stage);
  kernel(70, 10, 20, stage);
  belongs(70, 0);
  belongs(70, 1);
  EXPECT_EQ(place(slices, records), 2);
}

TEST_F(DeviceTraceTest, ARecordOfAnotherKernelIsNotTaken) {
  enqueued(0, stage);
  kernel(70, 10, 20, fold, 0);
  EXPECT_EQ(place(slices, records), 1);
}

TEST_F(DeviceTraceTest, ALaunchThatSeemsToHaveRunTwiceGetsNoTime) {
  enqueued(0, stage);
  kernel(70, 10, 20, stage);
  kernel(70, 30, 40, stage);
  belongs(70, 0);
  EXPECT_EQ(place(slices, records), 1);
}

TEST_F(DeviceTraceTest, ARecordWithoutATimeGivesNone) {
  enqueued(0, stage);
  kernel(70, 10, 20, stage, 0);
  records.work[0].begin = records.work[0].end = 0;
  EXPECT_EQ(place(slices, records), 1);
  EXPECT_EQ(counts(records).kernels, 1);
}

TEST_F(DeviceTraceTest, WorkOfNobodyIsCountedAndPlacedNowhere) {
  enqueued(0, stage);
  kernel(12, 10, 20, stage);
  EXPECT_EQ(place(slices, records), 1);
  EXPECT_EQ(counts(records).kernels, 1);
}

TEST_F(DeviceTraceTest, CountsAreOfTheDevicesOwnRecords) {
  ran(Record::Kind::upload, 1, 1, 2);
  ran(Record::Kind::upload, 2, 3, 4);
  ran(Record::Kind::download, 3, 5, 6);
  ran(Record::Kind::copy, 4, 7, 8);
  ran(Record::Kind::fill, 5, 9, 10);
  records.jit_runs = 2;
  records.modules_loaded = 3;
  const auto told = counts(records);
  EXPECT_EQ(told.copied_bytes_h2d, 16);
  EXPECT_EQ(told.copied_bytes_d2h, 8);
  EXPECT_EQ(told.copied_bytes_d2d, 8);
  EXPECT_EQ(told.kernels, 0);
  EXPECT_EQ(told.jit_runs, 2);
  EXPECT_EQ(told.modules_loaded, 3);
}

TEST_F(DeviceTraceTest, TheMemoryPeakIsInTimesOrderAndForgetsWhatIsOlder) {
  records.memory = {{.at = 30, .address = 0xb, .bytes = 50},
                    {.at = 10, .address = 0xa, .bytes = 100},
                    {.at = 20, .address = 0xa, .bytes = 100, .released = true},
                    {.at = 5, .address = 0x1, .bytes = 999, .released = true},
                    {.at = 40, .address = 0xa, .bytes = 70}};
  EXPECT_EQ(counts(records).memory_peak_bytes, 120);
}

// The device's clock runs 100 ppm fast and is 7 ms ahead.
TEST(ClockMap, LeadsFromTheDevicesClockToTheRecordings) {
  const auto device = [](double seconds) {
    return 7'000'000 + static_cast<std::int64_t>(seconds * 1e9 * 1.0001);
  };
  const ClockMap clock({.seconds = 0.5, .device = device(0.5)},
                       {.seconds = 2.5, .device = device(2.5)});
  for (const double seconds : {0.5, 1.0, 2.5})
    EXPECT_NEAR(clock.seconds(device(seconds)), seconds, 1e-8);
}

TEST(ClockMap, InstantsTooCloseForASlopeStillShareTheOrigin) {
  const ClockMap clock({.seconds = 1, .device = 1000}, {.seconds = 1.1, .device = 1001});
  EXPECT_NEAR(clock.seconds(1000 + 2'000'000), 1.002, 1e-12);
}

}  // namespace
}  // namespace holdfast
