// SPDX-License-Identifier: Apache-2.0
// What is refused before anything is allocated, and modes that only the optimized variant has: time
// chunks, a consumer, a cut, a budget.
#include "clusterless_kde/clusterless_kde.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "testing/error_of.hpp"

namespace holdfast::clusterless_kde {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Way single = {"optimized_f32", Variant::optimized, Arithmetic::f32, 1e-4};
constexpr Way twice = {"optimized_f64", Variant::optimized, Arithmetic::f64, 1e-9};

std::string refusal(Variant variant, const Options& options) {
  const auto backend = open_backend("host");
  return refusal_of([&] { validate(*backend, variant, options); });
}

TEST(BadOptions, SizesBelowOneAreRefused) {
  EXPECT_THAT(refusal(Variant::optimized, {.block = -1}), HasSubstr("block size"));
  EXPECT_THAT(refusal(Variant::optimized, {.position_tile = -5}), HasSubstr("tile size"));
  EXPECT_THAT(refusal(Variant::optimized, {.encoding_tile = -5}), HasSubstr("tile size"));
  EXPECT_THAT(refusal(Variant::optimized, {.chunks = 0}), HasSubstr("time chunks"));
  EXPECT_EQ(refusal(Variant::optimized, {.block = 1, .position_tile = 1, .encoding_tile = 1}),
            "accepted");
}

TEST(BadOptions, ASizeThatIsGivenIsOneOrMore) {
  EXPECT_EQ(given_size("block size", 1), 1);
  for (const int size : {0, -3}) {
    EXPECT_THAT([=] { given_size("block size", size); },
                ThrowsMessage<Error>(HasSubstr(text("block size ", size, " is not a size"))));
    EXPECT_THAT([=] { given_size("tile size", size); }, ThrowsMessage<Error>(HasSubstr("tile")));
  }
}

constexpr Algorithm unfused[] = {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul};

TEST(BadOptions, CutsAndTilesOfEncodingSpikesAreOfTheFusedAlgorithm) {
  for (const Algorithm algorithm : unfused) {
    EXPECT_THAT(refusal(Variant::optimized, {.algorithm = algorithm, .cut = true}),
                HasSubstr("use algo:fused, or no cut"));
    EXPECT_THAT(refusal(Variant::optimized, {.algorithm = algorithm, .encoding_tile = 128}),
                HasSubstr("use algo:fused, or no enc-tile-size"));
  }
  EXPECT_EQ(refusal(Variant::optimized, {.encoding_tile = 128, .cut = true}), "accepted");
}

TEST(BadOptions, TheLinearAlgorithmExpandsNoDistances) {
  const auto expanded = [](Algorithm algorithm) {
    return refusal(Variant::optimized, {.algorithm = algorithm, .distance = Distance::expanded});
  };
  EXPECT_THAT(expanded(Algorithm::linear), HasSubstr("use distance:difference"));
  for (const Algorithm algorithm : {Algorithm::log_sum_exp, Algorithm::matmul, Algorithm::fused})
    EXPECT_EQ(expanded(algorithm), "accepted");
}

TEST(BadOptions, TheHostKeepsPsi) {
  EXPECT_THAT(refusal(Variant::optimized, {.values = Values::recomputed}),
              HasSubstr("use psi:stored"));
}

// Options of the optimized variant must not make its reference refuse.
TEST(BadOptions, TheReferenceStaysWhatItIs) {
  EXPECT_EQ(refusal(Variant::reference, {.distance = Distance::expanded,
                                         .block = 50,
                                         .position_tile = 200,
                                         .encoding_tile = 128,
                                         .cut = true}),
            "accepted");
}

TEST(BadOptions, ACutIsRefusedWherePairsGoThroughNodes) {
  const auto backend = open_backend("host");
  for (const Factory make : {make_encode, make_decode, make_total})
    EXPECT_THAT(
        [&] {
          make(*backend, Variant::optimized, make_input({.size = Size::medium}), {.cut = true});
        },
        ThrowsMessage<Error>(HasSubstr("64 nodes: decode without the cut")));
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
}

TEST(BadOptions, ArithmeticOfTensorCoresIsRefusedOnTheHost) {
  for (const Arithmetic arithmetic : {Arithmetic::bf16x3, Arithmetic::tf32})
    EXPECT_THAT(refusal(Variant::optimized, {.arithmetic = arithmetic}),
                HasSubstr("the host computes in f32 or f64"));
}

TEST(BadOptions, ChunksBudgetsAndConsumersAreOfTheFusedAlgorithm) {
  for (const Options& options :
       {Options{.chunks = 2}, Options{.budget = 1 << 30}, Options{.consume = true}}) {
    EXPECT_THAT(refusal(Variant::reference, options), HasSubstr("fused"));
    EXPECT_EQ(refusal(Variant::optimized, options), "accepted");
  }
}

TEST(BadInput, IsRefusedBeforeAnythingIsAllocated) {
  const auto backend = open_backend("host");
  Input input = golden::input();
  input.decoding_spikes[0].features[0] = std::numeric_limits<double>::quiet_NaN();
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    EXPECT_THROW(make_encode(*backend, variant, input), Error);
    EXPECT_THROW(make_decode(*backend, variant, input), Error);
    EXPECT_THROW(make_total(*backend, variant, input), Error);
    EXPECT_THROW(make_local(*backend, variant, input), Error);
  }
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
}

TEST(Budget, BelowTheLeastPlanIsRefusedWithWhatItNeeds) {
  const auto backend = open_backend("host");
  EXPECT_THAT([&] { make_decode(*backend, Variant::optimized, golden::input(), {.budget = 16}); },
              ThrowsMessage<Error>(HasSubstr("needs at least")));
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
}

TEST(Chunks, GiveTheSameResultToTheBit) {
  for (const Size size : {Size::small, Size::medium}) {
    const Input input = make_input({.size = size, .marks = Marks::cells});
    const std::vector<double> whole = decode(single, input);
    for (const int chunks : {2, 3, 7})
      EXPECT_EQ(decode(single, input, {.chunks = chunks}), whole) << chunks;
  }
}

// ln sum_p exp(out)[T], then argmax_p[T].
TEST(Consumer, SumsUpTheRowsOfTheWholeResult) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells});
  for (const Way& way : {single, twice}) {
    const std::vector<double> out = decode(way, input),
                              consumed = decode(way, input, {.consume = true});
    ASSERT_EQ(consumed.size(), 2u * static_cast<std::size_t>(input.rows()));
    for (std::int64_t t = 0; t < input.rows(); ++t) {
      const auto row = out.begin() + t * input.bins(), end = row + input.bins();
      const double most = *std::max_element(row, end);
      double sum = 0;
      for (auto l = row; l != end; ++l) sum += std::exp(*l - most);
      const double expected = most + std::log(sum);
      EXPECT_NEAR(consumed[t], expected, 2e-6 * std::max(1., std::abs(expected))) << t;
      const auto likeliest = static_cast<std::int64_t>(consumed[input.rows() + t]);
      EXPECT_EQ(row[likeliest], most) << t;
    }
  }
}

TEST(Consumer, InChunksGivesTheSameToTheBit) {
  for (const Size size : {Size::small, Size::medium}) {
    const Input input = make_input({.size = size, .marks = Marks::cells});
    const std::vector<double> whole = decode(single, input, {.consume = true});
    for (const int chunks : {2, 5})
      EXPECT_EQ(decode(single, input, {.chunks = chunks, .consume = true}), whole) << chunks;
  }
}

TEST(Cut, ChangesNoSpikeByMoreThanItsBound) {
  for (const Size size : {Size::hpc1d, Size::hpc2d}) {
    const Input input =
        one_spike_per_row(make_input({.size = size, .marks = Marks::cells, .scale = 64}), 300);
    const std::vector<double> whole = decode(twice, input);
    // Sums change by 1e-12 of themselves at most, logarithms by as much: the rest is rounding.
    EXPECT_LT(largest_difference(decode(twice, input, {.cut = true}), whole), 1e-10);
  }
}

TEST(Cut, LeavesTilesOut) {
  const auto backend = open_backend("host");
  const auto computation = make_decode(
      *backend, Variant::optimized,
      make_input({.size = Size::hpc1d, .marks = Marks::cells, .scale = 64}), {.cut = true});
  computation->step();
  double visited = 1;
  for (const NamedReading& reading : computation->readings())
    if (reading.name == "tiles_visited_fraction") visited = reading.value;
  EXPECT_LT(visited, 0.7);
  EXPECT_GT(visited, 0);
}

TEST(RangeFallback, SavesWhatSinglePrecisionCannotReach) {
  Input input = one_spike_per_row(
      make_input({.size = Size::tiny, .marks = Marks::whiten, .features = 10}), 40);
  for (auto* phase : {&input.encoding_spikes, &input.decoding_spikes})
    for (Spikes& spikes : *phase)
      for (double& feature : spikes.features) feature *= 0.001;
  input.feature_bandwidth.assign(10, 0.001);
  const auto backend = open_backend("host");
  EXPECT_TRUE(plan(*backend, input, {}).range_fallback);
  EXPECT_LT(largest_difference(decode(single, input), oracle_decoding(input).likelihood), 1e-4);
}

TEST(RangeFallback, IsNotNeededByTheData) {
  const auto backend = open_backend("host");
  for (const Marks marks : {Marks::profile, Marks::cells, Marks::whiten})
    EXPECT_FALSE(
        plan(*backend, make_input({.size = Size::small, .marks = marks}), {}).range_fallback);
}

struct Made {
  std::unique_ptr<Computation> (*make)(Backend&, Variant, const Input&, const Options&);
  bool encodes;
};

// And restarting with the first input gives the first result.
TEST(StartAgain, WithTheOtherInputGivesWhatIsMadeOfThat) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells});
  for (const auto& [make, encodes] : {Made{make_encode, true}, Made{make_decode, false},
                                      Made{make_total, true}, Made{make_local, false}})
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const auto first_result = [&, make = make](const Input& of) {
        const auto backend = open_backend("host");
        return result_of(*make(*backend, variant, of, {}));
      };
      const auto backend = open_backend("host");
      const auto computation = make(*backend, variant, input, {});
      for (const int number : {1, 0, 1}) {
        computation->start_again(number);
        EXPECT_EQ(result_of(*computation),
                  first_result(number == 0 ? input : other_input(input, encodes)))
            << number;
      }
    }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
