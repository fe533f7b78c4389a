// SPDX-License-Identifier: Apache-2.0
// Streams on devices: correct whenever copies run, their costs, and that copies overlap.
#include <gmock/gmock.h>

#include <algorithm>

#include "runtime/backend/recording.hpp"
#include "testing/dry_run.hpp"
#include "testing/error_of.hpp"
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/device/generator.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

using emulation::CopyLane;
using testing::HasSubstr;

// Batches of four rows of emulated_size; the last one has three.
constexpr std::int64_t four_rows = 4 * 19 * 3;

std::vector<double> streamed(Backend& backend, const Problem& problem,
                             const StreamOptions& options) {
  return result_of(*make_stream(backend, problem, options), 2);
}

TEST(XpcsDeviceStream, FitsAsTheOracleDoesWheneverCopiesRun) {
  const Problem one = problem(emulated_size, {});
  const oracle::Fit expected = oracle::fit(one, 8);
  for (const CopyLane copies : {CopyLane::early, CopyLane::late})
    for (const DataSource source : {DataSource::host, DataSource::resident})
      for (const bool full : {false, true}) {
        if (source == DataSource::resident && copies == CopyLane::early) continue;  // none run
        const auto backend = emulated_optimized(emulation::Order::forward, copies);
        const std::vector<double> fit =
            streamed(*backend, one,
                     {.batch = four_rows,
                      .passes = 8,
                      .source = source,
                      .settings = {.mode = full ? StreamMode::full : StreamMode::plain}});
        EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
        expect_parameters(fit, expected, 1e-4);
      }
}

TEST(XpcsDeviceStream, FollowsTheOtherParametersWhereTheContrastRests) {
  const Problem one = with_resting_contrast(problem(emulated_size, {}));
  const oracle::Fit expected = oracle::fit(one, 8);
  EXPECT_EQ(expected.parameters[0], 0.2);
  for (const BatchOrder order : {BatchOrder::rows, BatchOrder::flat}) {
    const auto backend = emulated_optimized();
    const std::vector<double> fit =
        streamed(*backend, one, {.batch = four_rows, .passes = 8, .order = order});
    EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
  }
}

TEST(XpcsDeviceStream, StopsWhereTheOracleDoes) {
  const Problem one = problem(emulated_size, {.mode = Mode::at_rest});
  const oracle::Fit expected = oracle::fit(one);
  for (const bool full : {false, true}) {
    const auto backend = emulated_optimized();
    const std::vector<double> fit = streamed(
        *backend, one,
        {.batch = four_rows, .settings = {.mode = full ? StreamMode::full : StreamMode::plain}});
    EXPECT_EQ(fit[1], expected.passes);
    EXPECT_EQ(fit[2], expected.status);
  }
}

TEST(XpcsDeviceStream, ABatchThatFailsIsReadAgainAndChangesNoBit) {
  const Problem one = problem(emulated_size, {});
  for (const CopyLane copies : {CopyLane::early, CopyLane::late}) {
    const auto run = [&](double probability) {
      const auto backend = emulated_optimized(emulation::Order::forward, copies);
      const auto fit =
          make_stream(*backend, one,
                      {.batch = four_rows,
                       .passes = 8,
                       .settings = {.retries = 20, .faults = {.probability = probability}}});
      const std::vector<double> result = result_of(*fit);
      EXPECT_EQ(reading(*fit, "faults") > 0, probability > 0);
      return result;
    };
    EXPECT_EQ(run(0.3), run(0));
  }
}

// Points whose index has 33 bits.
TEST(XpcsDeviceStream, MakesTheNoiseOfPointsBeyondFourBillion) {
  constexpr Size large = {1, 70000};
  constexpr int row = 65000, pairs = 64;
  const auto made = [&](double noise) {
    const Options still = {.mode = Mode::at_rest};
    const Recipe recipe = {
        .size = large, .physics = default_physics(large), .noise = noise, .sized_only = true};
    const auto backend = emulated_optimized();
    const Generator<double> generator(*backend, {make_input(recipe, still), still}, pairs);
    const Buffer<double> out(*backend, pairs, "slots");
    generator.enqueue(pairs, row, out.data());
    return out.to_host();
  };
  const std::vector<double> plain = made(0), noisy = made(0.01);
  for (std::uint64_t q = 0; q < pairs; ++q) {
    const std::uint64_t k = std::uint64_t{row} * large.frames + q;
    EXPECT_NEAR(noisy[q] / plain[q], 1 + 0.01 * noise(k, Recipe{}.seed, noise_of_data), 1e-14);
  }
}

struct DryStream : testing::Test {
  const Size size = {4, 48};
  const Problem flow = {make_input({.size = size, .sized_only = true}, {}), {}};
  std::unique_ptr<Backend> backend = open_backend("cuda-dry:sm_90");

  Counts step(StreamOptions options) {
    return DryRun(90, [&](Backend& on) { return make_stream(on, flow, options); }).step();
  }
  static StreamOptions plain(DataSource source) {
    return {.batch = 6 * 4 * 48,
            .passes = 8,
            .source = source,
            .settings = {.mode = StreamMode::plain}};
  }
};

TEST_F(DryStream, BringsEachPointOnceAPassOrNever) {
  const Counts host = step(plain(DataSource::host)), resident = step(plain(DataSource::resident));
  EXPECT_EQ(host.h2d_bytes, 8 * 8 * size.points());
  EXPECT_EQ(host.d2h_bytes, 0);
  EXPECT_EQ(host.allocations, 0);
  EXPECT_EQ(resident.h2d_bytes + resident.d2h_bytes + resident.syncs, 0);
  // Integrals, three kernels for each of the 8 batches, a step.
  EXPECT_EQ(host.launches, 8 * (1 + 3 * 8 + 1));
  EXPECT_EQ(resident.launches, host.launches);
}

TEST_F(DryStream, HoldsThreeSlotsHoweverManyBatchesThereAre) {
  for (const DataSource source : {DataSource::host, DataSource::resident, DataSource::generated})
    for (const bool full : {false, true})
      for (const int rows : {1, 6, 48}) {
        StreamOptions options = plain(source);
        options.batch = rows * 4 * 48;
        options.settings.mode = full ? StreamMode::full : StreamMode::plain;
        const DryRun run(90, [&](Backend& on) { return make_stream(on, flow, options); });
        EXPECT_EQ(run.backend->ledger.peak_bytes,
                  estimate_stream_bytes(*run.backend, flow, options))
            << rows << " rows";
      }
}

TEST_F(DryStream, FitsItsBudgetOrIsRefused) {
  StreamOptions options = plain(DataSource::host);
  options.batch = size.points();
  for (const std::int64_t budget : {200'000, 100'000, 60'000}) {
    options.budget_bytes = budget;
    const DryRun run(90, [&](Backend& on) { return make_stream(on, flow, options); });
    EXPECT_LE(run.backend->ledger.peak_bytes, budget);
    EXPECT_GT(run.backend->ledger.peak_bytes, budget / 3);
  }
  options.budget_bytes = 1000;
  EXPECT_THAT(refusal_of([&] { return make_stream(*backend, flow, options); }),
              HasSubstr("budget_too_small: a stream of single rows of 48 frames and 4 angles"));
}

// A failure of the run, not of the request; it names the available memory.
TEST_F(DryStream, RunsOutOfMemoryWhereNothingStreamsInstead) {
  backend->ledger.limit_to(50'000);
  EXPECT_THAT(refusal_of([&] { return make(Unit::fit, *backend, Variant::optimized, flow); },
                         Fault::out_of_memory),
              AllOf(HasSubstr("'inputs'"), HasSubstr("73728 bytes"), HasSubstr("50000 allowed")));
}

TEST_F(DryStream, HalvesItsBatchesUntilThereIsRoom) {
  StreamOptions options = plain(DataSource::host);
  options.batch = size.points();
  backend->ledger.limit_to(60'000);
  testing::internal::CaptureStderr();
  const auto fit = make_stream(*backend, flow, options);
  fit->step();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("a stream begins with batches of half of 9216 points: failed to"));
  EXPECT_EQ(fit->readings().front().value, 8);  // of a half, a quarter, an eighth of 48 rows
  EXPECT_LE(backend->ledger.peak_bytes, 60'000);
  // A stream without memory for a single row is out of memory.
  backend->ledger.limit_to(backend->ledger.live_bytes + 1000);
  testing::internal::CaptureStderr();
  EXPECT_EQ(error_of([&] { return make_stream(*backend, flow, options); }).fault(),
            Fault::out_of_memory);
  (void)testing::internal::GetCapturedStderr();
}

TEST_F(DryStream, TakesTheRoadThatFitsAndTellsWhy) {
  const auto within = [&](std::int64_t limit) {
    const auto on = open_backend("cuda-dry:sm_90");
    on->ledger.limit_to(limit);
    const FitWithin made = make_fit_within(*on, flow);
    EXPECT_LE(on->ledger.peak_bytes, limit);
    return made.recovery_actions;
  };
  EXPECT_TRUE(within(1'000'000).empty());
  const std::vector<std::string> actions = within(80'000);
  ASSERT_EQ(actions.size(), 1);
  EXPECT_THAT(actions[0], HasSubstr("standard -> streaming: failed to allocate"));
  EXPECT_THAT(actions[0], HasSubstr("80000 allowed"));
}

// A pass over 64 x 6000 x 6000 points; neither their number nor their bytes fit in 32 bits.
TEST_F(DryStream, GoesOverMoreThanTwoBillionPoints) {
  const Size large = {64, 6000};
  const Problem vast = {make_input({.size = large, .sized_only = true}, {}), {}};
  ASSERT_GT(large.points(), std::int64_t{1} << 31);
  for (const DataSource source : {DataSource::host, DataSource::resident, DataSource::generated}) {
    StreamOptions options = plain(source);
    options.batch = 10 * 64 * 6000;
    options.passes = 8;
    DryRun run(90, [&](Backend& on) { return make_stream(on, vast, options); });
    const Counts step = run.step();
    EXPECT_EQ(step.h2d_bytes, source == DataSource::host ? 8 * 8 * large.points() : 0);
    EXPECT_EQ(run.backend->ledger.peak_bytes, estimate_stream_bytes(*run.backend, vast, options));
    const bool generates = source == DataSource::generated;
    EXPECT_EQ(step.launches, 8 * (2 + (generates ? 4 : 3) * 600));
  }
}

// The operations given to each lane, in their order.
struct Given {
  Lane lane;
  std::string what;
};
std::vector<Given> given(Backend& backend, const Problem& problem, const StreamOptions& options) {
  const auto computation = make_stream(backend, problem, options);
  Recording recording(backend);
  computation->step();
  recording.stop();
  std::vector<Given> all;
  for (const Activity& activity : recording.activities())
    all.push_back({activity.lane, text(name(activity.kind), " ", activity.name)});
  return all;
}
std::vector<std::size_t> places(const std::vector<Given>& all, std::string_view what) {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].what.starts_with(what)) found.push_back(k);
  return found;
}

TEST_F(DryStream, ABatchIsOnItsWayWhileTheOneBeforeIsComputed) {
  for (const bool full : {false, true}) {
    StreamOptions options = plain(DataSource::host);
    options.passes = 1;
    options.settings.mode = full ? StreamMode::full : StreamMode::plain;
    const auto all = given(*backend, flow, options);
    const auto kernels = places(all, "kernel pass<");
    // Parameters and the result use the main lane.
    auto uploads = places(all, "upload upload");
    std::erase_if(uploads, [&](std::size_t at) { return all[at].lane == Lane::main; });
    ASSERT_EQ(kernels.size(), 8);
    ASSERT_EQ(uploads.size(), 8);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      EXPECT_EQ(all[kernels[k]].lane, Lane::main);
      // A kernel waits for its own copy; a copy for the kernel that read its slot, three before.
      EXPECT_EQ(all[kernels[k] - 1].what, "wait arrived");
      EXPECT_EQ(all[uploads[k] - 1].what == "wait read", k >= stream_slots);
      // The host refills a slot's page-locked memory once it has been copied.
      if (k < stream_slots) continue;
      EXPECT_EQ(all[uploads[k] - 2].what, "synchronize arrived");
    }
    // Between a kernel and the next copy nothing waits for that kernel.
    for (std::size_t k = 0; k + 1 < kernels.size(); ++k)
      for (std::size_t at = kernels[k]; at < uploads[k + 1]; ++at)
        EXPECT_FALSE(all[at].what == "synchronize synchronize" ||
                     (!full && all[at].what == "download download"))
            << full << " " << k << " " << all[at].what;
    // The sums of a batch are read when two more have begun.
    const auto looks = places(all, "synchronize sums");
    EXPECT_EQ(looks.size(), full ? 8 : 0);
    for (std::size_t k = 0; k + 2 < looks.size(); ++k) EXPECT_GT(looks[k], kernels[k + 2]);
  }
}

TEST_F(DryStream, RefusesWhatItCannotDo) {
  const auto refusal = [&](const StreamOptions& options) {
    return refusal_of([&] { return make_stream(*backend, flow, options); });
  };
  EXPECT_THAT(refusal({.order = BatchOrder::flat, .settings = {.mode = StreamMode::plain}}),
              HasSubstr("invalid_option: batches of the flat order"));
  EXPECT_THAT(refusal({.source = DataSource::resident, .order = BatchOrder::flat}),
              HasSubstr("invalid_option: batches of the flat order"));
  EXPECT_THAT(refusal({.order = BatchOrder::flat, .budget_bytes = 100000}),
              HasSubstr("invalid_option: a budget is kept by fewer rows"));
  EXPECT_THAT(
      refusal({.source = DataSource::resident, .settings = {.faults = {.probability = 0.1}}}),
      HasSubstr("invalid_option: a fault is planted into a batch's copy"));
  EXPECT_THAT(refusal({.batch = 0}), HasSubstr("invalid_option: batches of 0 points"));
}

}  // namespace
}  // namespace holdfast::xpcs_fit
