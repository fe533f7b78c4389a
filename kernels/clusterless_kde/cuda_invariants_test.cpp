// SPDX-License-Identifier: Apache-2.0
// What must hold of a decoder whatever its numbers are, for the optimized variant on a device: on
// the emulated one, densely and in two hops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "clusterless_kde/axes.hpp"
#include "clusterless_kde/data.hpp"
#include "clusterless_kde/formulas.hpp"
#include "clusterless_kde/golden_case.hpp"
#include "clusterless_kde/optimized_test_support.hpp"

namespace holdfast::clusterless_kde {
namespace {

struct Way {
  Arithmetic arithmetic = Arithmetic::f32;
  Path path = Path::dense;
  double per_spike = 1e-4;  // error of a spike's likelihood that is allowed
};

class EmulatedInvariant : public testing::TestWithParam<Way> {
 protected:
  // A spike per row; the last row is -G. On the wide places of a track nodes are cheaper.
  Input input() const {
    Recipe recipe = {.size = Size::tiny, .marks = Marks::cells};
    if (way.path == Path::two_hop) recipe.encoding_spikes = 100, recipe.decoding_spikes = 40;
    Input made = one_spike_per_row(make_input(recipe), 60);
    if (way.path == Path::two_hop) made.position_bandwidth = {9};
    return made;
  }
  std::vector<double> decode(const Input& of) const {
    return emulated_result(Unit::decode, of, {.arithmetic = way.arithmetic});
  }
  std::vector<double> ground(const Input& of) const {
    auto encoded = emulated_result(Unit::encode, of, {.arithmetic = way.arithmetic});
    encoded.erase(encoded.begin(), encoded.begin() + of.bins());
    return encoded;
  }
  // L of each (spike, place).
  std::vector<double> likelihoods(const Input& of) const {
    std::vector<double> out = decode(of);
    const std::vector<double> last(out.end() - of.bins(), out.end());
    out.resize(out.size() - last.size());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] -= last[k % last.size()];
    return out;
  }

  const Way& way = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Ways, EmulatedInvariant,
                         testing::Values(Way{Arithmetic::f32, Path::dense, 1e-4},
                                         Way{Arithmetic::f32, Path::two_hop, 1e-4},
                                         Way{Arithmetic::f64, Path::dense, 1e-10},
                                         Way{Arithmetic::f64, Path::two_hop, 1e-9}),
                         [](const auto& way) {
                           return std::string(name(way.param.arithmetic)) +
                                  (way.param.path == Path::dense ? "_dense" : "_two_hop");
                         });

void for_all_features(Input& input, const std::function<double(double)>& change) {
  for (auto* phase : {&input.encoding_spikes, &input.decoding_spikes})
    for (Spikes& spikes : *phase)
      for (double& feature : spikes.features) feature = change(feature);
}

// The clear cases alone: not within rounding of the floor.
bool is_unfloored(double likelihood) {
  return likelihood > log_rate_floor + 0.01;
}

TEST_P(EmulatedInvariant, TheInputTakesThePath) {
  EXPECT_EQ(plan(*emulated(), input(), {.arithmetic = way.arithmetic}).path, way.path);
}

TEST_P(EmulatedInvariant, RowsWithoutSpikesAreMinusTheGroundToTheBit) {
  Input silent = input();
  silent.edges.insert(silent.edges.end(), {1e6, 2e6, 3e6});
  silent.decoding.times.push_back(4e6);
  silent.decoding.positions.push_back(silent.decoding.positions.back());
  const std::vector<double> out = decode(silent), g = ground(silent);
  const std::int64_t bins = silent.bins(), rows = silent.rows();
  for (std::int64_t row = rows - 3; row < rows; ++row)
    for (std::int64_t p = 0; p < bins; ++p)
      ASSERT_EQ(out[row * bins + p], -g[p]) << "row " << row << ", place " << p;
}

TEST_P(EmulatedInvariant, WithoutDecodingSpikesAllRowsAreMinusTheGround) {
  Input silent = golden::input();
  for (Spikes& spikes : silent.decoding_spikes) spikes = {};
  const std::vector<double> out = decode(silent), g = ground(silent);
  for (std::size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], -g[k % g.size()]) << k;
}

TEST_P(EmulatedInvariant, AnotherInputLeavesNoTrace) {
  const Input first = input(), second = one_spike_per_row(first, 7);
  const Options options = {.arithmetic = way.arithmetic};
  const auto backend = emulated();
  const auto one = make_unit(*backend, Unit::total, first, options),
             other = make_unit(*backend, Unit::total, second, options);
  for (int turn = 0; turn < 2; ++turn) {
    one->step();
    other->step();
  }
  EXPECT_EQ(one->result(), emulated_result(Unit::total, first, options));
  EXPECT_EQ(other->result(), emulated_result(Unit::total, second, options));
}

TEST_P(EmulatedInvariant, TheOrderOfElectrodesChangesRoundingAlone) {
  Input turned = input();
  turned.edges = {turned.edges.front(), turned.edges.back()};
  const std::vector<double> before = decode(turned);
  std::ranges::reverse(turned.encoding_spikes);
  std::ranges::reverse(turned.decoding_spikes);
  const std::vector<double> after = decode(turned);
  for (std::size_t k = 0; k < before.size(); ++k)
    ASSERT_NEAR(after[k], before[k], 1e-5 * std::max(1., std::abs(before[k]))) << k;
}

TEST_P(EmulatedInvariant, ShiftingAllFeaturesChangesNothing) {
  Input shifted = input();
  const std::vector<double> before = likelihoods(shifted);
  for_all_features(shifted, [](double feature) { return feature + 300; });
  EXPECT_LT(largest_difference(likelihoods(shifted), before), 1e-4);
}

TEST_P(EmulatedInvariant, ScalingFeaturesAndBandwidthsShiftsWhatIsNotFloored) {
  Input scaled = input();
  const std::vector<double> before = likelihoods(scaled);
  for_all_features(scaled, [](double feature) { return feature / 2; });
  for (double& width : scaled.feature_bandwidth) width /= 2;
  const std::vector<double> after = likelihoods(scaled);
  std::size_t shifted = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (!is_unfloored(before[k])) continue;
    ASSERT_NEAR(after[k], before[k] + 4 * std::log(2), way.per_spike) << k;
    ++shifted;
  }
  EXPECT_GT(shifted, before.size() / 4);
}

TEST_P(EmulatedInvariant, DuplicatingEncodingSpikesDoublesEveryRate) {
  Input doubled = input();
  const std::vector<double> before = likelihoods(doubled), g = ground(doubled);
  for (Spikes& spikes : doubled.encoding_spikes) {
    const Spikes copy = spikes;
    spikes.times.insert(spikes.times.end(), copy.times.begin(), copy.times.end());
    spikes.features.insert(spikes.features.end(), copy.features.begin(), copy.features.end());
  }
  const std::vector<double> after = likelihoods(doubled), twice = ground(doubled);
  for (std::size_t k = 0; k < before.size(); ++k)
    if (is_unfloored(before[k])) {
      ASSERT_NEAR(after[k], before[k] + std::log(2), way.per_spike) << k;
    }
  for (std::size_t p = 0; p < g.size(); ++p) ASSERT_NEAR(twice[p], 2 * g[p], 1e-5 * g[p]) << p;
}

TEST_P(EmulatedInvariant, NothingLiesBelowTheFloorAndWhatIsOnItEqualsIt) {
  Input far = input();
  for (Spikes& spikes : far.decoding_spikes)  // one spike far from every mark that is known
    if (!spikes.times.empty() && spikes.times.front() == far.decoding_spikes[0].times.front())
      spikes.features[0] += 1e4;
  const std::vector<double> out = decode(far), g = ground(far), all = likelihoods(far);
  EXPECT_GE(*std::ranges::min_element(all), log_rate_floor - 1e-5);
  const std::int64_t row = row_of(far.edges, far.decoding_spikes[0].times.front());
  for (std::size_t p = 0; p < g.size(); ++p) {
    const double floored = way.arithmetic == Arithmetic::f64
                               ? log_rate_floor - g[p]
                               : static_cast<float>(log_rate_floor) - static_cast<float>(g[p]);
    ASSERT_EQ(out[row * far.bins() + static_cast<std::int64_t>(p)], floored) << p;
  }
}

TEST_P(EmulatedInvariant, ASpikeFartherFromAllMarksIsLessLikely) {
  Input apart = input();
  for (Spikes& spikes : apart.encoding_spikes) std::ranges::fill(spikes.features, 100);
  apart.decoding_spikes.assign(apart.decoding_spikes.size(), {});
  constexpr int spikes = 40;
  for (int j = 0; j < spikes; ++j) {
    apart.decoding_spikes[0].times.push_back((apart.edges[j] + apart.edges[j + 1]) / 2);
    for (int f = 0; f < 4; ++f) apart.decoding_spikes[0].features.push_back(100 + j);
  }
  ASSERT_EQ(plan(*emulated(), apart, {.arithmetic = way.arithmetic}).path, way.path);
  const std::vector<double> l = likelihoods(apart);
  const std::int64_t bins = apart.bins();
  for (std::int64_t k = bins; k < spikes * bins; ++k)
    if (is_unfloored(l[k])) {
      ASSERT_LT(l[k], l[k - bins]) << k;
    }
}

TEST_P(EmulatedInvariant, ASpikeLikeTheOnlyOneKnownHasThePeakOfTheKernels) {
  Input only = input();
  const double at = only.places[37];  // a track of 100 cm in 100 s
  const Spikes like = {.times = {at}, .features = {100, 120, 140, 160}};
  for (auto* phase : {&only.encoding_spikes, &only.decoding_spikes}) phase->assign(3, {});
  only.encoding_spikes[2] = only.decoding_spikes[2] = like;
  only.decoding_spikes[2].times = {(only.edges[0] + only.edges[1]) / 2};
  if (way.path == Path::two_hop) {  // which one spike alone would not take
    only.encoding_spikes[0].times.assign(100, at);
    only.encoding_spikes[0].features.assign(400, 0);
    only.decoding_spikes[0].times.assign(40, only.edges[2]);
    only.decoding_spikes[0].features.assign(160, 0);
  }
  ASSERT_EQ(plan(*emulated(), only, {.arithmetic = way.arithmetic}).path, way.path);
  double o = 0;
  for (const double x : only.encoding.positions)
    o += std::exp(-(at - x) * (at - x) / 2 / std::pow(only.position_bandwidth[0], 2));
  const double lcw = -2 * log_two_pi - 4 * std::log(24);
  EXPECT_NEAR(likelihoods(only)[37], std::max(log_rate_floor, lcw - std::log(o)), way.per_spike);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
