// SPDX-License-Identifier: Apache-2.0
// The optimized host variant against golden values and the oracle, in every unit, formulation and
// precision, and its independence of how a decode is divided.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr Options single = {};
constexpr Options twice = {.arithmetic = Arithmetic::f64};

struct Outcome {
  std::vector<double> result = {};
  std::vector<NamedReading> readings = {};
  std::int64_t peak_bytes = 0, estimate_bytes = 0;

  double reading(std::string_view name) const {
    const auto found = std::ranges::find(readings, name, &NamedReading::name);
    return found == readings.end() ? NAN : found->value;
  }
};

// Steps twice, the second time in the phase that forbids to allocate.
Outcome outcome(Unit unit, const Input& input, const Options& options, std::string_view isa) {
  const auto backend = open_backend("host");
  Problem problem = {.unit = unit, .input = input, .plan = plan(*backend, input, options)};
  problem.options = problem.plan.options;
  Outcome all = {.estimate_bytes = problem.plan.estimate_bytes};
  const auto make = isa == "x86-64-v4" ? isa_v4::make_host_optimized : isa_v3::make_host_optimized;
  const auto computation = make(*backend, std::move(problem));
  computation->step();
  const std::vector<double> first = computation->result();
  backend->ledger.enter(Ledger::Phase::steady, computation->permissions());
  computation->step();
  backend->ledger.enter(Ledger::Phase::building);
  all.result = computation->result();
  EXPECT_EQ(first, all.result) << "two steps differ";
  all.readings = computation->readings();
  all.peak_bytes = backend->ledger.peak_bytes;
  return all;
}
std::vector<double> result(Unit unit, const Input& input, const Options& options = {}) {
  return outcome(unit, input, options, host_limits().isa).result;
}

template <std::size_t n>
std::vector<double> values(const std::array<double, n>& golden) {
  return {golden.begin(), golden.end()};
}

// The maze, a plane, thinned to few spikes.
Input in_the_maze() {
  return make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 512});
}
Input on_a_track(Size size, Marks marks) {
  return make_input({.size = size, .marks = marks});
}

struct PerSpike {
  double f32 = 0, f64 = 0;
};
PerSpike error_per_spike(const Input& input, std::int64_t most = 500) {
  const Input spread = one_spike_per_row(input, most);
  const std::vector<double> oracle = oracle_decoding(spread).likelihood;
  return {largest_difference(result(Unit::decode, spread, single), oracle),
          largest_difference(result(Unit::decode, spread, twice), oracle)};
}

TEST(HostOptimized, ReproducesTheGoldenCaseInDouble) {
  const Input input = golden::input();
  std::vector<double> encoding = values(golden::occupancy);
  for (const double g : golden::ground) encoding.push_back(g);
  EXPECT_LT(largest_difference(result(Unit::encode, input, twice), encoding), 1e-14);
  EXPECT_LT(largest_difference(result(Unit::decode, input, twice), values(golden::likelihood)),
            1e-11);
  EXPECT_LT(largest_difference(result(Unit::total, input, twice), values(golden::likelihood)),
            1e-11);
  EXPECT_LT(largest_difference(result(Unit::local, input, twice), values(golden::local)), 1e-11);
}

TEST(HostOptimized, ReproducesTheGoldenCaseInSinglePrecision) {
  const Input input = golden::input();
  std::vector<double> encoding = values(golden::occupancy);
  for (const double g : golden::ground) encoding.push_back(g);
  EXPECT_LT(largest_difference(result(Unit::encode, input), encoding), 1e-6);
  EXPECT_LT(largest_difference(result(Unit::decode, input), values(golden::likelihood)), 1e-5);
  EXPECT_LT(largest_difference(result(Unit::total, input), values(golden::likelihood)), 1e-5);
  EXPECT_LT(largest_difference(result(Unit::local, input), values(golden::local)), 1e-5);
}

TEST(HostOptimized, DenseErrorPerSpikeStaysInItsClass) {
  for (const Size size : {Size::tiny, Size::small})
    for (const Marks marks : {Marks::profile, Marks::cells}) {
      const PerSpike error = error_per_spike(on_a_track(size, marks));
      EXPECT_LT(error.f32, 2e-5);
      EXPECT_LT(error.f64, 1e-12);
    }
}

TEST(HostOptimized, DenseErrorPerSpikeStaysInItsClassInAPlane) {
  const PerSpike error = error_per_spike(in_the_maze());
  EXPECT_LT(error.f32, 2e-5);
  EXPECT_LT(error.f64, 1e-12);
}

// The f64 nodes lie 0.38 sigma apart, where the error bound of the trapezoidal sum is below 1e-14.
TEST(HostOptimized, TwoHopErrorPerSpikeStaysInItsClass) {
  for (const Marks marks : {Marks::profile, Marks::cells}) {
    const Input input = on_a_track(Size::medium, marks);
    EXPECT_EQ(outcome(Unit::decode, input, single, "x86-64-v3").reading("path"), 1);
    const PerSpike error = error_per_spike(input);
    EXPECT_LT(error.f32, 2e-5);
    EXPECT_LT(error.f64, 1e-9);
  }
}

TEST(HostOptimized, EncodesAsTheOracleOnEveryPath) {
  for (const Input& input : {on_a_track(Size::tiny, Marks::cells),
                             on_a_track(Size::medium, Marks::profile), in_the_maze()}) {
    const Encoding oracle = oracle_encoding(input);
    std::vector<double> both = oracle.occupancy;
    both.insert(both.end(), oracle.ground.begin(), oracle.ground.end());
    EXPECT_LT(largest_difference(result(Unit::encode, input, single), both), 1e-5);
    EXPECT_LT(largest_difference(result(Unit::encode, input, twice), both), 1e-10);
  }
}

TEST(HostOptimized, LocalLikelihoodIsTheOraclesOnEveryPath) {
  for (const Input& input : {on_a_track(Size::small, Marks::cells),
                             on_a_track(Size::medium, Marks::profile), in_the_maze()}) {
    const Input spread = one_spike_per_row(input, 300);
    const std::vector<double> oracle = oracle_local(spread);
    EXPECT_LT(largest_difference(result(Unit::local, spread, single), oracle), 2e-5);
    EXPECT_LT(largest_difference(result(Unit::local, spread, twice), oracle), 1e-9);
  }
}

// Enough spikes for threads to share them.
TEST(HostOptimized, LocalLikelihoodOfManySpikesIsTheOracles) {
  const Input input = make_input({.size = Size::medium,
                                  .marks = Marks::cells,
                                  .encoding_spikes = 1000,
                                  .decoding_spikes = 1500});
  EXPECT_LT(largest_difference(result(Unit::local, input, single), oracle_local(input)), 2e-4);
}

TEST(HostOptimized, LocalLikelihoodWithoutFloorReachesFarBelowIt) {
  const Input input = golden::input();
  const std::vector<double> oracle = oracle_local(input, LocalFloor::omitted);
  ASSERT_LT(oracle[golden::floored_row], 10 * log_rate_floor);
  for (const double tolerance : {1e-4, 1e-10}) {
    const Options options = {.arithmetic = tolerance < 1e-5 ? Arithmetic::f64 : Arithmetic::f32,
                             .local_floor = false};
    EXPECT_LT(largest_difference(result(Unit::local, input, options), oracle), tolerance);
  }
}

TEST(HostOptimized, EveryInstructionSetComputesAlike) {
  if (host_limits().isa == "x86-64-v3") GTEST_SKIP() << "this machine has but one";
  for (const Input& input : {on_a_track(Size::small, Marks::cells), in_the_maze(),
                             on_a_track(Size::medium, Marks::cells)})
    for (const Unit unit : {Unit::decode, Unit::local}) {
      const Input spread = one_spike_per_row(input, 200);
      EXPECT_LT(largest_difference(outcome(unit, spread, single, "x86-64-v3").result,
                                   outcome(unit, spread, single, "x86-64-v4").result),
                1e-5);
    }
}

TEST(HostOptimized, RowsWithoutSpikesAreMinusTheGroundProcessBitwise) {
  for (const Options& options : {single, twice}) {
    const Input input = on_a_track(Size::small, Marks::cells);
    const std::vector<double> out = result(Unit::decode, input, options);
    const std::vector<double> encoding = result(Unit::encode, input, options);
    const Order by_row = order(input);
    const std::int64_t bins = input.bins();
    int rows = 0;
    for (std::int64_t t = 0; t < input.rows(); ++t) {
      if (by_row.row_begin[t] < by_row.row_begin[t + 1]) continue;
      ++rows;
      for (std::int64_t p = 0; p < bins; ++p)
        ASSERT_EQ(out[t * bins + p], -encoding[bins + p]) << "row " << t << ", bin " << p;
    }
    EXPECT_GT(rows, 1);
  }
}

TEST(HostOptimized, AFlooredSpikeAddsTheFloorItself) {
  const Input input = golden::input();
  const std::vector<double> out = result(Unit::decode, input, twice);
  const std::vector<double> encoding = result(Unit::encode, input, twice);
  constexpr int bins = golden::bins;
  const Input alone = one_spike_per_row(input, 9);
  const std::vector<double> spread = result(Unit::decode, alone, twice);
  for (int p = 0; p < bins; ++p) {
    int floored = 0;
    for (std::size_t k = p; k < spread.size(); k += bins)
      floored += spread[k] == log_rate_floor - encoding[bins + p];
    EXPECT_GE(floored, 1) << "bin " << p;
  }
}

TEST(HostOptimized, TimeChunksAreBitwiseTheWhole) {
  for (const Options& base : {single, twice})
    for (const Input& input : {on_a_track(Size::medium, Marks::cells), in_the_maze()}) {
      const std::vector<double> whole = result(Unit::decode, input, base);
      for (const int chunks : {2, 7, 64}) {
        Options options = base;
        options.chunks = chunks;
        ASSERT_EQ(result(Unit::decode, input, options), whole) << chunks << " chunks";
      }
    }
}

TEST(HostOptimized, BlocksAndTilesOfAnySizeAgree) {
  for (const Input& input : {on_a_track(Size::medium, Marks::cells), in_the_maze()}) {
    const Input spread = one_spike_per_row(input, 300);
    const std::vector<double> whole = result(Unit::decode, spread);
    for (const Options& options :
         {Options{.block = 1}, Options{.block = 10}, Options{.block = 500},
          Options{.position_tile = 1}, Options{.position_tile = 200},
          Options{.position_tile = 4000}, Options{.encoding_tile = 1},
          Options{.encoding_tile = 2048},
          Options{.block = 7, .position_tile = 100, .encoding_tile = 200, .chunks = 3}})
      ASSERT_LT(largest_difference(result(Unit::decode, spread, options), whole), 1e-5)
          << options.block << " " << options.position_tile << " " << options.encoding_tile;
  }
}

TEST(HostOptimized, AConsumerSeesTheRowsThatOutWouldHold) {
  const Input input = on_a_track(Size::medium, Marks::cells);
  const std::vector<double> out = result(Unit::decode, input);
  const std::int64_t rows = input.rows(), bins = input.bins();
  for (const int chunks : {1, 5}) {
    const std::vector<double> consumed =
        result(Unit::decode, input, {.chunks = chunks, .consume = true});
    ASSERT_EQ(consumed.size(), static_cast<std::size_t>(2 * rows));
    for (std::int64_t t = 0; t < rows; ++t) {
      const double* row = &out[t * bins];
      const double* largest = std::max_element(row, row + bins);
      double sum = 0;
      for (std::int64_t p = 0; p < bins; ++p) sum += std::exp(row[p] - *largest);
      ASSERT_NEAR(consumed[t], *largest + std::log(sum), 1e-5) << "row " << t;
      ASSERT_EQ(consumed[rows + t], static_cast<double>(largest - row)) << "row " << t;
    }
  }
}

TEST(HostOptimized, ConsumedChunksAreBitwiseTheConsumedWhole) {
  const Input input = in_the_maze();
  EXPECT_EQ(result(Unit::decode, input, {.chunks = 9, .consume = true}),
            result(Unit::decode, input, {.consume = true}));
}

TEST(HostOptimized, TheCutLeavesOutTilesAndChangesNothing) {
  const Input input = make_input({.size = Size::hpc1d, .marks = Marks::cells, .scale = 256});
  const Input spread = one_spike_per_row(input, 400);
  const Outcome cut = outcome(Unit::decode, spread, {.cut = true}, host_limits().isa);
  EXPECT_LT(cut.reading("tiles_visited_fraction"), 0.6);
  EXPECT_GT(cut.reading("tiles_visited_fraction"), 0.1);
  EXPECT_LT(largest_difference(cut.result, result(Unit::decode, spread)), 1e-5);
}

TEST(HostOptimized, EstimatesItsPeakExactly) {
  const Input inputs[] = {on_a_track(Size::small, Marks::cells),
                          on_a_track(Size::medium, Marks::profile), in_the_maze()};
  for (const Input& input : inputs)
    for (const Options& options :
         {single, twice, Options{.chunks = 6}, Options{.chunks = 6, .consume = true},
          Options{.block = 10, .position_tile = 300, .encoding_tile = 512}, Options{.cut = true}}) {
      if (options.cut && &input == &inputs[1]) continue;  // it goes through nodes
      const Outcome all = outcome(Unit::decode, input, options, host_limits().isa);
      EXPECT_EQ(all.peak_bytes, all.estimate_bytes);
    }
}

// Single rows are the minimum that chunks can reach; then threads' own tiles shrink.
TEST(HostOptimized, KeepsToABudgetBelowThatOfSingleRowsByNarrowerTiles) {
  Input few_rows = on_a_track(Size::small, Marks::cells);
  few_rows.edges = {0, 10, 20};
  for (const Input& input : {in_the_maze(), few_rows}) {
    const auto backend = open_backend("host");
    const auto rows = static_cast<int>(input.rows());
    const std::int64_t single_rows =
        plan(*backend, input, {.chunks = rows, .consume = true}).estimate_bytes;
    const Options tight = {.budget = single_rows - 50'000};
    const Outcome all = outcome(Unit::decode, input, tight, host_limits().isa);
    EXPECT_EQ(all.reading("n_chunks"), rows);
    EXPECT_LE(all.peak_bytes, *tight.budget);
    EXPECT_EQ(all.peak_bytes, all.estimate_bytes);
    EXPECT_EQ(all.result, result(Unit::decode, input, {.consume = true}));
  }
}

TEST(HostOptimized, SaysWhatTheLeastPlanNeeds) {
  expect_least_plan_told(*open_backend("host"), on_a_track(Size::small, Marks::cells));
}

TEST(HostOptimized, KeepsToABudgetByTimeChunks) {
  const Input input = in_the_maze();
  constexpr std::int64_t budget = 2 << 20;
  const Outcome all = outcome(Unit::decode, input, {.budget = budget}, host_limits().isa);
  EXPECT_GT(all.reading("n_chunks"), 1);
  EXPECT_LE(all.peak_bytes, budget);
  EXPECT_EQ(all.peak_bytes, all.estimate_bytes);
  EXPECT_EQ(all.result, result(Unit::decode, input, {.consume = true}));
}

TEST(HostOptimized, TheRangeFallbackComputesInDouble) {
  Input input = make_input({.size = Size::small, .marks = Marks::whiten, .features = 10});
  input.feature_bandwidth.assign(input.features, 1e-3);
  const Outcome all = outcome(Unit::decode, input, single, host_limits().isa);
  EXPECT_EQ(all.reading("range_fallback"), 1);
  EXPECT_EQ(all.result, result(Unit::decode, input, twice));
}

TEST(HostOptimized, ElectrodesWithoutSpikesAreFlooredAndFinite) {
  for (const Size size : {Size::small, Size::medium}) {
    const Input input = make_input({.size = size, .marks = Marks::cells, .sparse = true});
    const PerSpike error = error_per_spike(input);
    EXPECT_LT(error.f32, 2e-5);
    EXPECT_LT(error.f64, 1e-12);
    for (const double value : result(Unit::local, input)) ASSERT_TRUE(std::isfinite(value));
  }
}

// 20, 37 and 1000 bandwidths beyond the track's end: visible in double alone, at its limit, and
// never.
TEST(HostOptimized, PlacesFarFromTheTrackAreFinite) {
  for (const Size size : {Size::tiny, Size::medium}) {
    Input input = on_a_track(size, Marks::profile);
    const double sigma = input.position_bandwidth[0];
    for (const double beyond : {20., 37., 1000.}) input.places.push_back(100 + beyond * sigma);
    for (const double value : result(Unit::decode, input)) ASSERT_TRUE(std::isfinite(value));
    input.places.erase(input.places.end() - 2);
    const Input spread = one_spike_per_row(input, 100);
    EXPECT_LT(
        largest_difference(result(Unit::decode, spread, twice), oracle_decoding(spread).likelihood),
        1e-9);
  }
}

TEST(HostOptimized, WorksWithoutDecodingSpikes) {
  Input input = on_a_track(Size::tiny, Marks::profile);
  for (Spikes& spikes : input.decoding_spikes) spikes = {};
  const std::vector<double> out = result(Unit::decode, input);
  const std::vector<double> encoding = result(Unit::encode, input);
  for (std::size_t k = 0; k < out.size(); ++k)
    ASSERT_EQ(out[k], -encoding[input.bins() + static_cast<std::int64_t>(k) % input.bins()]);
}

// At a distance of three hundred units the expanded form has lost what the difference form keeps.
TEST(HostOptimized, DifferencesKeepWhatExpandedDistancesLose) {
  const Input input = one_spike_per_row(on_a_track(Size::small, Marks::cells), 200);
  Input moved = input;
  for (auto* phase : {&moved.encoding_spikes, &moved.decoding_spikes})
    for (Spikes& spikes : *phase)
      for (double& feature : spikes.features) feature += 300;
  const std::vector<double> exact = oracle_decoding(input).likelihood;
  const Options expanded = {.distance = Distance::expanded};
  EXPECT_LT(largest_difference(result(Unit::decode, moved), exact), 3e-5);
  EXPECT_LT(largest_difference(result(Unit::decode, input, expanded), exact), 1e-3);
  EXPECT_GT(largest_difference(result(Unit::decode, moved, expanded), exact), 1e-4);
}

TEST(HostOptimized, CountsWhatItWasGiven) {
  const Input input = golden::input();
  const Outcome all = outcome(Unit::decode, input, single, host_limits().isa);
  EXPECT_EQ(all.reading("pairs"), 6 * 6 + 4 * 3);
  EXPECT_EQ(all.reading("spikes_dropped"), 2);
  EXPECT_EQ(all.reading("path"), 0);
  EXPECT_EQ(all.reading("n_chunks"), 1);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
