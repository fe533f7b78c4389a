// SPDX-License-Identifier: Apache-2.0
// The reference on a device: what it costs, on the dry device, and what it computes, on the
// emulated one.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "clusterless_kde/testing/reference_on_cpu.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "clusterless_kde/variants.hpp"
#include "testing/expect_no_spills.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr Algorithm algorithms[] = {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul};

std::unique_ptr<Computation> make(Backend& backend, Unit unit, const Input& input,
                                  Options options) {
  if (options.algorithm == Algorithm::fused) options.algorithm = Algorithm::linear;
  return make_cuda_reference(backend, {.unit = unit, .input = input, .options = options});
}

// The result after one step on a fresh emulated device.
std::vector<double> result(Unit unit, const Input& input, const Options& options = {},
                           Emulation emulation = {}) {
  const auto backend = emulated_reference(emulation);
  return result_of(*make(*backend, unit, input, options));
}

constexpr Options in_double = {.arithmetic = Arithmetic::f64};

// The error of that result.
template <class Values>
double error(Unit unit, const Input& input, const Options& options, const Values& expected,
             Emulation emulation = {}) {
  return largest_difference(result(unit, input, options, emulation), expected);
}

struct Cost : holdfast::DryRun {
  explicit Cost(Unit unit, const Input& input, const Options& options = {})
      : holdfast::DryRun(90, [&](Backend& on) { return make(on, unit, input, options); }) {}
};

constexpr Size sizes[] = {Size::tiny, Size::small, Size::medium, Size::large, Size::realistic};

TEST(DryReference, LaunchesAreThoseOfTheEagerProgram) {
  const std::int64_t encode[] = {51, 149, 591, 2141, 8121}, decode[] = {97, 193, 490, 1954, 4927};
  for (int i = 0; i < 5; ++i) {
    const Input input = make_input({.size = sizes[i]});
    EXPECT_EQ(Cost(Unit::encode, input).step().launches, encode[i]);
    EXPECT_EQ(Cost(Unit::decode, input).step().launches, decode[i]);
    EXPECT_EQ(Cost(Unit::total, input).step().launches, encode[i] + decode[i]);
  }
}

TEST(DryReference, AProductIsOneLibraryCallForEveryBlockOfSpikes) {
  const Input input = make_input({.size = Size::large});
  std::int64_t blocks = 0;
  for (const std::int64_t m : shape(input).decoding) blocks += (m + 99) / 100;
  EXPECT_EQ(Cost(Unit::decode, input).step().library_calls, blocks);
  EXPECT_EQ(Cost(Unit::encode, input).step().library_calls, 0);
}

TEST(DryReference, SmallerBlocksAreMoreLaunches) {
  const Input input = make_input({.size = Size::tiny});
  std::int64_t launches = 1;
  for (const std::int64_t m : shape(input).decoding) launches += 9 + (m + 4) / 5 * 15;
  EXPECT_EQ(Cost(Unit::decode, input, {.block = 5}).step().launches, launches);
}

TEST(DryReference, LocalLaunchesAreThoseOfItsDensities) {
  const Input input = make_input({.size = Size::medium});
  const Shape numbers = shape(input);
  const auto density = [](std::int64_t axes, std::int64_t count) {
    return 1 + (count + 99) / 100 * (4 + 2 * axes);
  };
  std::int64_t launches = 1 + density(1, numbers.rows);
  for (const std::int64_t m : numbers.decoding)
    launches += density(1 + numbers.features, m) + density(1, m) + density(1, numbers.rows) + 13;
  EXPECT_EQ(Cost(Unit::local, input).step().launches, launches);
}

TEST(DryReference, LogarithmicLaunchesAreThoseOfTheirSteps) {
  const Input input = make_input({.size = Size::large, .marks = Marks::cells});
  const Shape numbers = shape(input);
  const auto launches = [&](int each, int per_block) {
    std::int64_t sum = 2;
    for (const std::int64_t m : numbers.decoding) sum += each + (m + 99) / 100 * per_block;
    return sum;
  };
  const auto counted = [&](Algorithm algorithm, Distance distance) {
    return Cost(Unit::decode, input, {.algorithm = algorithm, .distance = distance})
        .step()
        .launches;
  };
  // Marks: zeros and two steps for each of four features, or six in expanded form.
  EXPECT_EQ(counted(Algorithm::log_sum_exp, Distance::difference), launches(7, 9 + 3 + 5));
  EXPECT_EQ(counted(Algorithm::log_sum_exp, Distance::expanded), launches(7, 6 + 3 + 5));
  EXPECT_EQ(counted(Algorithm::matmul, Distance::difference), launches(8, 9 + 9 + 5));
  EXPECT_EQ(counted(Algorithm::matmul, Distance::expanded), launches(8, 6 + 9 + 5));
}

TEST(DryReference, TilesOfPlacesAddLaunchesToTheSumsOfLogarithmsAlone) {
  const Input input = make_input({.size = Size::small});
  const auto launches = [&](Algorithm algorithm, int tile) {
    return Cost(Unit::decode, input, {.algorithm = algorithm, .position_tile = tile})
        .step()
        .launches;
  };
  // 200 places, 8 electrodes with at most 100 spikes each: one block, two passes.
  EXPECT_EQ(launches(Algorithm::log_sum_exp, 50), launches(Algorithm::log_sum_exp, 0) + 8 * 2 * 3);
  EXPECT_EQ(launches(Algorithm::matmul, 50), launches(Algorithm::matmul, 0));
}

TEST(DryReference, AStepUploadsItsInputsAndMakesNothing) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells});
  const Shape numbers = shape(input);
  const std::int64_t encoded =
      4 * (numbers.samples + numbers.bins + numbers.encoding_total() * (1 + numbers.features));
  const std::int64_t decoded = 4 * numbers.decoding_total() * (numbers.features + 1);
  for (const auto& [unit, bytes] :
       {std::tuple{Unit::encode, encoded}, std::tuple{Unit::decode, decoded},
        std::tuple{Unit::total, encoded + decoded}}) {
    Cost cost(unit, input);
    const Counts step = cost.step();
    EXPECT_EQ(step.h2d_bytes, bytes);
    EXPECT_EQ(step.d2h_bytes, 0);
    EXPECT_EQ(step.allocations, 0);
    EXPECT_EQ(step.programs, 0);
  }
}

TEST(DryReference, OneProgramServesEverySizeUnitAndAlgorithm) {
  Cost cost(Unit::total, make_input({.size = Size::tiny}));
  EXPECT_EQ(cost.setup.programs, 1);
  const Input other = make_input({.size = Size::small, .marks = Marks::cells, .seed = 43});
  for (const Unit unit : {Unit::encode, Unit::decode, Unit::total, Unit::local})
    for (const Algorithm algorithm : algorithms)
      make(*cost.backend, unit, other, {.algorithm = algorithm})->step();
  EXPECT_EQ(cost.backend->ledger.counts.programs, 1);
}

TEST(DryReference, PeakIsTheEstimateAndTheLibrarysWorkArea) {
  for (const Size size : {Size::medium, Size::realistic})
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
      const Input input = make_input({.size = size});
      const Cost cost(Unit::decode, input, {.arithmetic = arithmetic});
      const Shape numbers = shape(input);
      const std::int64_t value_bytes = arithmetic == Arithmetic::f32 ? 4 : 8;
      const auto& sites = cost.backend->ledger.peak_by_site();
      EXPECT_EQ(sites.at("out") + sites.at("arena"),
                value_bytes * decode_live_values(numbers, value_bytes));
      std::int64_t most_encoding = numbers.samples;
      for (const std::int64_t n : numbers.encoding) most_encoding = std::max(most_encoding, n);
      const std::int64_t inputs =
          value_bytes * (numbers.samples + most_encoding + 3 * numbers.bins + numbers.features +
                         numbers.encoding_total() * (1 + numbers.features) +
                         numbers.decoding_total() * numbers.features) +
          4 * numbers.decoding_total();
      EXPECT_EQ(cost.backend->ledger.peak_bytes,
                value_bytes * decode_live_values(numbers, value_bytes) + inputs +
                    static_cast<std::int64_t>(gemm_work_area_bytes));
    }
}

TEST(DryReference, KernelsDoNotSpill) {
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    const Cost cost(Unit::encode, golden::input(), {.arithmetic = arithmetic});
    expect_no_spills(*cost.backend->compiler);
  }
}

class EmulatedReference : public testing::TestWithParam<emulation::Order> {
 protected:
  Emulation emulation() const { return {.order = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(ThreadOrders, EmulatedReference,
                         testing::Values(emulation::Order::forward, emulation::Order::backward),
                         [](const auto& order) {
                           return order.param == emulation::Order::forward ? "forward" : "backward";
                         });

TEST_P(EmulatedReference, EncodesTheGoldenCase) {
  std::vector<double> golden(golden::occupancy.begin(), golden::occupancy.end());
  golden.insert(golden.end(), golden::ground.begin(), golden::ground.end());
  EXPECT_LT(error(Unit::encode, golden::input(), in_double, golden, emulation()), 1e-14);
}

TEST_P(EmulatedReference, EveryAlgorithmAndDistanceDecodesTheGoldenCase) {
  for (const Algorithm algorithm : algorithms)
    for (const Distance distance : {Distance::difference, Distance::expanded})
      for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
        const Options options = {
            .arithmetic = arithmetic, .algorithm = algorithm, .distance = distance};
        EXPECT_LT(error(Unit::total, golden::input(), options, golden::likelihood, emulation()),
                  arithmetic == Arithmetic::f32 ? 1e-5 : 1e-11)
            << static_cast<int>(algorithm) << " " << static_cast<int>(distance);
      }
}

TEST_P(EmulatedReference, LocalLikelihoodOfTheGoldenCaseWithAndWithoutFloor) {
  EXPECT_LT(error(Unit::local, golden::input(), in_double, golden::local, emulation()), 1e-12);
  EXPECT_LT(
      error(Unit::local, golden::input(), {.arithmetic = Arithmetic::f64, .local_floor = false},
            oracle_local(golden::input(), LocalFloor::omitted), emulation()),
      1e-10);
}

TEST_P(EmulatedReference, AgreesWithTheOracleOnTinyData) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells, .bins = 41});
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  EXPECT_LT(error(Unit::decode, input, in_double, expected, emulation()), 1e-10);
  EXPECT_LT(error(Unit::decode, input, {}, expected, emulation()), 1e-4);
}

TEST(ReferenceOnTheEmulatedDevice, BlocksThatDoNotDivideTheSpikesAndTilesThatDoNotDivideThePlaces) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells, .bins = 41});
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  for (const Algorithm algorithm : algorithms)
    EXPECT_LT(error(Unit::decode, input,
                    {.arithmetic = Arithmetic::f64,
                     .algorithm = algorithm,
                     .block = 7,
                     .position_tile = 16},
                    expected),
              1e-10);
}

TEST(ReferenceOnTheEmulatedDevice, ElectrodesWithoutSpikesAreFlooredInEveryAlgorithm) {
  Input input = golden::input();
  input.encoding_spikes[0] = {};
  input.encoding_spikes.push_back(input.encoding_spikes[1]);
  input.decoding_spikes.push_back({});
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  for (const Algorithm algorithm : algorithms)
    EXPECT_LT(error(Unit::decode, input, {.arithmetic = Arithmetic::f64, .algorithm = algorithm},
                    expected),
              1e-10);
  EXPECT_LT(error(Unit::local, input, in_double, oracle_local(input)), 1e-12);
}

TEST(ReferenceOnTheEmulatedDevice, TheFloorReplacesTheWholeValueWhereTheProductUnderflows) {
  EXPECT_NEAR(error(Unit::decode, golden::input(), {.algorithm = Algorithm::matmul},
                    with_floored_marginals(golden::input())),
              1.82, 0.005);
}

TEST(ReferenceOnTheEmulatedDevice, EveryStepIsTheSame) {
  const Input input = golden::input();
  for (const Unit unit : {Unit::encode, Unit::decode, Unit::total, Unit::local}) {
    const auto backend = emulated_reference();
    const auto computation = make(*backend, unit, input, {});
    const std::vector<double> first = result_of(*computation);
    EXPECT_EQ(result_of(*computation), first);
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
