// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device as a whole: the results of its units on the emulated device,
// and their programs, launches and transfers on the dry one.
#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/device/decode_tiling.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "testing/expect_no_spills.hpp"

namespace holdfast::clusterless_kde {
namespace {

// |computed - exact| within 1e-5 + 1e-4 |exact| everywhere.
testing::AssertionResult close_to(const std::vector<double>& computed,
                                  const std::vector<double>& exact) {
  if (computed.size() != exact.size()) return testing::AssertionFailure() << "sizes differ";
  for (std::size_t i = 0; i < exact.size(); ++i)
    if (!(std::abs(computed[i] - exact[i]) <= 1e-5 + 1e-4 * std::abs(exact[i])))
      return testing::AssertionFailure()
             << "entry " << i << " is " << computed[i] << ", not " << exact[i];
  return testing::AssertionSuccess();
}

TEST(EmulatedTotal, IsTheOraclesOnTheGoldenCaseAndOnTheSmallestSize) {
  for (const Input& input :
       {golden::input(), make_input({.size = Size::tiny, .marks = Marks::cells})})
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
      EXPECT_TRUE(close_to(emulated_result(Unit::total, input, {.arithmetic = arithmetic}),
                           oracle_decoding(input).likelihood));
  const Input noise = make_input({.size = Size::tiny});
  EXPECT_TRUE(close_to(emulated_result(Unit::total, noise), oracle_decoding(noise).likelihood));
}

TEST(EmulatedTotal, IsTheDecodeOfTheSameInputToTheLastBit) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells});
  const auto decoded = emulated_result(Unit::decode, input);
  EXPECT_EQ(emulated_result(Unit::total, input), decoded);
  EXPECT_EQ(emulated_result(Unit::total, input, {}, {.order = emulation::Order::backward}, 3),
            decoded);
}

TEST(EmulatedTotal, FallsBackToDoubleWhereSinglePrecisionDoesNotReach) {
  Input input = make_input({.size = Size::tiny, .marks = Marks::whiten});
  input.feature_bandwidth.assign(4, 1e-7);
  const auto backend = emulated();
  const auto total = make_unit(*backend, Unit::total, input);
  total->step();
  EXPECT_EQ(reading(*total, "range_fallback"), 1);
  EXPECT_TRUE(close_to(total->result(), oracle_decoding(input).likelihood));
}

// result() of one step with the encoding in `batches` parts.
std::vector<double> in_batches(int batches, Unit unit, const Input& input, const Options& options) {
  const auto backend = emulated();
  Problem problem = {.unit = unit, .input = input, .options = options};
  problem.plan = plan(*backend, input, options);
  problem.plan.electrode_batches = batches;
  return result_of(*make_cuda_optimized(*backend, problem));
}

TEST(EmulatedTotal, BatchesOfElectrodesChangeNoBit) {
  const Input tiny = make_input({.size = Size::tiny, .marks = Marks::cells});
  for (const Options& options : {Options{}, Options{.cut = true}, Options{.chunks = 3}}) {
    const auto whole = in_batches(1, Unit::total, tiny, options);
    for (const int batches : {2, 3, 4})
      EXPECT_EQ(in_batches(batches, Unit::total, tiny, options), whole);
    EXPECT_EQ(in_batches(3, Unit::decode, tiny, options), whole);
  }
  const Input medium = make_input({.size = Size::medium, .bins = 301});
  const Options recomputed = {.values = Values::recomputed};
  EXPECT_EQ(in_batches(5, Unit::encode, medium, recomputed),
            in_batches(1, Unit::encode, medium, recomputed));
}

TEST(Readings, TellThePathAndThePairs) {
  const Input input = make_input({.size = Size::medium});
  const DryRun run(Unit::decode, input);
  EXPECT_EQ(reading(*run.computation, "path"), 1);
  EXPECT_EQ(reading(*run.computation, "q_nodes"), 64);
  EXPECT_EQ(reading(*run.computation, "pairs"), static_cast<double>(shape(input).pairs()));
  EXPECT_EQ(reading(*run.computation, "n_chunks"), 1);
  EXPECT_EQ(reading(*DryRun(Unit::decode, golden::input()).computation, "spikes_dropped"), 2);
}

TEST(Turing, IsToldThatTheFusedAlgorithmNeedsLaterMatrixUnits) {
  const auto backend = open_backend("cuda-dry:sm_75");
  for (const Arithmetic arithmetic :
       {Arithmetic::f32, Arithmetic::ffma, Arithmetic::tf32, Arithmetic::f64})
    for (const Unit unit : {Unit::encode, Unit::decode, Unit::total, Unit::local})
      EXPECT_THAT(
          [&] { make_unit(*backend, unit, golden::input(), {.arithmetic = arithmetic}); },
          testing::ThrowsMessage<Error>(testing::HasSubstr(
              "matrix units of sm_80 or later, and this device is sm_75: use algo:linear")));
  EXPECT_EQ(backend->ledger.counts.programs, 0);
}

TEST(Turing, HasTheOtherAlgorithms) {
  for (const Algorithm algorithm : {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul}) {
    DryRun run(Unit::decode, golden::input(), {.algorithm = algorithm}, 75);
    EXPECT_GT(run.step().launches, 0);
  }
}

TEST(BadOptions, OnlyTheFusedAlgorithmFormsPsiTileByTile) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const auto with = [&](Algorithm algorithm) {
    validate(*backend, Variant::optimized, {.algorithm = algorithm, .values = Values::recomputed});
  };
  EXPECT_NO_THROW(with(Algorithm::fused));
  EXPECT_THAT([&] { with(Algorithm::matmul); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("use psi:stored")));
}

// The others are in programs_slow_test.cpp.
TEST(DryTotal, CompilesTwoProgramsOnceAndNeitherSpills) {
  for (const Recipe& recipe : {Recipe{.size = Size::medium},
                               Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}}) {
    DryRun run(Unit::total, make_input(recipe));
    EXPECT_EQ(run.backend->ledger.counts.programs, 2);
    EXPECT_EQ(run.step().programs, 0);
    expect_no_spills(*run.backend->compiler);
  }
}

// Counts, bins, times, bandwidths and seeds are arguments of kernels.
TEST(DryTotal, AnotherShapeCompilesNothing) {
  const Input first = make_input({.size = Size::large, .marks = Marks::cells});
  DryRun run(Unit::total, first);
  const std::int64_t programs = run.backend->ledger.counts.programs;
  std::vector<Input> others = {
      make_input({.size = Size::large, .marks = Marks::cells, .seed = 43}),
      make_input({.size = Size::large, .marks = Marks::cells, .bins = 777}),
      make_input({.size = Size::realistic, .marks = Marks::cells, .scale = 2}), first};
  others.back().feature_bandwidth.assign(4, 31);
  others.back().edges.pop_back();
  for (const Input& other : others) {
    make_unit(*run.backend, Unit::total, other)->step();
    EXPECT_EQ(run.backend->ledger.counts.programs, programs);
  }
}

TEST(DryTotal, TakesAtMostThreeLaunchesPerPhaseAndChunk) {
  struct Expected {
    Recipe recipe;
    Options options;
    int encode, decode;
  };
  const Recipe maze = {.size = Size::hpc2d, .marks = Marks::cells, .scale = 64};
  for (const auto& [recipe, options, encode, decode] :
       {Expected{{.size = Size::tiny}, {}, 2, 2}, Expected{{.size = Size::medium}, {}, 3, 2},
        Expected{maze, {}, 2, 2}, Expected{maze, {.chunks = 4}, 2, 8},
        Expected{maze, {.chunks = 4, .consume = true}, 2, 12}}) {
    const Input input = make_input(recipe);
    EXPECT_EQ(DryRun(Unit::encode, input, options).step().launches, encode);
    EXPECT_EQ(DryRun(Unit::decode, input, options).step().launches, decode);
    EXPECT_EQ(DryRun(Unit::total, input, options).step().launches, encode + decode);
  }
}

TEST(DryTotal, ASteadyStepAllocatesNothingAndBringsNothingBack) {
  for (const Unit unit : {Unit::encode, Unit::decode, Unit::total}) {
    DryRun run(unit, make_input({.size = Size::medium}));
    const Counts step = run.step();
    EXPECT_EQ(step.allocations, 0);
    EXPECT_EQ(step.d2h_bytes, 0);
    EXPECT_EQ(step.copies, 0);
  }
}

std::int64_t padded(std::int64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

TEST(DryEncode, UploadsSpikesPlacesAndTrajectory) {
  const Input input = make_input({.size = Size::realistic});
  const Shape numbers = shape(input);
  std::int64_t spikes = 0, tiles = 0;  // an electrode's spikes are padded to groups of 16
  for (const std::int64_t n : numbers.encoding) {
    spikes += (n + 15) / 16 * 16;
    tiles += (n + 255) / 256;
  }
  const std::int64_t samples = (numbers.samples + 15) / 16 * 16;
  tiles += (samples + 255) / 256;
  const std::int64_t expected = padded(4 * spikes * numbers.features) + padded(4 * spikes) +
                                padded(4 * numbers.bins) + padded(4 * samples) +
                                padded(12 * tiles) + padded(4 * (numbers.electrodes + 2));
  EXPECT_EQ(DryRun(Unit::encode, input).step().h2d_bytes, expected);
}

TEST(DryDecode, UploadsFeaturesOrderAndRowsOfEverySpikeAndTheTiles) {
  const Input input = make_input({.size = Size::realistic});
  DryRun run(Unit::decode, input);
  const Shape numbers = shape(input);
  const int tile =
      decode_tiling<float, SplitBf16>(numbers, plan(*run.backend, input, {})).tile_spikes();
  std::int64_t tiles = 0;
  for (const std::int64_t m : numbers.decoding) tiles += (m + tile - 1) / tile;
  const std::int64_t spikes = numbers.decoding_total();
  EXPECT_EQ(run.step().h2d_bytes,
            padded(4 * spikes * numbers.features) + 2 * padded(4 * spikes) + padded(16 * tiles));
}

}  // namespace
}  // namespace holdfast::clusterless_kde
