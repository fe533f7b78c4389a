// SPDX-License-Identifier: Apache-2.0
// The optimized decode on a device: what it computes, on the emulated one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/device/decode_tiling.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/testing/support.hpp"

namespace holdfast::clusterless_kde {
namespace {

struct Decoded {
  std::vector<double> likelihood = {};
  std::vector<NamedReading> readings = {};

  double reading(std::string_view name) const {
    for (const auto& reading : readings)
      if (reading.name == name) return reading.value;
    return NAN;
  }
};

Decoded decoded(const Input& input, const Options& options, Emulation emulation = {}) {
  const auto backend = emulated(emulation);
  const auto decode = make_decode(*backend, Variant::optimized, input, options);
  decode->step();
  return {decode->result(), decode->readings()};
}

// One electrode with this many encoding and decoding spikes of place cells.
Input cells(Recipe recipe, int encoding_spikes, int decoding_spikes) {
  recipe.marks = Marks::cells;
  recipe.encoding_spikes = encoding_spikes;
  recipe.decoding_spikes = decoding_spikes;
  return make_input(recipe);
}

// One electrode on a track, its places so wide that two hops over 32 nodes (48 in f64) are cheaper.
Input two_hop_input(int decoding_spikes = 40) {
  Input input = cells({.size = Size::tiny}, 100, decoding_spikes);
  input.position_bandwidth = {9};
  return input;
}

// Errors against the oracle, per spike. The minimum error proves that this arithmetic was used;
// truncated instead of rounded tf32 would be twice as far off.
struct Accuracy {
  Arithmetic arithmetic;
  const char* name;
  double least, dense, two_hop;
};
class EmulatedDecode : public testing::TestWithParam<Accuracy> {};
INSTANTIATE_TEST_SUITE_P(Arithmetics, EmulatedDecode,
                         testing::Values(Accuracy{Arithmetic::f32, "f32", 1e-6, 1e-4, 1e-4},
                                         Accuracy{Arithmetic::ffma, "ffma", 1e-8, 1e-4, 1e-4},
                                         Accuracy{Arithmetic::tf32, "tf32", 1e-4, 1.1e-3, 1.1e-3},
                                         Accuracy{Arithmetic::f64, "f64", 0, 1e-10, 1e-9}),
                         [](const auto& accuracy) { return accuracy.param.name; });

TEST_P(EmulatedDecode, GoldenCaseIsMet) {
  const auto computed = decoded(golden::input(), {.arithmetic = GetParam().arithmetic});
  const std::vector<double> expected(golden::likelihood.begin(), golden::likelihood.end());
  const double spikes_per_row = 3;
  EXPECT_LE(largest_difference(computed.likelihood, expected), spikes_per_row * GetParam().dense);
}

TEST_P(EmulatedDecode, DenseErrorPerSpikeStaysBelowItsClass) {
  for (const auto& [size, marks, name] : {std::tuple{Size::tiny, Marks::profile, "profile_tiny"},
                                          std::tuple{Size::tiny, Marks::cells, "cells_tiny"},
                                          std::tuple{Size::small, Marks::cells, "cells_small"}}) {
    const Input input =
        one_spike_per_row(make_input({.size = size, .marks = marks, .features = 4}), 60);
    const auto computed = decoded(input, {.arithmetic = GetParam().arithmetic});
    ASSERT_EQ(computed.reading("path"), 0);
    const double error = largest_difference(computed.likelihood, oracle_decoding(input).likelihood);
    EXPECT_LE(error, GetParam().dense) << name;
    EXPECT_GE(error, GetParam().least) << name;
    RecordProperty(name, text(error));
  }
}

TEST_P(EmulatedDecode, TwoHopErrorPerSpikeStaysBelowItsClass) {
  const Input input = one_spike_per_row(two_hop_input(), 1 << 20);
  const auto computed = decoded(input, {.arithmetic = GetParam().arithmetic});
  ASSERT_EQ(computed.reading("path"), 1);
  const double error = largest_difference(computed.likelihood, oracle_decoding(input).likelihood);
  EXPECT_LE(error, GetParam().two_hop);
  EXPECT_GE(error, GetParam().least);
  RecordProperty(GetParam().name, text(error));
}

// Two to eight warps per block: they share loaded data, and partly sums, which exposes a missing
// barrier.
TEST_P(EmulatedDecode, TheOrderInWhichThreadsAndBlocksRunChangesNoBit) {
  for (const Input& input : {golden::input(), two_hop_input(20)})
    for (const int block : {0, 64}) {
      const Options options = {.arithmetic = GetParam().arithmetic, .block = block};
      EXPECT_EQ(decoded(input, options, {.order = emulation::Order::forward}).likelihood,
                decoded(input, options, {.order = emulation::Order::backward}).likelihood);
    }
}

// Fewer groups than warps, as many, and one more; whole groups or not; one to eight warps for each
// spike, fewer in larger blocks. In most cases one warp ends before the others.
TEST_P(EmulatedDecode, SharedEncodingSpikesAreAllCountedOnce) {
  for (const int spikes : {1, 16, 33, 126, 140}) {
    const Input input =
        one_spike_per_row(cells({.size = Size::tiny, .bins = 40}, spikes, 40), 1 << 20);
    const auto expected = oracle_decoding(input).likelihood;
    for (const int block : {16, 64, 200})
      EXPECT_LE(
          largest_difference(
              decoded(input, {.arithmetic = GetParam().arithmetic, .block = block}).likelihood,
              expected),
          GetParam().dense)
          << spikes << " encoding spikes, block " << block;
  }
}

TEST_P(EmulatedDecode, TimeChunksChangeNoBit) {
  for (const Input& input : {golden::input(), two_hop_input(20)}) {
    Options options = {.arithmetic = GetParam().arithmetic};
    const auto whole = decoded(input, options).likelihood;
    for (const int chunks : {2, 3}) {
      options.chunks = chunks;
      for (const int steps : {1, 3})
        EXPECT_EQ(emulated_result(Unit::decode, input, options, {}, steps), whole) << chunks;
    }
  }
}

TEST(EmulatedOptimizedDecode, TheConsumerTakesWhatTheWholeOutputHolds) {
  const Input input = golden::input();
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    Options options = {.arithmetic = arithmetic};
    const auto whole = decoded(input, options).likelihood;
    options.consume = true;
    const auto consumed = decoded(input, options).likelihood;
    ASSERT_EQ(consumed.size(), 2 * golden::rows);
    for (std::size_t t = 0; t < golden::rows; ++t) {
      const auto row = whole.begin() + static_cast<std::ptrdiff_t>(t * golden::bins);
      const auto best = std::max_element(row, row + golden::bins);
      double sum = 0;
      for (auto at = row; at != row + golden::bins; ++at) sum += std::exp(*at - *best);
      EXPECT_NEAR(consumed[t], *best + std::log(sum), 1e-6 * std::abs(*best) + 1e-6);
      EXPECT_EQ(consumed[golden::rows + t], static_cast<double>(best - row));
    }
    options.chunks = 3;
    EXPECT_EQ(decoded(input, options).likelihood, consumed);
  }
}

TEST(EmulatedOptimizedDecode, SinglePrecisionIsThreeProductsOfBf16) {
  const Input input = golden::input();
  EXPECT_EQ(decoded(input, {.arithmetic = Arithmetic::f32}).likelihood,
            decoded(input, {.arithmetic = Arithmetic::bf16x3}).likelihood);
}

TEST(EmulatedOptimizedDecode, RowsWithoutSpikesAreMinusTheGroundProcess) {
  const auto computed = decoded(two_hop_input(5), {});
  const std::size_t bins = 100, rows = computed.likelihood.size() / bins;
  int silent = 0;
  const auto* last = &computed.likelihood[(rows - 1) * bins];
  for (std::size_t t = 0; t < rows; ++t)
    if (std::equal(last, last + bins, &computed.likelihood[t * bins])) ++silent;
  EXPECT_GE(silent, 45);  // 50 rows, 5 spikes
  EXPECT_LT(silent, 50);
}

TEST(EmulatedOptimizedDecode, FormedNodesGiveTheBitsOfStoredOnes) {
  const Input input = two_hop_input(20);
  EXPECT_EQ(decoded(input, {.values = Values::recomputed}).likelihood,
            decoded(input, {.values = Values::stored}).likelihood);
}

TEST(EmulatedOptimizedDecode, MoreThan128NodesTakeTwoPasses) {
  const Input input =
      one_spike_per_row(cells({.size = Size::hpc1d, .scale = 200, .bins = 420}, 400, 9), 1 << 20);
  const auto computed = decoded(input, {});
  ASSERT_EQ(computed.reading("path"), 1);
  ASSERT_EQ(computed.reading("q_nodes"), 192);
  EXPECT_LE(largest_difference(computed.likelihood, oracle_decoding(input).likelihood), 1e-4);
}

// All warps go through the slabs together, even those without remaining spikes.
TEST(EmulatedOptimizedDecode, PhiThatDoesNotFitIsPassedInSlabs) {
  const Input input = cells({.size = Size::hpc1d, .scale = 20000, .bins = 420}, 400, 9);
  const auto backend = emulated();
  const auto slabs = [&](const Options& options) {
    const Shape sizes = shape(input);
    const DecodeTiling tiling =
        decode_tiling<float, SplitBf16>(sizes, plan(*backend, input, options));
    return (tiling.width + group_items * tiling.slab_groups - 1) /
           (group_items * tiling.slab_groups);
  };
  const Options wide = {.position_tile = 128};
  ASSERT_EQ(slabs({}), 1);
  ASSERT_EQ(slabs(wide), 2);
  const auto whole = decoded(input, {}).likelihood;
  EXPECT_EQ(decoded(input, wide).likelihood, whole);
  EXPECT_EQ(decoded(input, wide, {.order = emulation::Order::backward}).likelihood, whole);
}

// A spike's sums run over its encoding spikes, or nodes, in the same order in every tile, as long
// as the same number of warps share them.
TEST(EmulatedOptimizedDecode, TilesOfAnySizeGiveTheSameBits) {
  const Input dense = make_input({.size = Size::tiny, .marks = Marks::cells}),
              two_hop = two_hop_input(20);
  for (const Input* input : {&dense, &two_hop}) {
    const auto expected = decoded(*input, {}).likelihood;
    for (const Options& options :
         {Options{.block = 10}, Options{.position_tile = 64}, Options{.encoding_tile = 16},
          Options{.encoding_tile = 48}, Options{.encoding_tile = 512}})
      EXPECT_EQ(decoded(*input, options).likelihood, expected);
    // Blocks of this size leave no warps to share.
    EXPECT_LE(largest_difference(decoded(*input, {.block = 200}).likelihood, expected), 1e-5);
  }
  for (const int tile : {32, 128})
    EXPECT_EQ(decoded(two_hop, {.position_tile = tile}).likelihood,
              decoded(two_hop, {}).likelihood);
}

TEST(EmulatedOptimizedDecode, ExpandedDistancesCancel) {
  const Input input =
      one_spike_per_row(make_input({.size = Size::tiny, .marks = Marks::cells}), 1 << 20);
  const auto expected = oracle_decoding(input).likelihood;
  const auto error = [&](Distance distance) {
    return largest_difference(decoded(input, {.distance = distance}).likelihood, expected);
  };
  EXPECT_GT(error(Distance::expanded), error(Distance::difference));
  EXPECT_LE(error(Distance::expanded), 1e-2);
}

TEST(EmulatedOptimizedDecode, ExpandedDistancesOfSmallMarksAreTheSame) {
  const Input input = one_spike_per_row(make_input({.size = Size::tiny, .features = 4}), 40);
  EXPECT_LE(largest_difference(decoded(input, {.distance = Distance::expanded}).likelihood,
                               decoded(input, {}).likelihood),
            1e-4);
}

TEST(EmulatedOptimizedDecode, ACutChangesNothingAboveTheFloor) {
  const Input input = one_spike_per_row(cells({.size = Size::hpc1d, .scale = 200}, 600, 30), 30);
  for (const auto& [arithmetic, allowed] :
       {std::pair{Arithmetic::f32, 2e-5}, {Arithmetic::f64, 1e-10}}) {
    const auto whole = decoded(input, {.arithmetic = arithmetic}),
               cut = decoded(input, {.arithmetic = arithmetic, .cut = true});
    ASSERT_EQ(whole.reading("path"), 0) << arithmetic_words.of(arithmetic);
    EXPECT_LE(largest_difference(cut.likelihood, whole.likelihood), allowed)
        << arithmetic_words.of(arithmetic);
    EXPECT_LT(cut.reading("tiles_visited_fraction"), 0.9) << arithmetic_words.of(arithmetic);
    EXPECT_GT(cut.reading("tiles_visited_fraction"), 0.1) << arithmetic_words.of(arithmetic);
  }
}

// A warp looks at 32 stages at a time.
TEST(EmulatedOptimizedDecode, ACutKeepsWhatIsNearBehindTheStagesThatAreLookedAtFirst) {
  const Input input = one_spike_per_row(cells({.size = Size::hpc1d, .scale = 200}, 1300, 8), 8);
  const Options cutting = {.cut = true};
  const Shape size = shape(input);
  const auto backend = emulated();
  const int stage_groups =
      decode_tiling<float, SplitBf16>(size, plan(*backend, input, cutting)).stage_groups;
  ASSERT_GT(size.encoding.front(), 32 * stage_groups * group_items);
  const auto cut = decoded(input, cutting);
  EXPECT_LE(largest_difference(cut.likelihood, decoded(input, {}).likelihood), 2e-5);
  EXPECT_LT(cut.reading("tiles_visited_fraction"), 0.9);
}

// The animal runs back, so that spikes come in the opposite order of their positions.
TEST(EmulatedOptimizedDecode, ACutSortsMarksTogetherWithTheirPositions) {
  Input input = one_spike_per_row(cells({.size = Size::hpc1d, .scale = 200}, 300, 10), 10);
  std::ranges::reverse(input.encoding.positions);
  EXPECT_LE(
      largest_difference(decoded(input, {.cut = true}).likelihood, decoded(input, {}).likelihood),
      2e-5);
}

TEST(EmulatedUnits, BeginAgainWithAnotherInputAndWithTheirFirst) {
  Input input = golden::input();
  input.encoding.positions.front() += 0.7;  // else the trajectory's reverse would equal it
  for (const Unit unit : {Unit::encode, Unit::decode, Unit::total, Unit::local}) {
    SCOPED_TRACE(static_cast<int>(unit));
    const auto backend = emulated();
    const auto computation = make_unit(*backend, unit, input, {});
    const auto begun = [&](int number) {
      computation->start_again(number);
      return result_of(*computation);
    };
    const auto first = result_of(*computation);
    const bool encodes = unit == Unit::encode || unit == Unit::total;
    EXPECT_NE(begun(1), first);
    EXPECT_EQ(computation->result(), emulated_result(unit, other_input(input, encodes)));
    EXPECT_EQ(begun(0), first);
  }
}

// Its density there is below all doubles.
TEST(EmulatedOptimizedDecode, APlaceThatNobodyEverSawIsAtTheFloor) {
  Input input = golden::input();
  input.places.push_back(input.places.back() + 1000);
  EXPECT_LE(largest_difference(decoded(input, {.arithmetic = Arithmetic::f64}).likelihood,
                               oracle_decoding(input).likelihood),
            1e-9);
}

// Blocks of many chunks would take more columns, which are near other encoding spikes.
TEST(EmulatedOptimizedDecode, ACutLeavesOutTheSameInEveryTimeChunk) {
  const Input input = cells({.size = Size::hpc1d, .scale = 200}, 600, 30);
  EXPECT_EQ(decoded(input, {.cut = true, .chunks = 20}).likelihood,
            decoded(input, {.cut = true}).likelihood);
}

// These spikes lie beyond the cut of single precision and add 6e-8 of the sum.
TEST(EmulatedOptimizedDecode, ACutInDoubleKeepsWhatSinglePrecisionDoesNotSee) {
  const Input input = known_near_and_beyond(8.5);
  const auto whole = decoded(input, {.arithmetic = Arithmetic::f64}),
             cut = decoded(input, {.arithmetic = Arithmetic::f64, .cut = true});
  EXPECT_GT(whole.likelihood[63] - whole.likelihood[30 * 175 + 63], log_rate_floor + 0.1);
  EXPECT_LE(largest_difference(cut.likelihood, whole.likelihood), 1e-10);
  EXPECT_LT(cut.reading("tiles_visited_fraction"), 0.9);
}

// The cut's radius grows with the number of spikes: without these the sum would lose 2e-4.
TEST(EmulatedOptimizedDecode, ACutKeepsManySpikesOfWhichEachAddsLittle) {
  const Input input = known_near_and_beyond(where_all_matter(known_near_and_beyond(8)));
  EXPECT_LE(
      largest_difference(decoded(input, {.cut = true}).likelihood, decoded(input, {}).likelihood),
      2e-5);
}

TEST_P(EmulatedDecode, SpikesFarFromTheirMarksCountUntilTheyReachTheFloor) {
  const Input input = heard_farther_and_farther();
  EXPECT_LE(largest_difference(decoded(input, {.arithmetic = GetParam().arithmetic}).likelihood,
                               oracle_decoding(input).likelihood),
            GetParam().dense);
}

// Places are repeated in a neighbouring lane, in one that is compared later, and in the same lane:
// the first one is named.
TEST(EmulatedOptimizedDecode, OfEquallyLikelyPlacesTheConsumerNamesTheFirst) {
  Input input = cells({.size = Size::tiny, .bins = 17}, 40, 20);
  std::vector<double> twice = {input.places.front()};
  for (std::size_t p = 1; p < 16; ++p) twice.insert(twice.end(), 2, input.places[p]);
  twice.push_back(input.places.back());
  input.places = twice;
  input.places.insert(input.places.end(), twice.begin(), twice.end());
  const auto consumed = decoded(input, {.consume = true}).likelihood;
  const auto rows = static_cast<std::size_t>(input.rows());
  for (std::size_t t = 0; t < rows; ++t) {
    const double best = consumed[rows + t], place = input.places.at(static_cast<std::size_t>(best));
    EXPECT_EQ(best, std::ranges::find(input.places, place) - input.places.begin()) << t;
  }
}

TEST(EmulatedOptimizedDecode, AMazeOfTwoDimensionsMeetsTheOracle) {
  const Input input = one_spike_per_row(cells({.size = Size::hpc2d, .scale = 512}, 120, 10), 10);
  const auto expected = oracle_decoding(input).likelihood;
  EXPECT_LE(largest_difference(decoded(input, {}).likelihood, expected), 1e-4);
  const auto cut = decoded(input, {.cut = true});
  EXPECT_LE(largest_difference(cut.likelihood, expected), 1e-4);
  EXPECT_LT(cut.reading("tiles_visited_fraction"), 1);
}

// Matrix units truncate sums, and terms are positive: without a remedy a thousand groups of
// encoding spikes lose more than this.
TEST(EmulatedOptimizedDecode, LongSumsDoNotShrink) {
  constexpr std::size_t bins = 16;
  const Input input = one_spike_per_row(make_input({.size = Size::tiny,
                                                    .marks = Marks::profile,
                                                    .bins = bins,
                                                    .encoding_spikes = 16000,
                                                    .decoding_spikes = 10}),
                                        10);
  auto computed = decoded(input, {}).likelihood, expected = oracle_decoding(input).likelihood;
  for (auto* likelihood : {&computed, &expected})  // G is large here, and no sum of hop_a's
    for (std::size_t i = 0; i < likelihood->size(); ++i)
      (*likelihood)[i] -= (*likelihood)[likelihood->size() - bins + i % bins];
  EXPECT_LE(largest_difference(computed, expected), 3e-5);
}

// More than 1024 rows, so that a warp finds its own in three steps.
TEST(EmulatedOptimizedDecode, ManySpikesFallIntoTheirRows) {
  const Input input = cells({.size = Size::tiny, .bins = 8}, 16, 1100);
  const auto expected = oracle_decoding(input).likelihood;
  EXPECT_LE(largest_difference(decoded(input, {}).likelihood, expected), 5e-3);  // of about -700
}

TEST(EmulatedOptimizedDecode, ElectrodesWithoutSpikesLeaveEverythingFinite) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells, .sparse = true});
  const auto computed = decoded(input, {}).likelihood;
  const auto expected = oracle_decoding(input).likelihood;
  EXPECT_LE(largest_difference(computed, expected), 1e-2);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
