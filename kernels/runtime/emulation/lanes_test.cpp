// SPDX-License-Identifier: Apache-2.0
// Order among the lanes of a device: counts and refusals on a dry one, effects of a missing wait on
// the emulated one.
#include "runtime/emulation/lanes.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <span>

#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/backend/pinned_bytes.hpp"
#include "runtime/backend/recording.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using emulation::CopyLane;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Source code{"lanes.cu", R"(
__global__ void add(double* total, const double* slot, int n) {
  for (int i = 0; i < n; ++i) total[0] += slot[i];
}
)"};
const Program program{.code = code, .entries = {"add"}};

void add_on_cpu(double* total, const double* slot, int n) {
  for (int i = 0; i < n; ++i) total[0] += slot[i];
}

constexpr int slot_size = 40, batches = 7;
constexpr std::size_t slot_bytes = slot_size * sizeof(double);

// What a stream of batches omits.
enum class Left { nothing, wait_for_copy, wait_for_slot, wait_for_result };

// Adds up batches that arrive in two slots, each copied while the previous one is added up.
struct Stream {
  explicit Stream(std::unique_ptr<Backend> on) : backend(std::move(on)) {
    for (int slot = 0; slot < 2; ++slot) {
      pinned.emplace_back(device, slot_bytes);
      slots.emplace_back(*backend, slot_size, "slot");
      arrived.push_back(device.make_event("arrived"));
      freed.push_back(device.make_event("freed"));
      device.record(*freed.back(), Lane::main);
      device.record(*arrived.back(), Lane::copies);
    }
  }

  double run(Left left) {
    device.fill_zero(total.data(), total.bytes());
    for (int batch = 0; batch < batches; ++batch) {
      const auto slot = static_cast<std::size_t>(batch % 2);
      device.await(*arrived[slot]);
      auto* const values = reinterpret_cast<double*>(pinned[slot].data());
      for (int i = 0; i < slot_size; ++i) values[i] = batch + 1;
      if (left != Left::wait_for_slot) device.wait(Lane::copies, *freed[slot]);
      device.upload_later(slots[slot].data(), values, slot_bytes);
      device.record(*arrived[slot], Lane::copies);
      if (left != Left::wait_for_copy) device.wait(Lane::main, *arrived[slot]);
      add({.grid = {1}, .block = {1}}, total.data(), slots[slot].data(), slot_size);
      device.record(*freed[slot], Lane::main);
    }
    device.download_later(result.data(), total.data(), sizeof(double), Lane::main);
    device.record(*done, Lane::main);
    if (left != Left::wait_for_result) device.await(*done);
    return *reinterpret_cast<const double*>(result.data());
  }

  static double expected() { return slot_size * batches * (batches + 1) / 2.; }

  std::unique_ptr<Backend> backend;
  Device& device = *backend->device;
  Kernel<double*, const double*, int> add =
      backend->compiler->compile(program).kernel<double*, const double*, int>("add");
  Buffer<double> total{*backend, 1, "total"};
  std::vector<PinnedBytes> pinned = {};
  std::vector<Buffer<double>> slots = {};
  std::vector<std::unique_ptr<LaneEvent>> arrived = {}, freed = {};
  std::unique_ptr<LaneEvent> done = device.make_event("done");
  PinnedBytes result{device, sizeof(double)};
};

double sum_of(CopyLane copies, Left left) {
  EmulatedKernels kernels;
  kernels.add("add", &add_on_cpu);
  return Stream(make_emulated_backend(std::move(kernels), {.copies = copies})).run(left);
}

TEST(EmulatedLanes, AStreamWithAllItsWaitsIsRightInBothOrders) {
  EXPECT_EQ(sum_of(CopyLane::early, Left::nothing), Stream::expected());
  EXPECT_EQ(sum_of(CopyLane::late, Left::nothing), Stream::expected());
}

TEST(EmulatedLanes, AKernelThatDoesNotWaitForItsCopyShowsInTheLateOrder) {
  EXPECT_NE(sum_of(CopyLane::late, Left::wait_for_copy), Stream::expected());
}

TEST(EmulatedLanes, ACopyThatDoesNotWaitForItsSlotShowsInTheEarlyOrder) {
  EXPECT_NE(sum_of(CopyLane::early, Left::wait_for_slot), Stream::expected());
}

TEST(EmulatedLanes, MemoryRefilledBeforeItWasCopiedShowsInTheLateOrder) {
  Stream stream(make_emulated_backend({}, {.copies = CopyLane::late}));
  auto* const value = reinterpret_cast<double*>(stream.pinned[0].data());
  *value = 1;
  stream.device.upload_later(stream.total.data(), value, sizeof(double));
  *value = 2;
  stream.device.synchronize();
  EXPECT_THAT(stream.total.to_host(), ElementsAre(2));
}

TEST(EmulatedLanes, AResultReadBeforeItArrivedShowsInTheEarlyOrder) {
  EXPECT_EQ(sum_of(CopyLane::early, Left::wait_for_result), 0);
}

TEST(EmulatedLanes, WhatWaitsForTheDeviceWaitsForBothLanes) {
  for (const CopyLane copies : {CopyLane::early, CopyLane::late}) {
    Stream stream(make_emulated_backend({}, {.copies = copies}));
    *reinterpret_cast<double*>(stream.pinned[0].data()) = 3;
    stream.device.fill_zero(stream.slots[0].data(), slot_bytes);
    stream.device.upload_later(stream.total.data(), stream.pinned[0].data(), sizeof(double));
    stream.device.synchronize();
    EXPECT_THAT(stream.total.to_host(), ElementsAre(3));
    EXPECT_THAT(stream.slots[0].to_host(), testing::Each(0));
  }
}

TEST(EmulatedLanes, AnUploadHasReadItsSourceWhenItReturns) {
  const auto backend = make_emulated_backend({}, {.copies = CopyLane::early});
  const Buffer<double> there(*backend, 1, "there");
  double value = 3;
  backend->device->upload(there.data(), &value, sizeof value);
  value = 4;
  EXPECT_EQ(there.to_host()[0], 3);
}

TEST(EmulatedLanes, TheTimeOfWorkIsThatOfItsCopiesToo) {
  Stream stream(make_emulated_backend({}, {.copies = CopyLane::late}));
  *reinterpret_cast<double*>(stream.pinned[0].data()) = 3;
  (void)stream.device.time([&] {
    stream.device.upload_later(stream.total.data(), stream.pinned[0].data(), sizeof(double));
    stream.device.record(*stream.done, Lane::copies);
  });
  EXPECT_TRUE(stream.device.reached(*stream.done));
}

TEST(EmulatedLanes, PageLockedMemoryIsGoneOnceItsCopiesAreDone) {
  Stream stream(make_emulated_backend({}, {.copies = CopyLane::late}));
  {
    const PinnedBytes pinned(stream.device, sizeof(double));
    stream.device.upload_later(stream.total.data(), pinned.data(), sizeof(double));
    stream.device.record(*stream.done, Lane::copies);
    EXPECT_FALSE(stream.device.reached(*stream.done));
  }
  EXPECT_TRUE(stream.device.reached(*stream.done));
}

TEST(EmulatedLanes, FailedWorkKeepsNoneBehindItFromEndingBeforeItsMemoryIsGone) {
  Stream stream(make_emulated_backend({}, {.copies = CopyLane::late}));
  {
    const PinnedBytes pinned(stream.device, 16);
    for (int behind_the_end = 0; behind_the_end < 2; ++behind_the_end)
      stream.device.upload_later(stream.total.data(), pinned.data(), 16);
    stream.device.record(*stream.done, Lane::copies);
  }
  EXPECT_TRUE(stream.device.reached(*stream.done));
}

TEST(EmulatedLanes, WhatFailedWhileMemoryWasReleasedIsReportedByTheNextDownload) {
  Stream stream(make_emulated_backend({}, {.copies = CopyLane::early}));
  stream.device.fill_zero(stream.total.data(), 16);
  stream.pinned.pop_back();
  EXPECT_THAT(error_of([&] { (void)stream.total.to_host(); }).what(),
              HasSubstr("clearing 16 bytes wrote behind the end of an allocation of 8 bytes"));
}

TEST(EmulatedLanes, ATransformEndsThoughItsPlanIsGone) {
  const auto backend = make_emulated_backend({}, {.copies = CopyLane::early});
  const Buffer<double> sums(*backend, std::vector<double>{1, 2, 3, 4}, "two numbers");
  Transform(*backend, {.kind = Fft::Kind::complex_forward, .columns = 2})(sums.data(), sums.data());
  EXPECT_THAT(sums.to_host(), ElementsAre(4, 6, -2, -2));
}

TEST(EmulatedLanes, ACopyBehindAnAllocationIsReported) {
  Stream stream(make_emulated_backend({}, {.copies = CopyLane::early}));
  EXPECT_THAT(error_of([&] {
                stream.device.upload_later(stream.total.data(), stream.pinned[0].data(), 16);
              }).what(),
              HasSubstr("an upload of 16 bytes wrote behind the end of an allocation of 8 bytes"));
}

struct DryLanes : testing::Test {
  Stream stream{open_backend("cuda-dry:sm_90")};
  Device& device = stream.device;
  Ledger& ledger = stream.backend->ledger;
};

TEST_F(DryLanes, BytesAreCountedAndOnlyTheHostsOwnWaitsAreSyncs) {
  const Counts before = ledger.counts;
  (void)stream.run(Left::nothing);
  const Counts counts = ledger.counts - before;
  EXPECT_EQ(counts.transfers, batches + 1);
  EXPECT_EQ(counts.h2d_bytes, batches * static_cast<std::int64_t>(slot_bytes));
  EXPECT_EQ(counts.d2h_bytes, 8);
  EXPECT_EQ(counts.syncs, batches + 1);
  EXPECT_EQ(counts.launches, batches);
}

TEST_F(DryLanes, ARecordingTellsWhatEachLaneWasGivenInOrder) {
  Recording recording(*stream.backend);
  (void)stream.run(Left::nothing);
  recording.stop();
  std::vector<std::string> first;
  for (const Activity& activity : std::span(recording.activities()).subspan(1, 7))
    first.push_back(text(activity.lane == Lane::copies ? "copies: " : "main: ", name(activity.kind),
                         " ", activity.name));
  EXPECT_THAT(first, ElementsAre("copies: synchronize arrived", "copies: wait freed",
                                 "copies: upload upload", "copies: record arrived",
                                 "main: wait arrived", "main: kernel add", "main: record freed"));
  int copied = 0;
  for (const DeviceSlice& slice : recording.slices()) copied += slice.lane == Lane::copies;
  EXPECT_EQ(copied, batches);
}

TEST_F(DryLanes, ARecordingTellsOnWhichLaneBytesComeBack) {
  Recording recording(*stream.backend);
  for (const Lane lane : {Lane::copies, Lane::main})
    device.download_later(stream.result.data(), stream.total.data(), 8, lane);
  recording.stop();
  EXPECT_THAT(recording.activities(), ElementsAre(testing::Field(&Activity::lane, Lane::copies),
                                                  testing::Field(&Activity::lane, Lane::main)));
}

TEST_F(DryLanes, PageableMemoryIsRefused) {
  std::vector<double> pageable(slot_size);
  EXPECT_THAT(refusal_of([&] { device.upload_later(stream.total.data(), pageable.data(), 8); },
                         Fault::broken_rule),
              HasSubstr("uploads 8 bytes without waiting"));
  EXPECT_THAT(
      refusal_of([&] { device.download_later(stream.result.data() + 4, stream.total.data(), 8); },
                 Fault::broken_rule),
      HasSubstr("downloads 8 bytes without waiting"));
}

TEST_F(DryLanes, PageLockedMemoryThatIsGoneIsRefused) {
  void* const gone = PinnedBytes(device, slot_bytes).data();
  EXPECT_THAT(
      refusal_of([&] { device.upload_later(stream.total.data(), gone, 8); }, Fault::broken_rule),
      HasSubstr("that memory of the host is not page-locked"));
}

TEST_F(DryLanes, AnEventOfAnotherDeviceIsRefused) {
  const Stream other(open_backend("cuda-dry:sm_90"));
  EXPECT_THAT(refusal_of([&] { device.wait(Lane::main, *other.arrived[0]); }),
              HasSubstr("event 'arrived' belongs to another device"));
  EXPECT_THAT(refusal_of([&] { device.record(*other.done, Lane::main); }),
              HasSubstr("event 'done' belongs to another device"));
}

// The main lane lags while copies run ahead, and runs at once if they lag.
TEST(EmulatedLanes, AnEventIsReachedWithoutWaitingWhenItsLaneHasComeThere) {
  for (const CopyLane copies : {CopyLane::early, CopyLane::late}) {
    const auto backend = make_emulated_backend({}, {.copies = copies});
    Device& device = *backend->device;
    const auto cleared = device.make_event("cleared");
    const Buffer<double> some(*backend, 1, "some");
    device.fill_zero(some.data(), some.bytes());
    device.record(*cleared, Lane::main);
    EXPECT_EQ(device.reached(*cleared), copies == CopyLane::late);
    EXPECT_EQ(backend->ledger.counts.syncs, 0);
    device.await(*cleared);
    EXPECT_TRUE(device.reached(*cleared));
  }
}

TEST(EmulatedLanes, AHostThatKeepsPaceHasWaitedAndCountsNoSync) {
  const auto backend = make_emulated_backend({}, {.copies = CopyLane::early});
  Device& device = *backend->device;
  const auto cleared = device.make_event("cleared");
  const Buffer<double> some(*backend, 1, "some");
  device.fill_zero(some.data(), some.bytes());
  device.record(*cleared, Lane::main);
  device.fill_zero(some.data(), some.bytes());
  device.keep_pace(*cleared);
  EXPECT_TRUE(device.reached(*cleared));
  EXPECT_EQ(backend->ledger.counts.syncs, 0);
}

TEST_F(DryLanes, AHostThatKeepsPaceWithNothingBehindTheEventWaitsForTheDevice) {
  double* const total = stream.total.data();
  std::byte* const pinned = stream.pinned[0].data();
  const Graph graph = device.capture([&] { device.fill_zero(total, 8); });
  const std::function<void()> works[] = {[&] { device.fill_zero(total, 8); },
                                         [&] { device.replay(graph); },
                                         [&] { device.upload_later(total, pinned, 8); },
                                         [&] { device.download_later(pinned, total, 8); }};
  for (const auto& work : works) {
    const std::int64_t before = ledger.counts.syncs;
    device.record(*stream.done, Lane::main);
    device.keep_pace(*stream.done);
    EXPECT_EQ(ledger.counts.syncs, before + 1);
    work();
    device.keep_pace(*stream.done);
    EXPECT_EQ(ledger.counts.syncs, before + 1);
  }
}

TEST_F(DryLanes, AskingForAnEventIsCountedBecauseAHostMayAskUntilItIsReached) {
  device.record(*stream.done, Lane::main);
  while (!device.reached(*stream.done)) {
  }
  EXPECT_EQ(ledger.counts.polls, 1);
  EXPECT_EQ(ledger.counts.syncs, 0);
}

// A kernel that follows such a transfer could have followed the event.
TEST_F(DryLanes, ATransferOfTheMainLaneBehindAnEventKeepsNoDeviceBusy) {
  device.record(*stream.done, Lane::main);
  device.upload_later(stream.total.data(), stream.pinned[0].data(), 8, Lane::main);
  device.download_later(stream.pinned[0].data(), stream.total.data(), 8, Lane::main);
  const std::int64_t before = ledger.counts.syncs;
  device.keep_pace(*stream.done);
  EXPECT_EQ(ledger.counts.syncs, before + 1);
}

TEST_F(DryLanes, AnEventThatNobodyRecordedIsRefused) {
  const auto refused = [](const auto& action) {
    EXPECT_THAT(refusal_of(action, Fault::broken_rule),
                HasSubstr("event 'done', which no lane has recorded"));
  };
  refused([&] { device.keep_pace(*stream.done); });
  refused([&] { device.await(*stream.done); });
  refused([&] { device.wait(Lane::main, *stream.done); });
  refused([&] { (void)device.reached(*stream.done); });
}

TEST_F(DryLanes, NoLaneButTheMainOneIsPartOfACapture) {
  const auto captured = [&](const auto& action) {
    return refusal_of([&] { device.capture(action); }, Fault::broken_rule);
  };
  EXPECT_THAT(captured([&] { device.upload_later(stream.total.data(), stream.result.data(), 8); }),
              HasSubstr("uploads beside the main lane while a graph is captured"));
  EXPECT_THAT(
      captured([&] { device.download_later(stream.result.data(), stream.total.data(), 8); }),
      HasSubstr("downloads beside the main lane while a graph is captured"));
  EXPECT_THAT(captured([&] { device.record(*stream.done, Lane::main); }),
              HasSubstr("records event 'done' while a graph is captured"));
  for (const auto& waits : {std::function([&] { device.keep_pace(*stream.freed[0]); }),
                            std::function([&] { device.await(*stream.freed[0]); }),
                            std::function([&] { device.wait(Lane::main, *stream.freed[0]); })})
    EXPECT_THAT(captured(waits), HasSubstr("waits for event 'freed' while a graph is captured"));
}

}  // namespace
}  // namespace holdfast
