// SPDX-License-Identifier: Apache-2.0
// Streams in the flat order of points on devices, whose batches begin and end within a row: the
// published counts of faults, and the same bits despite any fault.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/files.hpp"
#include "testing/dry_run.hpp"
#include "testing/expect_no_spills.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/stream_outcome.hpp"

namespace holdfast::xpcs_fit {
namespace {

StreamOptions flat(std::int64_t batch, const FaultPlan& faults = {}) {
  return {.batch = batch, .order = BatchOrder::flat, .settings = {.faults = faults}};
}

StreamOutcome emulated(const Problem& problem, const StreamOptions& options,
                       emulation::CopyLane copies = emulation::CopyLane::late) {
  return stream_outcome(*emulated_optimized(emulation::Order::forward, copies), problem, options);
}

TEST(XpcsFlatStream, CountsFaultsAsPublishedChangesNoBitAndLeavesOutABatchAsPublished) {
  expect_published_faults([set = published_set()](const FaultPlan& faults) {
    const bool struck = faults.probability > 0;
    return emulated(set, flat(512, faults),
                    struck ? emulation::CopyLane::early : emulation::CopyLane::late);
  });
}

TEST(XpcsFlatStream, FitsAsTheOracleDoesInEitherMode) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem(emulated_size, {.mode = mode});
    const oracle::Fit expected = oracle::fit(one);
    const std::vector<double> fit = emulated(one, flat(100)).fit;
    EXPECT_EQ(fit[1], expected.passes);
    EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
    expect_parameters(fit, expected, 1e-6);
  }
}

// Moved points change the fit as much as the oracle's.
TEST(XpcsFlatStream, ReadsEveryPoint) {
  const Problem one = problem(emulated_size, {});
  for (const unsigned seed : {9, 10}) {
    const Problem moved = with_moved_points(one, 20, seed);
    StreamOptions options = flat(100);
    options.passes = 2;
    EXPECT_NEAR(emulated(moved, options).fit[0] / oracle::fit(moved, 2).cost, 1, 1e-9);
  }
}

TEST(XpcsFlatStream, GoesOnToTheSameBits) {
  const Problem one = problem(emulated_size, {});
  StreamOptions plain = flat(100, {.probability = 0.05});  // 11 batches
  plain.passes = 6;
  const StreamOutcome calm = emulated(one, plain);
  EXPECT_GT(calm.told.at("faults"), 0);
  struct Stop {
    int pass, batch;
  };
  for (const Stop stop : {Stop{0, 10}, Stop{2, 7}, Stop{4, 1}}) {
    const NewFolder folder(testing::TempDir() + "xpcs_flat_");
    StreamOptions options = plain;
    options.folder = folder.path();
    options.settings.watch = [&](const BatchRecord& record) {
      if (record.pass == stop.pass && record.batch == stop.batch) throw std::runtime_error("stop");
    };
    EXPECT_THROW((void)emulated(one, options), std::runtime_error);
    int batches = 0;
    options.settings.watch = [&](const BatchRecord&) { ++batches; };
    options.resume = true;
    StreamOutcome resumed = emulated(one, options);
    EXPECT_EQ(resumed.fit, calm.fit);
    ASSERT_TRUE(resumed.told.contains("skipped_files"));  // only a resumed fit tells it
    EXPECT_EQ(resumed.told.extract("skipped_files").mapped(), 0);
    EXPECT_EQ(resumed.told, calm.told);
    EXPECT_LT(batches, 6 * 11);
  }
}

TEST(XpcsFlatStream, HoldsThreeSlotsAndBringsEachPointOnceAPass) {
  const Size size = {4, 48};
  const Problem flow = {make_input({.size = size, .sized_only = true}, {}), {}};
  for (const std::int64_t batch : {512, 1000, 9216}) {
    StreamOptions options = flat(batch);
    options.passes = 8;
    DryRun run(90, [&](Backend& on) { return make_stream(on, flow, options); });
    EXPECT_EQ(run.backend->ledger.peak_bytes, estimate_stream_bytes(*run.backend, flow, options));
    const Counts step = run.step();
    const std::int64_t batches = (size.points() + batch - 1) / batch;
    // The data, the parameters in each pass if they change, and the final state of the fit.
    EXPECT_GE(step.h2d_bytes, 8 * 8 * size.points());
    EXPECT_LT(step.h2d_bytes, 8 * 8 * size.points() + 8 * 8 * 9 + 8 * fit_count(9) + 1);
    // Points and their sums; integrals when parameters change.
    EXPECT_GE(step.launches, 8 * 2 * batches + 1);
    EXPECT_LE(step.launches, 8 * (2 * batches + 1));
    expect_no_spills(*run.backend->compiler, 240);
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
