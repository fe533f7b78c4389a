// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/dry_device.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/backend/pinned_bytes.hpp"
#include "runtime/count/scope.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

struct DryDeviceTest : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("cuda-dry:sm_90");
  Device& device = *backend->device;
  Ledger& ledger = backend->ledger;
  Function kernel{.expression = "kernel", .registers = 32, .shared_bytes = 1024};

  void launch(const LaunchShape& shape) { device.launch(kernel, shape); }
  std::string refusal(const LaunchShape& shape) {
    const auto error = error_of([&] { launch(shape); });
    EXPECT_EQ(error.fault(), Fault::broken_rule);
    return error.what();
  }
};

TEST_F(DryDeviceTest, PeakIsTheHighestSumOfLiveBuffers) {
  { Buffer<float> a(*backend, 100, "a"), b(*backend, 50, "b"); }
  Buffer<float> c(*backend, 120, "c");
  EXPECT_EQ(ledger.peak_bytes, 600);
  EXPECT_EQ(ledger.live_bytes, 480);
}

TEST_F(DryDeviceTest, PinnedBytesAreZeroAndNoMemoryOfTheDevice) {
  const PinnedBytes bytes(device, 300);
  EXPECT_THAT(std::vector(bytes.data(), bytes.data() + bytes.size()), testing::Each(std::byte{0}));
  EXPECT_EQ(ledger.live_bytes, 0);
}

TEST_F(DryDeviceTest, MorePinnedBytesThanTheMachineHasAreALackOfMemory) {
  EXPECT_THAT(refusal_of([&] { PinnedBytes(device, std::size_t{1} << 60); }, Fault::out_of_memory),
              HasSubstr("this machine has no more"));
}

TEST_F(DryDeviceTest, PinnedBytesInACaptureAreRefused) {
  EXPECT_THAT(error_of([&] { device.capture([&] { PinnedBytes(device, 300); }); }).what(),
              HasSubstr("allocates pinned host memory"));
}

TEST_F(DryDeviceTest, PinnedBytesInASteadyStepAreForThoseWhoMayAllocate) {
  ledger.enter(Ledger::Phase::steady);
  const Error refused = error_of([&] { PinnedBytes(device, 300); });
  EXPECT_EQ(refused.fault(), Fault::broken_rule);
  EXPECT_THAT(refused.what(),
              HasSubstr("allocates 300 bytes of pinned host memory in a steady step"));
  ledger.enter(Ledger::Phase::steady, {.may_allocate = true});
  EXPECT_NO_THROW(PinnedBytes(device, 300));
}

TEST_F(DryDeviceTest, AGraphIsCapturedInASteadyStepByThoseWhoMayCompile) {
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THAT(refusal_of([&] { return device.capture([] {}); }, Fault::broken_rule),
              HasSubstr("captures a graph in a steady step"));
  ledger.enter(Ledger::Phase::steady, {.may_compile = true});
  EXPECT_NO_THROW((void)device.capture([] {}));
}

// Neither the peak nor the transfers would hold what a kernel reads across the bus.
TEST_F(DryDeviceTest, AKernelThatIsGivenPinnedBytesIsRefused) {
  PinnedBytes pinned(device, 300);
  const Buffer<double> own(*backend, 4, "own");
  struct Two {
    double* read;
    std::byte* written;
  };
  const auto launched_with = [&](Two pointers, std::ptrdiff_t number = -1) {
    void* arguments[] = {&number, &pointers};
    const std::size_t sizes[] = {sizeof number, sizeof pointers};
    device.launch(kernel, {.block = {32}}, {.pointers = arguments, .sizes = sizes});
  };
  EXPECT_NO_THROW(launched_with({own.data(), pinned.data() + pinned.size()}));
  EXPECT_EQ(ledger.counts.launches, 1);
  for (std::byte* inside : {pinned.data(), pinned.data() + pinned.size() - 1})
    EXPECT_THAT(refusal_of(
                    [&] {
                      launched_with({own.data(), inside});
                    },
                    Fault::broken_rule),
                HasSubstr("kernel is given page-locked memory of the host"));
  EXPECT_EQ(ledger.counts.launches, 1);
}

TEST_F(DryDeviceTest, PinnedBytesAreGivenToTransfersAlone) {
  PinnedBytes pinned(device, 300);
  const Buffer<std::byte> own(*backend, 300, "own");
  Blas blas(*backend);
  Transform transform(*backend, {.kind = Fft::Kind::complex_forward, .columns = 4});
  const Gemm product{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  std::byte *const here = own.data(), *const there = pinned.data();
  const std::pair<const char*, std::function<void()>> uses[] = {
      {"a copy", [&] { device.copy(here, there, 300); }},
      {"a copy", [&] { device.copy(there, here, 300); }},
      {"a fill", [&] { device.fill_zero(there, 300); }},
      {"gemm [1, 2, 2, 2] f64", [&] { blas(product, here, there, here); }},
      {"fft complex_forward [1, 1, 4] f64", [&] { transform(there, here); }}};
  for (const auto& [what, use] : uses)
    EXPECT_THAT(refusal_of(use, Fault::broken_rule),
                HasSubstr(text(what, " is given page-locked memory")));
  EXPECT_EQ(ledger.counts.copies, 0);
  EXPECT_EQ(ledger.counts.launches, 0);
}

TEST_F(DryDeviceTest, AddressesAreAlignedAndLargerThanAnyNumberThatAKernelIsGiven) {
  for (const std::size_t size : {1, 255, 257}) {
    const Buffer<char> a(*backend, size, "a");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
    EXPECT_GE(reinterpret_cast<std::uintptr_t>(a.data()), std::uintptr_t{1} << 46);
  }
}

TEST_F(DryDeviceTest, BuffersDoNotOverlap) {
  const Buffer<char> a(*backend, 1000, "a"), b(*backend, 1000, "b");
  EXPECT_GE(std::abs(a.data() - b.data()), 1000);
}

TEST_F(DryDeviceTest, ADownloadReadsZeros) {
  const Buffer<double> a(*backend, std::vector<double>{1, 2, 3}, "a");
  std::vector<double> values = {1, 2, 3};
  device.download(values.data(), a.data(), a.bytes());
  EXPECT_THAT(values, testing::Each(0.0));
}

TEST_F(DryDeviceTest, TransfersAreCountedAndTheirBytes) {
  const Buffer<double> a(*backend, std::vector<double>{1, 2, 3}, "a");
  (void)a.to_host();
  EXPECT_EQ(ledger.counts.transfers, 2);
  EXPECT_EQ(ledger.counts.h2d_bytes, 24);
  EXPECT_EQ(ledger.counts.d2h_bytes, 24);
}

TEST_F(DryDeviceTest, ATransferEitherWayIsWaitedFor) {
  const Buffer<double> a(*backend, std::vector<double>{1, 2, 3}, "a");
  EXPECT_EQ(ledger.counts.syncs, 1);
  (void)a.to_host();
  EXPECT_EQ(ledger.counts.syncs, 2);
}

TEST_F(DryDeviceTest, TransfersOfMemoryThatIsNotPageLockedAreToldApart) {
  PinnedBytes home(device, 24);
  double numbers[3] = {};
  const Buffer<double> a(*backend, 3, "a");
  device.upload(a.data(), home.data(), 24);
  device.download(home.data(), a.data(), 24);
  device.upload_later(a.data(), home.data(), 24);
  EXPECT_EQ(ledger.counts.pageable_bytes, 0);
  device.upload(a.data(), numbers, 24);
  device.download(numbers, a.data(), 8);
  EXPECT_EQ(ledger.counts.pageable_bytes, 24 + 8);
}

TEST(Blocks, CoverTheWholeCountAndNoMore) {
  EXPECT_EQ(blocks(0, 32), 0u);
  EXPECT_EQ(blocks(1, 32), 1u);
  EXPECT_EQ(blocks(64, 32), 2u);
  EXPECT_EQ(blocks(65, 32), 3u);
}

TEST_F(DryDeviceTest, ALaunchIsCountedForTheLedgerAndForTheKernel) {
  launch({.grid = {10}, .block = {128}});
  launch({.grid = {10}, .block = {128}});
  EXPECT_EQ(ledger.counts.launches, 2);
  EXPECT_EQ(ledger.counts.library_calls, 0);
  EXPECT_EQ(kernel.launches, 2);
}

TEST_F(DryDeviceTest, RefusesABlockOfTooManyThreads) {
  EXPECT_THAT(refusal({.block = {33, 33}}),
              HasSubstr("failed to launch kernel: a block of (33, 33, 1) threads"));
}

TEST_F(DryDeviceTest, RefusesABlockTooDeepAlongZ) {
  launch({.block = {1, 1, 64}});
  EXPECT_THAT(refusal({.block = {1, 1, 65}}), HasSubstr("at most 64 along z"));
}

TEST_F(DryDeviceTest, RefusesAnEmptyGrid) {
  EXPECT_THAT(refusal({.grid = {0}, .block = {32}}), HasSubstr("a grid of (0, 1, 1) blocks"));
}

TEST_F(DryDeviceTest, RefusesAGridTooHighAlongYOrZ) {
  launch({.grid = {65536, 65535, 65535}, .block = {32}});
  for (const Dim3 grid : {Dim3{1, 65536}, Dim3{1, 1, 65536}})
    EXPECT_THAT(refusal({.grid = grid, .block = {32}}), HasSubstr("1 to 65535 along y and z"));
}

TEST_F(DryDeviceTest, RefusesMoreSharedMemoryThanABlockMayHave) {
  launch({.block = {32}, .shared_bytes = 226 * 1024});
  EXPECT_THAT(refusal({.block = {32}, .shared_bytes = 226 * 1024 + 1}),
              HasSubstr("a block needs 232449 bytes of shared memory, sm_90 gives 232448"));
}

TEST_F(DryDeviceTest, RefusesABlockWhoseRegistersDoNotFit) {
  kernel.registers = 128;
  EXPECT_THAT(refusal({.block = {1024}}),
              HasSubstr("1024 threads with 128 registers each does not fit"));
}

TEST_F(DryDeviceTest, RefusesACooperativeGridThatIsNotResidentAtOnce) {
  const LaunchShape fits{.grid = {8 * 132}, .block = {256}, .cooperative = true};
  launch(fits);
  auto larger = fits;
  ++larger.grid.x;
  EXPECT_THAT(refusal(larger),
              HasSubstr("a cooperative grid of 1057 blocks, but only 1056 are resident at once"));
  auto heavier = fits;
  heavier.shared_bytes = 100 * 1024;
  EXPECT_THAT(refusal(heavier), HasSubstr("but only 264 are resident at once"));
}

TEST_F(DryDeviceTest, ARefusedLaunchIsNeitherCountedNorRecorded) {
  (void)refusal({.block = {2048}});
  EXPECT_EQ(device.capture([&] { (void)refusal({.block = {2048}}); }).nodes.size(), 0u);
  EXPECT_EQ(ledger.counts.launches, 0);
}

TEST_F(DryDeviceTest, CapturingCountsNothingAndReplayingCountsEverything) {
  const Buffer<double> a(*backend, 8, "a"), b(*backend, 8, "b");
  const auto graph = device.capture([&] {
    launch({.block = {32}});
    launch({.block = {32}});
    device.copy(a.data(), b.data(), a.bytes());
    device.fill_zero(b.data(), b.bytes());
  });
  EXPECT_EQ(ledger.counts.launches, 0);
  EXPECT_EQ(kernel.launches, 0);
  for (int i = 0; i < 3; ++i) device.replay(graph);
  EXPECT_EQ(graph.nodes.size(), 4);
  EXPECT_EQ(ledger.counts.launches, 6);
  EXPECT_EQ(ledger.counts.copies, 3);
  EXPECT_EQ(ledger.counts.moved_bytes, 3 * 2 * 64);
  EXPECT_EQ(ledger.counts.graph_nodes, 12);
  EXPECT_EQ(kernel.launches, 6);
}

TEST_F(DryDeviceTest, AKernelKnowsEachShapeOfItsLaunchesRecordedOrRun) {
  const LaunchShape recorded{.grid = {7}, .block = {32}}, run{.grid = {9}, .block = {64}};
  (void)device.capture([&] { launch(recorded); });
  for (int i = 0; i < 2; ++i) launch(run);
  EXPECT_THAT(kernel.shapes, testing::ElementsAre(recorded, run));
}

TEST_F(DryDeviceTest, TheHostPaysForItsLaunchesAndLibraryCallsAndForEachReplay) {
  const Buffer<double> a(*backend, 64, "a");
  Blas blas(*backend);
  Transform transform(*backend, {.kind = Fft::Kind::complex_forward, .columns = 8});
  const auto step = [&] {
    launch({.block = {32}});
    blas({.m = 4, .n = 4, .k = 4, .lda = 4, .ldb = 4, .ldc = 4}, a.data(), a.data(), a.data());
    transform(a.data(), a.data() + 16);
  };
  step();
  EXPECT_EQ(ledger.counts.host_launches, 3);
  const Graph graph = device.capture(step);
  EXPECT_EQ(ledger.counts.host_launches, 3);
  const Counts before = ledger.counts;
  for (int i = 0; i < 2; ++i) device.replay(graph);
  EXPECT_EQ(ledger.counts - before, (Counts{.launches = 6,
                                            .threads = 2 * 32,
                                            .library_calls = 4,
                                            .library_flops = 2 * (2 * 4 * 4 * 4 + 5 * 8 * 3),
                                            .library_bytes = 2 * (3 * 16 * 8 + 2 * 8 * 16),
                                            .host_launches = 2,
                                            .graph_nodes = 6}));
}

// Two buffers: a copy waits for the kernel that read its buffer, the kernel for its copy.
TEST_F(DryDeviceTest, TransfersThatKernelsMayHideAreCountedUnlessSomebodyWaits) {
  PinnedBytes home(device, 300);
  const Buffer<std::byte> there[] = {{*backend, 300, "even"}, {*backend, 300, "odd"}};
  const auto arrived = device.make_event("arrived");
  const std::unique_ptr<LaneEvent> read[] = {device.make_event("even"), device.make_event("odd")};
  for (const auto& event : read) device.record(*event, Lane::main);
  const auto hidden = [&](Lane lane, const std::function<void()>& compute, int depth = 2) {
    device.synchronize();
    const std::int64_t before = ledger.counts.hidden_bytes;
    for (int batch = 0; batch < 8; ++batch) {
      device.wait(lane, *read[batch % depth]);
      device.upload_later(there[batch % 2].data(), home.data(), 300, lane);
      device.record(*arrived, lane);
      device.wait(Lane::main, *arrived);
      compute();
      device.record(*read[batch % depth], Lane::main);
    }
    return ledger.counts.hidden_bytes - before;
  };
  const auto launched = [&] { launch({}); };
  EXPECT_EQ(hidden(Lane::copies, launched), 7 * 300);  // all but the first
  const Graph graph = device.capture(launched);
  EXPECT_EQ(hidden(Lane::copies, [&] { device.replay(graph); }), 7 * 300);
  const Graph clear = device.capture([&] { device.fill_zero(there[0].data(), 300); });
  EXPECT_EQ(hidden(Lane::copies, [&] { device.replay(clear); }), 0) << "no kernel";
  EXPECT_EQ(hidden(Lane::main, launched), 0);
  EXPECT_EQ(hidden(Lane::copies, launched, 1), 0) << "one buffer in fact";
  EXPECT_EQ(hidden(Lane::copies, [&] { launched(), device.synchronize(); }), 0);
  const auto computed = [&] { launched(), device.record(*arrived, Lane::main); };
  EXPECT_EQ(hidden(Lane::copies, [&] { computed(), device.await(*arrived); }), 0);
  EXPECT_EQ(hidden(Lane::copies, [&] { computed(), device.keep_pace(*arrived); }), 0);
  std::byte answer = {};
  EXPECT_EQ(hidden(Lane::copies, [&] { launched(), device.download(&answer, there[0].data(), 1); }),
            0);
}

TEST_F(DryDeviceTest, ATransferOfTheCopyLaneStaysBesideKernelsWhileTheHostWaitsForAnother) {
  const PinnedBytes home(device, 300);
  const Buffer<std::byte> there(*backend, 300, "there");
  device.upload_later(there.data(), home.data(), 300);
  std::byte answer = {};
  device.download(&answer, there.data(), 1);
  launch({});
  EXPECT_EQ(ledger.counts.hidden_bytes, 300);
}

TEST_F(DryDeviceTest, WhatKernelsAreToldIsCountedAtEachLaunchAndReplay) {
  const auto step = [&] {
    device.launch(kernel, {.grid = {3}, .block = {32, 2}}, {.sum = 149, .magnitudes = 5});
    device.launch(kernel, {}, {.sum = -40});
  };
  step();
  EXPECT_EQ(ledger.counts.argument_sum, 109);
  const Graph graph = device.capture(step);
  EXPECT_EQ(ledger.counts.argument_sum, 109);
  for (int i = 0; i < 2; ++i) device.replay(graph);
  EXPECT_EQ(ledger.counts.argument_sum, 327);
  EXPECT_EQ(ledger.counts.argument_magnitudes, 15);
  EXPECT_EQ(ledger.counts.threads, 3 * (3 * 64 + 1));
  EXPECT_EQ(kernel.argument_sum, 327);
  EXPECT_EQ(kernel.launches, 6);
}

TEST_F(DryDeviceTest, ALibraryIsAccountedByTheSizesOfItsProblems) {
  const Buffer<double> a(*backend, 4096, "a");
  Blas blas(*backend);
  blas({.m = 2, .n = 4, .k = 8, .lda = 8, .ldb = 4, .ldc = 4, .stride_c = 8, .batch = 7}, a.data(),
       a.data(), a.data());
  EXPECT_EQ(ledger.counts.library_flops, 7 * 2 * 2 * 4 * 8);
  EXPECT_EQ(ledger.counts.library_bytes, 8 * (2 * 8 + 8 * 4 + 7 * 2 * 4)) << "one A, one B";
  Transform transform(*backend, {.kind = Fft::Kind::real_backward, .rows = 4, .columns = 8});
  const Counts before = ledger.counts;
  transform(a.data(), a.data() + 64);
  EXPECT_EQ((ledger.counts - before).library_flops, 5 * 32 * 5 / 2);
  EXPECT_EQ((ledger.counts - before).library_bytes, 4 * (8 + 2 * 5) * 8);
}

TEST_F(DryDeviceTest, WhatAGraphCannotHoldIsRefusedInACapture) {
  const Buffer<double> held(*backend, 8, "held");
  const Graph other = device.capture([] {});
  const auto event = device.make_event("there");
  device.record(*event, Lane::main);
  double number = 0;
  const std::pair<const char*, std::function<void()>> uses[] = {
      {"allocates 'inside'", [&] { Buffer<int>(*backend, 3, "inside"); }},
      {"waits for the device", [&] { device.synchronize(); }},
      {"uploads from host memory", [&] { device.upload(held.data(), &number, 8); }},
      {"waits for a download", [&] { device.download(&number, held.data(), 8); }},
      {"makes event 'new'", [&] { (void)device.make_event("new"); }},
      {"asks for event 'there'", [&] { (void)device.reached(*event); }},
      {"loads kernel kernel", [&] { device.load({}, kernel); }},
      {"captures a second graph", [&] { (void)device.capture([] {}); }},
      {"replays another graph", [&] { device.replay(other); }},
      {"opens the BLAS library", [&] { device.open_blas(); }},
      {"plans a matrix product", [&] { (void)device.plan_gemm({}, 0); }},
      {"plans a Fourier transform", [&] { (void)device.plan_fft({}, nullptr); }}};
  for (const auto& [what, use] : uses)
    EXPECT_THAT(refusal_of([&] { (void)device.capture(use); }, Fault::broken_rule),
                HasSubstr(what));
}

TEST_F(DryDeviceTest, TwoNumbersInOneWordPointIntoNoBuffer) {
  struct {
    int n = 64, all = 0;
  } sizes;
  void* arguments[] = {&sizes};
  const std::size_t bytes[] = {sizeof sizes};
  auto lost = std::make_unique<Buffer<double>>(*backend, 64, "lost");
  const Graph graph = device.capture([&] {
    for (sizes.all = 1; sizes.all < 1 << 30; sizes.all *= 2)
      device.launch(kernel, {.block = {32}}, {.pointers = arguments, .sizes = bytes});
  });
  lost.reset();
  EXPECT_NO_THROW(device.replay(graph));
}

TEST_F(DryDeviceTest, AGraphThatPointsIntoABufferOutlivesOthers) {
  const Buffer<double> held(*backend, 8, "held");
  const Graph graph = device.capture([&] { device.fill_zero(held.data() + 4, 32); });
  { const Buffer<double> other(*backend, 8, "other"); }
  EXPECT_NO_THROW(device.replay(graph));
}

TEST_F(DryDeviceTest, AFailedCaptureLeavesTheDeviceUsable) {
  EXPECT_THROW(device.capture([&] { device.synchronize(); }), Error);
  launch({.block = {32}});
  EXPECT_EQ(ledger.counts.launches, 1);
}

TEST_F(DryDeviceTest, AProductCountsOneLibraryCallAndItsWorkArea) {
  Blas blas(*backend);
  const Buffer<double> a(*backend, 4, "a");
  blas({.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2}, a.data(), a.data(), a.data());
  EXPECT_EQ(ledger.counts.library_calls, 1);
  EXPECT_EQ(ledger.counts.launches, 1);
  EXPECT_EQ(ledger.peak_by_site().at("blas work area"),
            static_cast<std::int64_t>(gemm_work_area_bytes));
}

TEST_F(DryDeviceTest, AWorkAreaOfEitherSizeIsGivenBackWhole) {
  for (const std::size_t bytes : {gemm_work_area_bytes, planned_gemm_work_area_bytes}) {
    std::make_unique<Blas>(*backend, bytes).reset();
    EXPECT_EQ(ledger.live_bytes, 0) << bytes;
  }
}

TEST_F(DryDeviceTest, ATransformCountsItsPlanItsCallAndItsWorkArea) {
  const Fft problem{.rows = 8, .columns = 8, .batch = 3};
  const Buffer<double> a(*backend, 192, "a");
  {
    Transform transform(*backend, problem);
    transform(a.data(), a.data() + 1);
  }
  EXPECT_EQ(ledger.counts.plans, 1);
  EXPECT_EQ(ledger.counts.library_calls, 1);
  EXPECT_EQ(ledger.peak_bytes - 192 * 8, static_cast<std::int64_t>(problem.work_area_bytes()));
  EXPECT_EQ(ledger.live_bytes, 192 * 8);
}

TEST_F(DryDeviceTest, PlanningInASteadyStepBreaksARuleAndHoldsNoMemory) {
  ledger.enter(Ledger::Phase::steady, {.may_allocate = true});
  EXPECT_EQ(error_of([&] { Transform(*backend, {.columns = 8}); }).fault(), Fault::broken_rule);
  EXPECT_EQ(ledger.live_bytes, 0);
}

struct TransferGuardTest : DryDeviceTest {
  ~TransferGuardTest() override { unsetenv("HOLDFAST_TRANSFER_GUARD"); }
  void guard(const char* setting) { setenv("HOLDFAST_TRANSFER_GUARD", setting, 1); }

  Buffer<double> a{*backend, std::vector<double>{1, 2}, "a"};
};

TEST_F(TransferGuardTest, ForbidsTransfersInSteadySteps) {
  guard("error");
  ledger.enter(Ledger::Phase::steady);
  const auto error = error_of([&] { (void)a.to_host(); });
  EXPECT_EQ(error.fault(), Fault::broken_rule);
  EXPECT_STREQ(error.what(),
               "downloads 16 bytes in a steady step, which HOLDFAST_TRANSFER_GUARD forbids");
  EXPECT_EQ(ledger.counts.d2h_bytes, 0);
}

TEST_F(TransferGuardTest, ForbidsThemOnEitherLaneWhetherOrNotTheyAreWaitedFor) {
  const PinnedBytes bytes(device, a.bytes());
  guard("error");
  ledger.enter(Ledger::Phase::steady);
  for (const Lane lane : {Lane::main, Lane::copies}) {
    EXPECT_THROW(device.upload_later(a.data(), bytes.data(), bytes.size(), lane), Error);
    EXPECT_THROW(device.download_later(bytes.data(), a.data(), bytes.size(), lane), Error);
  }
}

TEST_F(TransferGuardTest, NamesTheScopeWhereThereIsOne) {
  guard("error");
  ledger.enter(Ledger::Phase::steady);
  const Scope step("step"), rhs("rhs");
  EXPECT_THAT(error_of([&] {
                a.upload(std::vector<double>{3, 4});
              }).what(),
              HasSubstr("uploads 16 bytes in a steady step, in scope step/rhs, which"));
}

TEST_F(TransferGuardTest, LogsAndLetsPass) {
  guard("log");
  ledger.enter(Ledger::Phase::steady);
  testing::internal::CaptureStderr();
  (void)a.to_host();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "holdfast: warn: downloads 16 bytes in a steady step\n");
  EXPECT_EQ(ledger.counts.d2h_bytes, 16);
}

TEST_F(TransferGuardTest, SaysNothingUnlessItIsAskedFor) {
  ledger.enter(Ledger::Phase::steady);
  testing::internal::CaptureStderr();
  (void)a.to_host();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(TransferGuardTest, LeavesConstructionAlone) {
  guard("error");
  EXPECT_NO_THROW(a.to_host());
}

}  // namespace
}  // namespace holdfast
