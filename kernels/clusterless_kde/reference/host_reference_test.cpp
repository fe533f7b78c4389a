// SPDX-License-Identifier: Apache-2.0
// The reference on the host, in every algorithm, against golden values and the oracle.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "clusterless_kde/testing/support.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr Algorithm algorithms[] = {Algorithm::linear, Algorithm::log_sum_exp, Algorithm::matmul};
constexpr Arithmetic precisions[] = {Arithmetic::f32, Arithmetic::f64};

std::string name(const Options& options) {
  return text("algorithm ", static_cast<int>(options.algorithm), " ",
              holdfast::name(precision_of(options.arithmetic)), " distance ",
              static_cast<int>(options.distance));
}

std::unique_ptr<Computation> make(Backend& backend, Unit unit, const Input& input,
                                  Options options) {
  if (options.algorithm == Algorithm::fused) options.algorithm = Algorithm::linear;
  return isa_v3::make_host_reference(backend, {.unit = unit, .input = input, .options = options});
}

std::vector<double> reference_result(Unit unit, const Input& input, const Options& options = {}) {
  const auto backend = open_backend("host");
  return result_of(*make(*backend, unit, input, options));
}

constexpr Options in_double = {.arithmetic = Arithmetic::f64};

// The error of that result.
template <class Values>
double error(Unit unit, const Input& input, const Options& options, const Values& expected) {
  return largest_difference(reference_result(unit, input, options), expected);
}

Input sparse() {
  return make_input({.size = Size::small, .marks = Marks::cells, .sparse = true});
}

// Error per spike: of one spike in each row.
double spike_error(const Recipe& recipe, const Options& options) {
  const Input input = one_spike_per_row(make_input(recipe), 1000);
  return error(Unit::decode, input, options, oracle_decoding(input).likelihood);
}

TEST(HostReference, EncodesTheGoldenCase) {
  std::vector<double> golden(golden::occupancy.begin(), golden::occupancy.end());
  golden.insert(golden.end(), golden::ground.begin(), golden::ground.end());
  EXPECT_LT(error(Unit::encode, golden::input(), in_double, golden), 1e-14);
  EXPECT_LT(error(Unit::encode, golden::input(), {}, golden), 5e-7);
}

TEST(HostReference, EveryAlgorithmDecodesTheGoldenCase) {
  for (const Algorithm algorithm : algorithms) {
    Options options = {.arithmetic = Arithmetic::f64, .algorithm = algorithm};
    SCOPED_TRACE(name(options));
    EXPECT_LT(error(Unit::decode, golden::input(), options, golden::likelihood), 1e-11);
    options.arithmetic = Arithmetic::f32;
    EXPECT_LT(error(Unit::decode, golden::input(), options, golden::likelihood), 1e-5);
  }
}

TEST(HostReference, LocalLikelihoodOfTheGoldenCase) {
  EXPECT_LT(error(Unit::local, golden::input(), in_double, golden::local), 1e-12);
  EXPECT_LT(error(Unit::local, golden::input(), {}, golden::local), 1e-5);
}

TEST(HostReference, EverySpikeIsAsTheOracleHasIt) {
  for (const Size size : {Size::tiny, Size::small})
    for (const Marks marks : {Marks::profile, Marks::cells})
      for (const Algorithm algorithm : algorithms) {
        Options options = {.arithmetic = Arithmetic::f64, .algorithm = algorithm};
        SCOPED_TRACE(name(options));
        EXPECT_LT(spike_error({.size = size, .marks = marks}, options), 1e-10);
        options.arithmetic = Arithmetic::f32;
        EXPECT_LT(spike_error({.size = size, .marks = marks}, options), 3e-5);
      }
}

TEST(HostReference, ExpandedDistancesAgreeInDoubleAndCancelInSingle) {
  for (const Algorithm algorithm : {Algorithm::log_sum_exp, Algorithm::matmul}) {
    Options options = {
        .arithmetic = Arithmetic::f64, .algorithm = algorithm, .distance = Distance::expanded};
    SCOPED_TRACE(name(options));
    const Recipe recipe = {.size = Size::small, .marks = Marks::cells};
    EXPECT_LT(spike_error(recipe, options), 1e-10);
    options.arithmetic = Arithmetic::f32;
    const double single = spike_error(recipe, options);
    EXPECT_LT(single, 1e-3);
    options.distance = Distance::difference;
    EXPECT_GT(single, 3 * spike_error(recipe, options));
  }
}

TEST(HostReference, TheOracleAgreesInTwoDimensions) {
  Input input = make_input({.size = Size::hpc2d, .scale = 4096});
  for (const Unit unit : {Unit::decode, Unit::local})
    EXPECT_LT(error(unit, input, in_double,
                    unit == Unit::decode ? oracle_decoding(input).likelihood : oracle_local(input)),
              1e-10);
}

TEST(HostReference, HasThePrototypesValuesInTheMaze) {
  const Input input = make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 512});
  const std::vector<double> out = reference_result(Unit::decode, input, in_double);
  const std::int64_t bins = input.bins();
  EXPECT_NEAR(std::accumulate(out.begin(), out.end(), 0.), -20666988.7175, 1e-3);
  EXPECT_NEAR(out[100 * bins], -0.230337158163, 1e-11);
  EXPECT_NEAR(out[700 * bins + 359], -0.494735029295, 1e-11);
  EXPECT_NEAR(out[1384 * bins + 718], -0.05002715556, 1e-11);
  const std::vector<double> model = reference_result(Unit::encode, input, in_double);
  EXPECT_NEAR(std::accumulate(model.begin(), model.begin() + bins, 0.), 0.154800879113, 1e-11);
  EXPECT_NEAR(std::accumulate(model.begin() + bins, model.end(), 0.), 462.229501981, 1e-8);
}

TEST(HostReference, ElectrodesWithoutSpikesAreFlooredInEveryAlgorithm) {
  Input input = sparse();
  input.decoding_spikes[1] = {};  // has encoding spikes, but none to decode
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  for (const Algorithm algorithm : algorithms)
    EXPECT_LT(error(Unit::decode, input, {.arithmetic = Arithmetic::f64, .algorithm = algorithm},
                    expected),
              1e-9);
  EXPECT_LT(error(Unit::local, input, in_double, oracle_local(input)), 1e-10);
}

TEST(HostReference, LocalFloorIsTheOptions) {
  const Input input = sparse();
  for (const bool floor : {true, false}) {
    const std::vector<double> expected =
        oracle_local(input, floor ? LocalFloor::applied : LocalFloor::omitted);
    EXPECT_LT(
        error(Unit::local, input, {.arithmetic = Arithmetic::f64, .local_floor = floor}, expected),
        1e-10);
  }
  EXPECT_GT(largest_difference(oracle_local(input), oracle_local(input, LocalFloor::omitted)), 1);
}

// The published path floors the marginal: by as much as ln r - ln o it is above the floor.
TEST(HostReference, TheFloorReplacesTheWholeValueWhereTheProductUnderflows) {
  const Options options = {.algorithm = Algorithm::matmul};
  const std::vector<double> golden = reference_result(Unit::decode, golden::input(), options);
  EXPECT_NEAR(largest_difference(golden, with_floored_marginals(golden::input())), 1.82, 0.005);

  const Input far_apart = one_spike_per_row(
      make_input({.size = Size::medium, .marks = Marks::whiten, .features = 8}), 200);
  const std::vector<double> ours = reference_result(Unit::decode, far_apart, options);
  EXPECT_LT(largest_difference(ours, oracle_decoding(far_apart).likelihood), 1e-4);
  EXPECT_NEAR(largest_difference(ours, with_floored_marginals(far_apart)), 3.1, 0.05);
}

TEST(HostReference, BlocksChangeRoundingAlone) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells});
  for (const Algorithm algorithm : algorithms) {
    Options options = {.arithmetic = Arithmetic::f64, .algorithm = algorithm};
    const std::vector<double> whole = reference_result(Unit::decode, input, options);
    options.block = 7;
    EXPECT_LT(error(Unit::decode, input, options, whole), 1e-9);
  }
}

TEST(HostReference, TilesOfPlacesReorderWorkAlone) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells});
  for (const Algorithm algorithm : {Algorithm::log_sum_exp, Algorithm::matmul}) {
    Options options = {.algorithm = algorithm};
    const std::vector<double> whole = reference_result(Unit::decode, input, options);
    options.position_tile = 13;
    EXPECT_EQ(reference_result(Unit::decode, input, options), whole);
  }
}

TEST(HostReference, BothInstructionSetsAgree) {
  if (host_limits().isa != "x86-64-v4") GTEST_SKIP() << "this CPU has no x86-64-v4";
  const auto backend = open_backend("host");
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells});
  const auto wider = isa_v4::make_host_reference(
      *backend, {.unit = Unit::total,
                 .input = input,
                 .options = {.arithmetic = Arithmetic::f64, .algorithm = Algorithm::linear}});
  EXPECT_LT(largest_difference(result_of(*wider), reference_result(Unit::total, input, in_double)),
            1e-10);
}

TEST(HostReference, TotalIsEncodeThenDecode) {
  const Input input = make_input({.size = Size::tiny});
  EXPECT_EQ(reference_result(Unit::total, input), reference_result(Unit::decode, input));
}

TEST(HostReference, EveryStepIsTheSameAndAllocatesNothing) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells});
  for (const Unit unit : {Unit::encode, Unit::decode, Unit::total, Unit::local}) {
    const auto backend = open_backend("host");
    const auto computation = make(*backend, unit, input, {});
    const std::vector<double> first = result_of(*computation);
    backend->ledger.enter(Ledger::Phase::steady);
    EXPECT_EQ(result_of(*computation), first);
  }
}

TEST(HostReference, PeakIsWhatTheProgramHoldsAtMost) {
  for (const Arithmetic arithmetic : precisions) {
    const Input input = make_input({.size = Size::medium});
    const auto backend = open_backend("host");
    const auto computation = make(*backend, Unit::decode, input, {.arithmetic = arithmetic});
    const auto& sites = backend->ledger.peak_by_site();
    const std::int64_t value_bytes = arithmetic == Arithmetic::f32 ? 4 : 8;
    EXPECT_EQ(sites.at("out") + sites.at("arena"),
              value_bytes * decode_live_values(shape(input), value_bytes));
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
