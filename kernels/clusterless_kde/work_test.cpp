// SPDX-License-Identifier: Apache-2.0
// The minimal work of a step, against numbers counted by hand.
#include <gtest/gtest.h>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"

namespace holdfast::clusterless_kde {
namespace {

struct Row {
  Size size = Size::medium;
  double pairs = 0, flops = 0, specials = 0;  // to three, three and two digits, through all nodes
  double near = 1;                            // share of the nodes or places that a spike reaches
};
const Row table[] = {
    {Size::medium, 3.21e5, 1.43e8, 1.1e6, 0.3552},    {Size::large, 4.80e6, 1.85e9, 1.5e7, 0.3552},
    {Size::realistic, 2.58e7, 9.89e9, 7.7e7, 0.3552}, {Size::tet64, 9.15e9, 2.07e12, 9.3e9, 0.1933},
    {Size::hpc1d, 8.79e9, 3.08e12, 9.3e9, 0.1211},    {Size::hpc2d, 8.79e9, 1.26e13, 5.3e10},
};

class DecodeWork : public ::testing::TestWithParam<Row> {};

TEST_P(DecodeWork, IsThatOfTheTable) {
  const auto& [size, pairs, flops, specials, near] = GetParam();
  const Shape numbers = shape(Recipe{.size = size});
  EXPECT_NEAR(static_cast<double>(numbers.pairs()), pairs, 0.005 * pairs);
  EXPECT_NEAR(decode_work(numbers).flops, near * flops, 0.005 * near * flops);
  EXPECT_NEAR(decode_work(numbers).specials, specials, 0.05 * specials);
}
INSTANTIATE_TEST_SUITE_P(Sizes, DecodeWork, ::testing::ValuesIn(table));

TEST(Work, OfARealisticDecodeMovesFortySevenMegabytes) {
  EXPECT_NEAR(decode_work(shape(Recipe{.size = Size::realistic})).bytes, 47e6, 0.5e6);
}

TEST(Work, InDoubleIsOfDoubleAndOfMoreNodes) {
  const Shape numbers = shape(Recipe{.size = Size::realistic});
  const Work f32 = decode_work(numbers),
             f64 = decode_work(numbers, {.arithmetic = Arithmetic::f64});
  EXPECT_EQ(f32.precision, Precision::f32);
  EXPECT_EQ(f64.precision, Precision::f64);
  EXPECT_GT(f64.bytes, 2 * f32.bytes);
  EXPECT_GT(f64.flops, f32.flops);
}

TEST(Work, DoesNotDependOnHowItIsDone) {
  const Shape numbers = shape(Recipe{.size = Size::realistic});
  for (const Options& options :
       {Options{.arithmetic = Arithmetic::bf16x3}, Options{.algorithm = Algorithm::linear},
        Options{.values = Values::recomputed}, Options{.block = 10, .cut = true, .chunks = 4}}) {
    EXPECT_EQ(decode_work(numbers, options).flops, decode_work(numbers).flops);
    EXPECT_EQ(decode_work(numbers, options).bytes, decode_work(numbers).bytes);
    EXPECT_EQ(encode_work(numbers, options).bytes, encode_work(numbers).bytes);
    EXPECT_EQ(local_work(numbers, options).specials, local_work(numbers).specials);
  }
}

TEST(Work, AConsumedDecodeWritesTwoNumbersPerRow) {
  const Shape numbers = shape(Recipe{.size = Size::realistic});
  for (const Options& options : {Options{.consume = true}, Options{.budget = 1 << 20}})
    EXPECT_EQ(decode_work(numbers).bytes - decode_work(numbers, options).bytes,
              4. * 2000 * (2000 - 2));
}

TEST(Work, OfTheTotalIsThatOfBothPhases) {
  const Shape numbers = shape(Recipe{.size = Size::large});
  const Work encode = encode_work(numbers), decode = decode_work(numbers),
             total = total_work(numbers);
  EXPECT_EQ(total.flops, encode.flops + decode.flops);
  EXPECT_EQ(total.bytes, encode.bytes + decode.bytes);
  EXPECT_EQ(total.phases, encode.phases + decode.phases);
  EXPECT_EQ(total.specials, encode.specials + decode.specials);
}

TEST(Work, NodesSaveExponentialsOfARealisticEncode) {
  const Shape numbers = shape(Recipe{.size = Size::realistic});
  EXPECT_EQ(encode_work(numbers).specials, (10000. + 64017 + 2000) * 64);
  EXPECT_EQ(encode_work(numbers).phases, 2);
}

// K, N, P, Q and E of a realistic input, two features, one dimension: through the nodes if they are
// fewer, for a small input directly.
TEST(Work, OfAnEncodeIsThatOfItsModel) {
  constexpr double k = 10000, n = 64017, p = 2000, q = 64, e = 64;
  const Work through = encode_work(shape(Recipe{.size = Size::realistic}));
  EXPECT_EQ(through.flops, (k + n) * q + 2 * (e + 1) * q * p);
  EXPECT_EQ(through.bytes, 4 * ((k + n) + n * (2 + 1) + n * q + q * p + 3 * p));
  const Shape small = shape(Recipe{.size = Size::tiny});
  const double spikes = static_cast<double>(small.encoding_total());
  const Work direct = encode_work(small);
  EXPECT_EQ(direct.flops, (100 + spikes) * 100);
  EXPECT_EQ(direct.bytes, 4 * ((100 + spikes) + spikes * (2 + 1) + 3 * 100));
  EXPECT_EQ(direct.phases, 1);
}

// Encoding and decoding spikes once, the model's nodes, sums at the nodes there and back, the rows.
TEST(Work, OfADecodeMovesItsSpikesSumsAndRows) {
  constexpr double n = 64017, m = 25760, p = 2000, q = 64, t = 2000;
  const Work decode = decode_work(shape(Recipe{.size = Size::realistic}));
  EXPECT_EQ(decode.bytes, 4 * (n * (2 + 1) + m * (2 + 2) + n * q + 2 * m * q + t * p));
  EXPECT_EQ(decode.phases, 2);
}

TEST(Work, OfTheAnimalsOwnPositionFindsTheNodesSumsMade) {
  const Shape numbers = shape(Recipe{.size = Size::realistic});
  const Work local = local_work(numbers);
  EXPECT_EQ(local.specials, static_cast<double>(numbers.pairs()) + 25760 + (25760. + 2000) * 64);
  EXPECT_EQ(local.flops, static_cast<double>(numbers.pairs()) * 10 + (25760. + 2000) * 64);
  EXPECT_EQ(local.bytes, 4 * (2. * 64 + 2000 + 64017. * 3 + 25760. * 4 + 2000));
  EXPECT_EQ(local.phases, 1);
}

TEST(Work, InAPlaneHasNoNodes) {
  const Shape numbers = shape(Recipe{.size = Size::hpc2d, .scale = 512});
  const double points = 1385 + 840, at = 860 + 1385;
  EXPECT_EQ(encode_work(numbers).flops, 2 * points * 719);
  EXPECT_EQ(local_work(numbers).specials,
            static_cast<double>(numbers.pairs()) + 860 + 1385 * at + 840 * 1385);
  // Two coordinates of each sample, row and encoding spike, two features of a spike.
  EXPECT_EQ(local_work(numbers).bytes,
            4 * (1385. * 2 + 1385 * 2 + 840 * (2 + 2) + 860 * (2 + 2) + 1385));
}

Shape alike(int electrodes, std::int64_t n, std::int64_t m, std::int64_t bins) {
  Shape shape = {.electrodes = electrodes, .bins = bins};
  shape.encoding.assign(electrodes, n / electrodes);
  shape.decoding.assign(electrodes, m / electrodes);
  return shape;
}

// The published numbers of mebibytes.
TEST(RuleOfThumb, GivesThePublishedTotals) {
  const auto megabytes = [](int electrodes, std::int64_t n, std::int64_t m, std::int64_t bins) {
    return static_cast<double>(rule_of_thumb_bytes(alike(electrodes, n, m, bins))) / (1 << 20);
  };
  EXPECT_NEAR(megabytes(8, 800, 400, 200), 17.1, 0.05);
  EXPECT_NEAR(megabytes(16, 3200, 1600, 500), 459, 0.5);
  EXPECT_NEAR(megabytes(32, 16000, 6400, 1000), 15234, 0.6);
  EXPECT_NEAR(megabytes(64, 64000, 25600, 2000), 443750, 1);
}

// The live part of them, in mebibytes.
TEST(AnElectrode, HoldsThePublishedFewMebibytes) {
  const auto megabytes = [](const Shape& shape) {
    return static_cast<double>(electrode_bytes(shape)) / (1 << 20);
  };
  EXPECT_NEAR(megabytes(alike(8, 800, 400, 200)), 0.15, 0.005);
  EXPECT_NEAR(megabytes(alike(16, 3200, 1600, 500)), 0.65, 0.005);
  EXPECT_NEAR(megabytes(alike(32, 16000, 6400, 1000)), 2.9, 0.05);
  EXPECT_NEAR(megabytes(alike(64, 64000, 25600, 2000)), 11.1, 0.05);
}

TEST(AnElectrode, ThatIsLargestCounts) {
  Shape shape = alike(2, 200, 100, 10);
  const std::int64_t even = electrode_bytes(shape);
  for (auto* own : {&shape.encoding.back(), &shape.encoding.front()}) {
    *own += 5;
    EXPECT_EQ(electrode_bytes(shape), even + 4 * 5 * (10 + 100));
    *own -= 5;
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
