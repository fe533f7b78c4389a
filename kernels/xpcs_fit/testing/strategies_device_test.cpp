// SPDX-License-Identifier: Apache-2.0
// Fits by every strategy on devices: correct on the emulated one; their copies, memory and waits on
// a dry one.
#include <gmock/gmock.h>

#include <optional>

#include "runtime/backend/buffer.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "testing/dry_run.hpp"
#include "xpcs_fit/device/batch_counter.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

struct Way {
  Strategy strategy;
  DataSource source;
};
constexpr Way ways[] = {{Strategy::large, DataSource::resident},
                        {Strategy::chunked, DataSource::resident},
                        {Strategy::chunked, DataSource::host},
                        {Strategy::streaming, DataSource::host},
                        {Strategy::streaming, DataSource::generated}};

TEST(XpcsDeviceStrategies, FitAsTheOracleDoes) {
  const Problem one = problem(emulated_size, {});
  const oracle::Fit expected = oracle::fit(one);
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const Way way : ways) {
      if (variant == Variant::reference && way.source == DataSource::generated) continue;
      const auto backend = variant == Variant::reference ? emulated_parts() : emulated_optimized();
      int told = 0;
      const std::vector<double> found = result_of(*make_fit(*backend, variant, one,
                                                            {.strategy = way.strategy,
                                                             .source = way.source,
                                                             .chunk = emulated_part,
                                                             .passes = 0,
                                                             .told = [&](int, int) { ++told; }}));
      EXPECT_EQ(found[1], expected.passes);
      expect_parameters(found, expected, 1e-6);
      // 361 points are a chunk of three, or rows 0 to 5 of every angle, and so on.
      const int chunks = variant == Variant::reference ? 3 : 4;
      EXPECT_EQ(told, way.strategy == Strategy::chunked ? chunks * expected.passes : 0);
    }
}

// Four rows of every angle, three in the last batch: five per pass, through two slots.
TEST(XpcsDeviceStrategies, ReadNoChunkBeforeItHasComeAndWriteNoneThatIsRead) {
  const Problem one = problem(emulated_size, {});
  const oracle::Fit expected = oracle::fit(one);
  for (const auto copies : {emulation::CopyLane::early, emulation::CopyLane::late}) {
    const auto backend = emulated_optimized(emulation::Order::forward, copies);
    const std::vector<double> found = result_of(*make_fit(
        *backend, Variant::optimized, one,
        {.strategy = Strategy::chunked, .source = DataSource::host, .chunk = 4 * 57, .passes = 0}));
    EXPECT_EQ(found[1], expected.passes);
    EXPECT_NEAR(found[0] / expected.cost, 1, 1e-9);
  }
}

class DryStrategies : public testing::Test {
 protected:
  const Size size = {4, 48};
  const Problem flow = {make_input({.size = size, .sized_only = true}, {}), {}};
  const std::int64_t n = size.points();

  DryRun run(Variant variant, Way way, std::int64_t chunk = 1000) {
    const StrategyOptions options = {
        .strategy = way.strategy, .source = way.source, .chunk = chunk};
    return DryRun(90, [&](Backend& on) { return make_fit(on, variant, flow, options); });
  }
};

TEST_F(DryStrategies, BringDataOnceAPassOrNever) {
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const Way way : ways) {
      if (variant == Variant::reference && way.source == DataSource::generated) continue;
      DryRun one = run(variant, way);
      const Counts step = one.step();
      // The reference also sends parameters and reads sums in every pass.
      const std::int64_t asked = variant == Variant::reference ? 8 * 8 * 9 : 0;
      const std::int64_t data = way.source == DataSource::host ? 8 * 8 * n : 0;
      EXPECT_EQ(step.h2d_bytes, data + asked);
      EXPECT_EQ(step.d2h_bytes > 0, variant == Variant::reference);
    }
}

TEST_F(DryStrategies, ThePlainOnesCompileForEachLengthOfAPart) {
  for (const auto& [chunk, programs] : {std::pair{1000, 2}, {1024, 1}}) {
    DryRun one = run(Variant::reference, {Strategy::chunked, DataSource::host}, chunk);
    EXPECT_EQ(one.backend->ledger.counts.programs, programs) << chunk;
    (void)one.step();
    EXPECT_EQ(one.backend->ledger.counts.programs, programs) << chunk;
  }
}

TEST_F(DryStrategies, ThePlainStreamHoldsNothingBetweenBatches) {
  DryRun one = run(Variant::reference, {Strategy::streaming, DataSource::host});
  const std::int64_t held = one.backend->ledger.live_bytes;
  const Counts step = one.step();
  EXPECT_EQ(one.backend->ledger.live_bytes, held);
  // g1, model, residual, Jacobian, data, sums and an empty array of ones, for 10 batches, 8 times.
  EXPECT_EQ(step.allocations, 8 * 10 * 7);
}

TEST_F(DryStrategies, WaitForNobodyWhoIsTold) {
  DryRun silent = run(Variant::optimized, {Strategy::chunked, DataSource::host});
  StrategyOptions options = {
      .strategy = Strategy::chunked, .source = DataSource::host, .chunk = 1000};
  int told = 0;
  options.told = [&](int, int) { ++told; };
  DryRun one(90, [&](Backend& on) { return make_fit(on, Variant::optimized, flow, options); });
  const Counts step = one.step();
  EXPECT_EQ(step.syncs, silent.step().syncs);
  EXPECT_EQ(step.d2h_bytes, 0);
  EXPECT_GE(told, 8 * 10 - 1);
}

// Twenty batches are sent before anything looks, more than there are events.
TEST_F(DryStrategies, CountTheLastBatchHoweverManyWereSent) {
  const auto backend = open_backend("cuda-dry:sm_90");
  std::vector<std::pair<int, int>> told;
  BatchCounter counter(*backend->device, 10,
                       [&](int pass, int batch) { told.emplace_back(pass, batch); });
  for (int step = 0; step < 2; ++step) {
    for (int k = 0; k < 20; ++k) counter.sent(k / 10, k % 10);
    counter.look();
  }
  ASSERT_EQ(told.size(), 40u);
  for (int k = 0; k < 40; ++k) EXPECT_EQ(told[k], std::pair(k / 10 % 2, k % 10));
}

TEST(BatchCounter, CountsFitsThatWereAllSentBeforeTheFirstBatchWasDone) {
  const auto backend = make_emulated_backend({}, {.copies = emulation::CopyLane::early});
  Device& device = *backend->device;
  const Buffer<double> sums(*backend, 1, "sums");
  std::vector<std::pair<int, int>> told;
  BatchCounter counter(device, 10, [&](int pass, int batch) { told.emplace_back(pass, batch); });
  for (int k = 0; k < 60; ++k) {
    device.fill_zero(sums.data(), sums.bytes());
    counter.sent(k / 10 % 2, k % 10);
  }
  counter.look();
  EXPECT_TRUE(told.empty());
  device.synchronize();
  counter.look();
  ASSERT_EQ(told.size(), 60u);
  for (int k = 0; k < 60; ++k) EXPECT_EQ(told[k], std::pair(k / 10 % 2, k % 10));
}

TEST_F(DryStrategies, ChunksComeThroughTwoSlots) {
  const auto peak = [&](Way way) {
    return run(Variant::optimized, way).backend->ledger.peak_bytes;
  };
  // Five rows of every angle are 960 points.
  EXPECT_EQ(
      peak({Strategy::streaming, DataSource::host}) - peak({Strategy::chunked, DataSource::host}),
      8 * 960);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
