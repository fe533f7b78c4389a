// SPDX-License-Identifier: Apache-2.0
// Invariants of every decoder, for every variant on the host, and some that are only tested here.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/testing/invariants.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast::clusterless_kde {
namespace {

Input cells_apart(Size size) {
  return one_spike_per_row(make_input({.size = size, .marks = Marks::cells}), 400);
}

std::unique_ptr<Backend> open() {
  return open_backend("host");
}
Input input_of(Path path) {
  return cells_apart(path == Path::dense ? Size::small : Size::medium);
}
Decoder decoder(Variant variant, Arithmetic arithmetic, Path path, double per_spike) {
  return {.open = open,
          .input = input_of,
          .variant = variant,
          .arithmetic = arithmetic,
          .path = path,
          .per_spike = per_spike};
}
constexpr Variant reference = Variant::reference, optimized = Variant::optimized;
INSTANTIATE_TEST_SUITE_P(Host, Invariant,
                         testing::Values(decoder(reference, Arithmetic::f32, Path::dense, 1e-4),
                                         decoder(reference, Arithmetic::f64, Path::dense, 1e-10),
                                         decoder(optimized, Arithmetic::f32, Path::dense, 1e-4),
                                         decoder(optimized, Arithmetic::f32, Path::two_hop, 1e-4),
                                         decoder(optimized, Arithmetic::f64, Path::dense, 1e-10),
                                         decoder(optimized, Arithmetic::f64, Path::two_hop, 1e-9)),
                         [](const auto& each) { return name_of(each.param); });

class EveryWay : public ::testing::TestWithParam<Way> {
 protected:
  // L of each (spike, place): of one spike per row, and the last row is -G.
  std::vector<double> likelihoods(const Input& input, const Options& options = {}) const {
    std::vector<double> out = decode(way, input, options);
    const std::vector<double> last(out.end() - input.bins(), out.end());
    out.resize(out.size() - last.size());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] -= last[k % last.size()];
    return out;
  }
  // A size decoded on the dense path, and for variants with a choice one that goes through nodes.
  std::vector<Size> sizes() const {
    if (way.variant == Variant::reference) return {Size::small};
    return {Size::small, Size::medium};
  }

  const Way& way = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Host, EveryWay, ::testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(EveryWay, AnEvenRunIsEvenlyOccupied) {
  const std::vector<double> o =
      occupancy(compute(make_encode, way, make_input({.size = Size::medium})));
  for (std::size_t p = 100; p < 400; ++p) EXPECT_NEAR(o[p], 0.01, 1e-5) << p;
}

// A decode finds its model made; steps of both variants do the same work.
TEST_P(EveryWay, OnlyEncodeAndTotalEncodeInAStep) {
  const auto encodes = [&](Factory make) {
    const auto backend = open_backend("host");
    const auto computation = make(*backend, way.variant, golden::input(), way.with({}));
    Recording recording(*backend);
    computation->step();
    recording.stop();
    return std::ranges::any_of(recording.scopes(),
                               [](const ScopeRecord& scope) { return scope.name == "encode"; });
  };
  EXPECT_TRUE(encodes(make_encode));
  EXPECT_TRUE(encodes(make_total));
  EXPECT_FALSE(encodes(make_decode));
  EXPECT_FALSE(encodes(make_local));
}

TEST_P(EveryWay, TwoRunsAreTheSameToTheBit) {
  for (const Size size : sizes())
    for (const Factory make : {Factory{make_encode}, Factory{make_decode}, Factory{make_local}}) {
      const Input input = make_input({.size = size, .marks = Marks::cells});
      const auto backend = open_backend("host");
      const auto computation = make(*backend, way.variant, input, way.with({}));
      const std::vector<double> first = result_of(*computation);
      backend->ledger.enter(Ledger::Phase::steady);
      EXPECT_EQ(result_of(*computation), first);
    }
}

TEST_P(EveryWay, BlocksAndTilesChangeRoundingAlone) {
  for (const Size size : sizes()) {
    const Input input = cells_apart(size);
    const std::vector<double> chosen = likelihoods(input);
    for (const Options& options :
         {Options{.block = 10}, Options{.block = 500}, Options{.position_tile = 64},
          Options{.position_tile = 200}, Options{.encoding_tile = 128},
          Options{.block = 25, .position_tile = 100, .encoding_tile = 33}})
      EXPECT_LT(largest_difference(likelihoods(input, options), chosen), 1e-5);
  }
}

// All spikes of all electrodes in one row: hundreds, where other tests check single ones.
TEST_P(EveryWay, ARowIsTheSumOfItsSpikes) {
  for (const Size size : sizes()) {
    Input input = make_input({.size = size, .marks = Marks::cells});
    input.edges = {input.edges.front(), input.edges.back()};
    const Input apart = one_spike_per_row(input, 10000);
    const std::vector<double> row = decode(way, input), single = decode(way, apart);
    const std::int64_t bins = input.bins(), spikes = apart.rows() - 1;
    ASSERT_GT(spikes, 200);
    for (std::int64_t p = 0; p < bins; ++p) {
      double sum = row[bins + p];  // -G
      for (std::int64_t j = 0; j < spikes; ++j)
        sum += single[j * bins + p] - single[spikes * bins + p];
      EXPECT_NEAR(row[p], sum, 2e-6 * std::abs(sum)) << p;
    }
  }
}

void expect_finite(const Way& way, const Input& input) {
  for (const Factory make : {Factory{make_encode}, Factory{make_total}, Factory{make_local}})
    for (const double value : compute(make, way, input)) EXPECT_TRUE(std::isfinite(value));
  const std::vector<double> out = decode(way, input);
  for (std::int64_t t = 0; t < input.rows(); ++t) {
    const auto row = out.begin() + t * input.bins();
    const double most = *std::max_element(row, row + input.bins());
    const double sum = std::accumulate(row, row + input.bins(), 0.,
                                       [=](double s, double l) { return s + std::exp(l - most); });
    EXPECT_TRUE(std::isfinite(most + std::log(sum))) << t;
  }
}

TEST_P(EveryWay, SparseElectrodesStayFinite) {
  for (const Size size : sizes()) {
    Input input = make_input({.size = size, .marks = Marks::cells, .sparse = true});
    input.decoding_spikes[3] = {};
    expect_finite(way, input);
  }
}

TEST(SparseElectrodes, OfMediumSizeGoThroughNodesInSinglePrecision) {
  const Input input = make_input({.size = Size::medium, .marks = Marks::cells, .sparse = true});
  EXPECT_EQ(path(shape(input), Precision::f32), Path::two_hop);
}

// The animal never was there, and no kernel reaches the place even in double.
TEST_P(EveryWay, APlaceOutOfAllReachIsFlooredAndHasTheLeastGround) {
  Input input = golden::input();
  input.places.push_back(500);
  const std::vector<double> encoded = compute(make_encode, way, input), out = decode(way, input);
  const std::size_t last = golden::bins, bins = last + 1;
  EXPECT_EQ(occupancy(encoded)[last], 0);
  EXPECT_NEAR(ground(encoded)[last], 2 * rate_floor, 1e-21);
  const Order spikes = order(input);
  for (std::int64_t t = 0; t < golden::rows; ++t) {
    const auto in_row = static_cast<double>(spikes.row_begin[t + 1] - spikes.row_begin[t]);
    EXPECT_NEAR(out[t * bins + last], in_row * log_rate_floor, 1e-5) << t;
    for (int p = 0; p < golden::bins; ++p)
      EXPECT_NEAR(out[t * bins + p], golden::likelihood[t * golden::bins + p], way.per_spike);
  }
}

TEST_P(EveryWay, AnAnimalOutOfAllReachIsFlooredAndHasNoGround) {
  Input input = golden::input();
  for (double& x : input.decoding.positions) x += 500;
  const std::vector<double> out = compute(make_local, way, input);
  const Order spikes = order(input);
  for (std::int64_t t = 0; t < golden::rows; ++t) {
    const auto in_row = static_cast<double>(spikes.row_begin[t + 1] - spikes.row_begin[t]);
    EXPECT_NEAR(out[t], in_row * log_rate_floor, 1e-5) << t;
  }
}

// A denormal costs some CPUs a hundred cycles. The thread's flags tell whether it met one; a loop
// that flushes restores the flags it found.
TEST(SinglePrecision, MeetsNoDenormalNumbersInAStep) {
  constexpr unsigned flags = _MM_EXCEPT_DENORM | _MM_EXCEPT_UNDERFLOW;
  for (const Way& way : {ways[0], ways[2]})
    for (const Size size : {Size::small, Size::medium})
      for (const Factory make : {make_total, make_local}) {
        const auto backend = open_backend("host");
        const auto computation =
            make(*backend, way.variant, make_input({.size = size, .marks = Marks::cells}), {});
#pragma omp parallel
        _mm_setcsr(_mm_getcsr() & ~flags);
        computation->step();
        unsigned met = 0;
#pragma omp parallel reduction(| : met)
        met |= _mm_getcsr() & flags;
        EXPECT_EQ(met, 0u) << way << " " << size_words.of(size);
      }
}

// Far enough for single precision to lose all kernels, near enough for their ratio to matter. The
// reference computes in the requested precision.
TEST(RangeFallback, DecodesAPlaceOutOfSinglePrecisionsReach) {
  Input input = golden::input();
  input.places.push_back(60);
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  for (const Way& way : {ways[1], ways[2], ways[3]})
    EXPECT_LT(largest_difference(decode(way, input), expected), way.per_spike) << way;
}

}  // namespace
}  // namespace holdfast::clusterless_kde
