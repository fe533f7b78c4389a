// SPDX-License-Identifier: Apache-2.0
// Every unit in every variant on the host, against golden values and the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/testing/support.hpp"

namespace holdfast::clusterless_kde {
namespace {

class HostVariant : public ::testing::TestWithParam<Way> {
 protected:
  const Way& way = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Ways, HostVariant, ::testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(HostVariant, EncodesTheGoldenCase) {
  const std::vector<double> encoded = compute(make_encode, way, golden::input());
  EXPECT_LT(largest_difference(occupancy(encoded), golden::occupancy), 0.05 * way.per_spike);
  EXPECT_LT(largest_difference(ground(encoded), golden::ground), way.per_spike);
}

TEST_P(HostVariant, DecodesTheGoldenCase) {
  EXPECT_LT(largest_difference(decode(way, golden::input()), golden::likelihood),
            0.1 * way.per_spike);
}

TEST_P(HostVariant, TotalIsEncodeThenDecode) {
  EXPECT_EQ(compute(make_total, way, golden::input()), decode(way, golden::input()));
}

TEST_P(HostVariant, FindsTheLocalLikelihoodOfTheGoldenCase) {
  EXPECT_LT(largest_difference(compute(make_local, way, golden::input()), golden::local),
            0.1 * way.per_spike);
}

TEST_P(HostVariant, LocalLikelihoodWithoutFloorIsTheOracles) {
  const std::vector<double> expected = oracle_local(golden::input(), LocalFloor::omitted);
  const std::vector<double> local =
      compute(make_local, way, golden::input(), {.local_floor = false});
  ASSERT_EQ(local.size(), expected.size());
  for (std::size_t t = 0; t < local.size(); ++t)
    EXPECT_NEAR(local[t], expected[t], way.per_spike * std::max(1., 0.01 * std::abs(expected[t])))
        << t;
}

struct Data {
  Recipe recipe = {};
  std::int64_t spikes = 0;
};
const Data data[] = {{{.size = Size::small}, 150},
                     {{.size = Size::small, .marks = Marks::cells}, 150},
                     {{.size = Size::small, .marks = Marks::whiten, .features = 8}, 150},
                     {{.size = Size::medium, .marks = Marks::cells}, 400},  // through nodes
                     {{.size = Size::hpc2d, .marks = Marks::cells, .scale = 512}, 100}};

TEST_P(HostVariant, EverySpikeIsTheOracles) {
  for (const auto& [recipe, spikes] : data) {
    const Input input = one_spike_per_row(make_input(recipe), spikes);
    EXPECT_LT(largest_difference(decode(way, input), oracle_decoding(input).likelihood),
              way.per_spike);
  }
}

TEST_P(HostVariant, EveryLocalSpikeIsTheOracles) {
  for (const auto& [recipe, spikes] : data) {
    const Input input = one_spike_per_row(make_input(recipe), spikes);
    EXPECT_LT(largest_difference(compute(make_local, way, input), oracle_local(input)),
              way.per_spike);
  }
}

TEST_P(HostVariant, EncodesEveryKindOfData) {
  for (const auto& [recipe, spikes] : data) {
    const Input input = make_input(recipe);
    const std::vector<double> encoded = compute(make_encode, way, input);
    const Encoding expected = oracle_encoding(input);
    const double allowed = way.arithmetic == Arithmetic::f32 ? 1e-5 : 1e-10;
    for (std::int64_t p = 0; p < input.bins(); ++p) {
      EXPECT_NEAR(encoded[p], expected.occupancy[p], allowed * expected.occupancy[p]) << p;
      EXPECT_NEAR(encoded[input.bins() + p], expected.ground[p], allowed * expected.ground[p]) << p;
    }
  }
}

TEST_P(HostVariant, FloorsTheRateAndNotTheMarginal) {
  const std::vector<double> row = decode(way, golden::input());
  const int first = golden::floored_row * golden::bins;
  double difference = 0;
  const std::vector<double> defect = with_floored_marginals(golden::input());
  for (int k = first; k < first + golden::bins; ++k)
    difference = std::max(difference, std::abs(row[k] - defect[k]));
  EXPECT_NEAR(difference, 1.82, 0.005);
}

TEST(Algorithms, AllFloorTheRateAndNotTheMarginal) {
  for (const Algorithm algorithm :
       {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul, Algorithm::fused})
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
      const auto backend = open_backend("host");
      const auto computation = make_decode(*backend, Variant::optimized, golden::input(),
                                           {.arithmetic = arithmetic, .algorithm = algorithm});
      EXPECT_LT(largest_difference(result_of(*computation), golden::likelihood), 2e-5);
    }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
