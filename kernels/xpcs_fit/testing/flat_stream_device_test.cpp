// SPDX-License-Identifier: Apache-2.0
// Streams in the flat order of points on devices, whose batches begin and end within a row: the
// published counts of faults, and the same bits despite any fault.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>

#include "testing/dry_run.hpp"
#include "testing/expect_no_spills.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

namespace fs = std::filesystem;

StreamOptions flat(std::int64_t batch, const FaultPlan& faults = {}) {
  return {.batch = batch, .order = BatchOrder::flat, .settings = {.faults = faults}};
}

struct Streamed {
  std::vector<double> fit = {};
  std::map<std::string, double> told = {};
};
Streamed streamed(const Problem& problem, const StreamOptions& options,
                  emulation::CopyLane copies = emulation::CopyLane::late) {
  const auto backend = emulated_optimized(emulation::Order::forward, copies);
  const auto computation = make_stream(*backend, problem, options);
  computation->step();
  Streamed all = {.fit = computation->result()};
  for (const NamedReading& one : computation->readings()) all.told[one.name] = one.value;
  return all;
}

// The published set: 18 batches of 512 points.
const Problem& published() {
  static const Problem flow = problem({4, 48}, {}, 0.01);
  return flow;
}

TEST(XpcsFlatStream, CountsFaultsAsPublishedAndChangesNoBit) {
  const Streamed calm = streamed(published(), flat(512));
  EXPECT_EQ(calm.fit[1], 6);
  EXPECT_NEAR(calm.fit[0] / 0.4692969007797889, 1, 1e-9);
  EXPECT_EQ(calm.told.at("attempts"), 108);
  struct Counted {
    double probability, attempts, faults, recovered;
  };
  for (const Counted& row : {Counted{0.05, 113, 5, 5}, {0.3, 147, 39, 28}}) {
    const Streamed found = streamed(published(), flat(512, {.probability = row.probability}),
                                    emulation::CopyLane::early);
    EXPECT_EQ(found.told.at("n_batches"), 18);
    EXPECT_EQ(found.told.at("batches"), 108);
    EXPECT_EQ(found.told.at("attempts"), row.attempts);
    EXPECT_EQ(found.told.at("faults"), row.faults);
    EXPECT_EQ(found.told.at("recovered"), row.recovered);
    EXPECT_EQ(found.told.at("failed"), 0);
    EXPECT_EQ(found.fit, calm.fit);
  }
}

TEST(XpcsFlatStream, LeavesOutABatchAsPublished) {
  const Streamed less = streamed(published(), flat(512, {.permanent = {3}}));
  EXPECT_EQ(less.told.at("batches"), 103);
  EXPECT_EQ(less.told.at("attempts"), 105);
  EXPECT_EQ(less.told.at("faults"), 3);
  EXPECT_EQ(less.told.at("failed"), 1);
  EXPECT_EQ(less.told.at("success_rate"), 1 - 1. / 18);
  EXPECT_EQ(less.told.at("points"), 8704);
}

TEST(XpcsFlatStream, FitsAsTheOracleDoesInEitherMode) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem(emulated_size, {.mode = mode});
    const oracle::Fit expected = oracle::fit(one);
    const std::vector<double> fit = streamed(one, flat(100)).fit;
    EXPECT_EQ(fit[1], expected.passes);
    EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
    for (std::size_t k = 0; k < expected.parameters.size(); ++k)
      EXPECT_NEAR(fit[3 + k], expected.parameters[k], 1e-6 * expected.sigma[k]);
  }
}

// Moved points change the fit as much as the oracle's.
TEST(XpcsFlatStream, ReadsEveryPoint) {
  const Problem one = problem(emulated_size, {});
  for (const unsigned seed : {9, 10}) {
    const Problem moved = with_moved_points(one, 20, seed);
    StreamOptions options = flat(100);
    options.passes = 2;
    EXPECT_NEAR(streamed(moved, options).fit[0] / oracle::fit(moved, 2).cost, 1, 1e-9);
  }
}

TEST(XpcsFlatStream, GoesOnToTheSameBits) {
  const auto folder = fs::path(testing::TempDir()) / text("xpcs_flat_", ::getpid());
  const Problem one = problem(emulated_size, {});
  StreamOptions plain = flat(100, {.probability = 0.05});  // 11 batches
  plain.passes = 6;
  const Streamed calm = streamed(one, plain);
  EXPECT_GT(calm.told.at("faults"), 0);
  struct Stop {
    int pass, batch;
  };
  for (const Stop stop : {Stop{0, 10}, Stop{2, 7}, Stop{4, 1}}) {
    fs::remove_all(folder);
    StreamOptions options = plain;
    options.folder = folder;
    options.settings.watch = [&](const BatchRecord& record) {
      if (record.pass == stop.pass && record.batch == stop.batch) throw std::runtime_error("stop");
    };
    EXPECT_THROW((void)streamed(one, options), std::runtime_error);
    int batches = 0;
    options.settings.watch = [&](const BatchRecord&) { ++batches; };
    options.resume = true;
    const Streamed resumed = streamed(one, options);
    EXPECT_EQ(resumed.fit, calm.fit);
    EXPECT_EQ(resumed.told, calm.told);
    EXPECT_LT(batches, 6 * 11);
  }
  fs::remove_all(folder);
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
