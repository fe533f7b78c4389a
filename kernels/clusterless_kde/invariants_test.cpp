// SPDX-License-Identifier: Apache-2.0
// What must hold of a decoder whatever its numbers are, for every variant on the host.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "clusterless_kde/axes.hpp"
#include "clusterless_kde/data.hpp"
#include "clusterless_kde/formulas.hpp"
#include "clusterless_kde/golden_case.hpp"
#include "clusterless_kde/oracle.hpp"
#include "clusterless_kde/reference_test_support.hpp"
#include "clusterless_kde/variant_test_support.hpp"
#include "runtime/recording.hpp"

namespace holdfast::clusterless_kde {
namespace {

class Invariant : public ::testing::TestWithParam<Way> {
 protected:
  // L of each (spike, place): of one spike per row, and the last row is -G.
  std::vector<double> likelihoods(const Input& input, const Options& options = {}) const {
    std::vector<double> out = decode(way, input, options);
    const std::vector<double> last(out.end() - input.bins(), out.end());
    out.resize(out.size() - last.size());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] -= last[k % last.size()];
    return out;
  }
  bool is_single() const { return way.arithmetic == Arithmetic::f32; }
  // One that is decoded densely, and for those who have the choice one that goes through nodes.
  std::vector<Size> sizes() const {
    if (way.variant == Variant::reference) return {Size::small};
    return {Size::small, Size::medium};
  }

  const Way& way = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Ways, Invariant, ::testing::ValuesIn(ways),
                         [](const auto& each) { return std::string(each.param.name); });

Input cells_apart(Size size = Size::small) {
  return one_spike_per_row(make_input({.size = size, .marks = Marks::cells}), 400);
}

TEST(Inputs, OfMediumSizeGoThroughNodes) {
  EXPECT_EQ(path(shape(cells_apart(Size::small)), Precision::f32), Path::dense);
  EXPECT_EQ(path(shape(cells_apart(Size::medium)), Precision::f32), Path::two_hop);
}

void for_all_features(Input& input, const std::function<double(double)>& change) {
  for (auto* phase : {&input.encoding_spikes, &input.decoding_spikes})
    for (Spikes& spikes : *phase)
      for (double& feature : spikes.features) feature = change(feature);
}

// The clear cases alone: not within rounding of the floor.
bool is_unfloored(double likelihood) {
  return likelihood > log_rate_floor + 0.01;
}

TEST_P(Invariant, RowsWithoutSpikesAreMinusTheGround) {
  const Input input = make_input({.size = Size::tiny});
  const std::vector<double> out = decode(way, input), g = ground(compute(make_encode, way, input));
  const Order spikes = order(input);
  int empty = 0;
  for (std::int64_t t = 0; t < input.rows(); ++t) {
    if (spikes.row_begin[t] != spikes.row_begin[t + 1]) continue;
    ++empty;
    for (std::int64_t p = 0; p < input.bins(); ++p) EXPECT_EQ(out[t * input.bins() + p], -g[p]);
  }
  EXPECT_GT(empty, 1);
}

TEST_P(Invariant, TheOrderOfElectrodesChangesRoundingAlone) {
  Input input = make_input({.size = Size::small, .marks = Marks::cells});
  const std::vector<double> before = decode(way, input);
  std::reverse(input.encoding_spikes.begin(), input.encoding_spikes.end());
  std::reverse(input.decoding_spikes.begin(), input.decoding_spikes.end());
  const std::vector<double> after = decode(way, input);
  for (std::size_t k = 0; k < before.size(); ++k)
    EXPECT_NEAR(after[k], before[k], 1e-5 * std::max(1., std::abs(before[k]))) << k;
}

TEST_P(Invariant, ShiftingAllFeaturesChangesNothing) {
  Input input = cells_apart();
  const std::vector<double> before = likelihoods(input);
  for_all_features(input, [](double feature) { return feature + 300; });
  EXPECT_LT(largest_difference(likelihoods(input), before), 1e-4);
}

TEST_P(Invariant, ScalingFeaturesAndBandwidthsShiftsWhatIsNotFloored) {
  Input input = cells_apart();
  const std::vector<double> before = likelihoods(input);
  for_all_features(input, [](double feature) { return feature / 2; });
  for (double& width : input.feature_bandwidth) width /= 2;
  const std::vector<double> after = likelihoods(input);
  std::size_t shifted = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (!is_unfloored(before[k])) continue;
    EXPECT_NEAR(after[k], before[k] + 4 * std::log(2), way.per_spike) << k;
    ++shifted;
  }
  EXPECT_GT(shifted, before.size() / 3);
}

TEST_P(Invariant, DuplicatingEncodingSpikesDoublesEveryRate) {
  Input input = cells_apart();
  const std::vector<double> before = likelihoods(input),
                            g = ground(compute(make_encode, way, input));
  for (Spikes& spikes : input.encoding_spikes) {
    const Spikes copy = spikes;
    spikes.times.insert(spikes.times.end(), copy.times.begin(), copy.times.end());
    spikes.features.insert(spikes.features.end(), copy.features.begin(), copy.features.end());
  }
  const std::vector<double> after = likelihoods(input),
                            doubled = ground(compute(make_encode, way, input));
  for (std::size_t k = 0; k < before.size(); ++k)
    if (is_unfloored(before[k])) {
      EXPECT_NEAR(after[k], before[k] + std::log(2), way.per_spike) << k;
    }
  for (std::size_t p = 0; p < g.size(); ++p) EXPECT_NEAR(doubled[p], 2 * g[p], 1e-5 * g[p]) << p;
}

TEST_P(Invariant, FlooredEntriesEqualTheFloorExactly) {
  const Input input = golden::input();
  const std::vector<double> out = decode(way, one_spike_per_row(input, 9)),
                            g = ground(compute(make_encode, way, input));
  // The spike is the last but three in turn: electrode 1's third.
  for (int p = 0; p < golden::bins; ++p) {
    const double expected = is_single()
                                ? static_cast<float>(log_rate_floor) + static_cast<float>(-g[p])
                                : log_rate_floor + -g[p];
    EXPECT_EQ(out[5 * golden::bins + p], expected) << p;
  }
}

TEST_P(Invariant, NothingLiesBelowTheFloor) {
  const std::vector<double> all = likelihoods(cells_apart());
  EXPECT_GE(*std::min_element(all.begin(), all.end()), log_rate_floor - 1e-5);
  EXPECT_GT(std::count_if(all.begin(), all.end(), [](double l) { return !is_unfloored(l); }), 0);
}

TEST_P(Invariant, ASpikeFartherFromAllMarksIsLessLikely) {
  Input input = golden::input();
  for (Spikes& spikes : input.encoding_spikes)
    std::fill(spikes.features.begin(), spikes.features.end(), 0);
  input.decoding_spikes = {{.times = {0, 1, 2, 3}}, {}};
  for (int j = 0; j < 4; ++j)
    for (int f = 0; f < 3; ++f) input.decoding_spikes[0].features.push_back(0.7 * j);
  const std::vector<double> l = likelihoods(input);
  for (int j = 1; j < 4; ++j)
    for (int p = 0; p < golden::bins; ++p)
      EXPECT_LT(l[j * golden::bins + p], l[(j - 1) * golden::bins + p]);
}

TEST_P(Invariant, ASpikeLikeTheOnlyOneKnownHasThePeakOfTheKernels) {
  Input input = make_input({.size = Size::tiny});
  const double at = input.places[37];
  const double t = at;  // a track of 100 cm in 100 s
  input.encoding_spikes = {{.times = {t}, .features = {1.5, -2}}};
  input.decoding_spikes = {{.times = {3}, .features = {1.5, -2}}};
  const double lcw = -log_two_pi - 2 * std::log(24);
  const double o = occupancy(compute(make_encode, way, input))[37];
  const double big_o = o * 100 * std::sqrt(12.5) * sqrt_two_pi;  // O from o: unnormalised sum
  const std::int64_t row = row_of(input.edges, 3);
  EXPECT_NEAR(decode(way, input)[row * input.bins() + 37] -
                  decode(way, input)[(input.rows() - 1) * input.bins() + 37],
              lcw - std::log(big_o), way.per_spike);
}

TEST_P(Invariant, AnEvenRunIsEvenlyOccupied) {
  const std::vector<double> o =
      occupancy(compute(make_encode, way, make_input({.size = Size::medium})));
  for (std::size_t p = 100; p < 400; ++p) EXPECT_NEAR(o[p], 0.01, 1e-5) << p;
}

// What decodes finds its model made; steps of both variants do the same.
TEST_P(Invariant, OnlyEncodeAndTotalEncodeInAStep) {
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

TEST_P(Invariant, TwoRunsAreTheSameToTheBit) {
  for (const Size size : sizes())
    for (const Factory make : {Factory{make_encode}, Factory{make_decode}, Factory{make_local}}) {
      const Input input = make_input({.size = size, .marks = Marks::cells});
      const auto backend = open_backend("host");
      const auto computation = make(*backend, way.variant, input, way.with({}));
      computation->step();
      const std::vector<double> first = computation->result();
      backend->ledger.enter(Ledger::Phase::steady);
      computation->step();
      EXPECT_EQ(computation->result(), first);
    }
}

TEST_P(Invariant, AnotherInputLeavesNoTrace) {
  const Input input = make_input({.size = Size::small, .seed = 43});
  const auto backend = open_backend("host");
  const auto other =
      make_decode(*backend, way.variant, make_input({.size = Size::small}), way.with({}));
  const auto computation = make_decode(*backend, way.variant, input, way.with({}));
  for (int turn = 0; turn < 2; ++turn) {
    other->step();
    computation->step();
  }
  EXPECT_EQ(computation->result(), decode(way, input));
}

TEST_P(Invariant, BlocksAndTilesChangeRoundingAlone) {
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

// All spikes of all electrodes in one row: hundreds, where single ones are otherwise looked at.
TEST_P(Invariant, ARowIsTheSumOfItsSpikes) {
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

TEST_P(Invariant, SparseElectrodesStayFinite) {
  Input input = make_input({.size = Size::small, .marks = Marks::cells, .sparse = true});
  input.decoding_spikes[3] = {};
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

// Nobody was there, and no kernel reaches it even in double.
TEST_P(Invariant, APlaceOutOfAllReachIsFlooredAndHasTheLeastGround) {
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

TEST_P(Invariant, AnAnimalOutOfAllReachIsFlooredAndHasNoGround) {
  Input input = golden::input();
  for (double& x : input.decoding.positions) x += 500;
  const std::vector<double> out = compute(make_local, way, input);
  const Order spikes = order(input);
  for (std::int64_t t = 0; t < golden::rows; ++t) {
    const auto in_row = static_cast<double>(spikes.row_begin[t + 1] - spikes.row_begin[t]);
    EXPECT_NEAR(out[t], in_row * log_rate_floor, 1e-5) << t;
  }
}

TEST_P(Invariant, AnElectrodeWithoutEncodingSpikesAddsTheFloor) {
  Input input = golden::input();
  const std::vector<double> before = decode(way, input);
  input.encoding_spikes.push_back({});
  input.decoding_spikes.push_back({.times = {3.5}, .features = {1, 1, 1}});
  const std::vector<double> after = decode(way, input);
  for (int t = 0; t < golden::rows; ++t)
    for (int p = 0; p < golden::bins; ++p) {
      const int k = t * golden::bins + p;
      EXPECT_NEAR(after[k], before[k] + (t == 3 ? log_rate_floor : 0), 1e-5) << k;
    }
}

// A denormal number costs some CPUs a hundred cycles. What a thread met is in its flags; a loop
// that flushes gives back the flags that it found.
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
        EXPECT_EQ(met, 0u) << way << " " << name(size);
      }
}

// Far enough for single precision to lose all kernels, near enough for their ratio to matter. The
// reference computes in whatever precision it is asked for.
TEST(RangeFallback, DecodesAPlaceOutOfSinglePrecisionsReach) {
  Input input = golden::input();
  input.places.push_back(60);
  const std::vector<double> expected = oracle_decoding(input).likelihood;
  for (const Way& way : {ways[1], ways[2], ways[3]})
    EXPECT_LT(largest_difference(decode(way, input), expected), way.per_spike) << way;
}

}  // namespace
}  // namespace holdfast::clusterless_kde
