// SPDX-License-Identifier: Apache-2.0
// Invariants of every decoder: tests that a file with decoders of an input runs by
// INSTANTIATE_TEST_SUITE_P(..., Invariant, ...), on the host and on the emulated device, on the
// dense path and in two hops.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/base/error.hpp"
#include "testing/differences.hpp"
#include "testing/results.hpp"

namespace holdfast::clusterless_kde {

struct Decoder {
  std::unique_ptr<Backend> (*open)() = nullptr;
  // On a track of 100 cm, crossed in 100 s; cells with four features, a spike per row.
  Input (*input)(Path) = nullptr;
  Variant variant = Variant::optimized;
  Arithmetic arithmetic = Arithmetic::f32;
  Path path = Path::dense;  // of that input
  double per_spike = 1e-4;  // allowed error of a spike's likelihood
};
inline std::string name_of(const Decoder& decoder) {
  return text(decoder.variant == Variant::reference ? "reference_" : "optimized_",
              arithmetic_words.of(decoder.arithmetic),
              decoder.path == Path::dense ? "_dense" : "_two_hop");
}
inline void PrintTo(const Decoder& decoder, std::ostream* out) {
  *out << name_of(decoder);
}

class Invariant : public testing::TestWithParam<Decoder> {
 protected:
  Input input() const { return decoder.input(decoder.path); }

  std::unique_ptr<Computation> make(Backend& backend, Unit unit, const Input& of) const {
    constexpr decltype(&make_encode) factories[] = {make_encode, make_decode, make_total,
                                                    make_local};
    return factories[static_cast<int>(unit)](backend, decoder.variant, of,
                                             {.arithmetic = decoder.arithmetic});
  }
  std::vector<double> result(Unit unit, const Input& of) const {
    const auto backend = decoder.open();
    return result_of(*make(*backend, unit, of));
  }
  std::vector<double> ground(const Input& of) const {
    auto encoded = result(Unit::encode, of);
    encoded.erase(encoded.begin(), encoded.begin() + of.bins());
    return encoded;
  }
  // L of each (spike, place), for the last row is -G.
  std::vector<double> likelihoods(const Input& of) const {
    std::vector<double> out = result(Unit::decode, of);
    const std::vector<double> last(out.end() - of.bins(), out.end());
    out.resize(out.size() - last.size());
    for (std::size_t k = 0; k < out.size(); ++k) out[k] -= last[k % last.size()];
    return out;
  }
  bool takes_the_path(const Input& of) const {
    return path(shape(of), precision_of(decoder.arithmetic)) == decoder.path;
  }
  // The clear cases alone: not within rounding of the floor.
  static bool is_unfloored(double likelihood) { return likelihood > log_rate_floor + 0.01; }

  static void change_features(Input& of, const std::function<double(double)>& change) {
    for (auto* phase : {&of.encoding_spikes, &of.decoding_spikes})
      for (Spikes& spikes : *phase)
        for (double& feature : spikes.features) feature = change(feature);
  }

  const Decoder& decoder = GetParam();
};

TEST_P(Invariant, TheInputTakesThePath) {
  EXPECT_TRUE(takes_the_path(input()));
}

TEST_P(Invariant, RowsWithoutSpikesAreMinusTheGroundToTheBit) {
  Input silent = input();
  silent.edges.insert(silent.edges.end(), {1e6, 2e6, 3e6});
  silent.decoding.times.push_back(4e6);
  silent.decoding.positions.push_back(silent.decoding.positions.back());
  const std::vector<double> out = result(Unit::decode, silent), g = ground(silent);
  const std::int64_t bins = silent.bins(), rows = silent.rows();
  for (std::int64_t row = rows - 3; row < rows; ++row)
    for (std::int64_t p = 0; p < bins; ++p)
      ASSERT_EQ(out[row * bins + p], -g[p]) << "row " << row << ", place " << p;
}

TEST_P(Invariant, WithoutDecodingSpikesAllRowsAreMinusTheGround) {
  Input silent = input();
  for (Spikes& spikes : silent.decoding_spikes) spikes = {};
  const std::vector<double> out = result(Unit::decode, silent), g = ground(silent);
  for (std::size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], -g[k % g.size()]) << k;
}

TEST_P(Invariant, AnotherInputLeavesNoTrace) {
  const Input first = input(), second = one_spike_per_row(first, 7);
  const auto backend = decoder.open();
  const auto one = make(*backend, Unit::total, first), other = make(*backend, Unit::total, second);
  for (int turn = 0; turn < 2; ++turn) {
    one->step();
    other->step();
  }
  EXPECT_EQ(one->result(), result(Unit::total, first));
  EXPECT_EQ(other->result(), result(Unit::total, second));
}

// All spikes are in one row, whose sum is then formed in another order.
TEST_P(Invariant, TheOrderOfElectrodesChangesRoundingAlone) {
  Input turned = input();
  ASSERT_GE(turned.electrodes(), 2);
  turned.edges = {turned.edges.front(), turned.edges.back()};
  ASSERT_TRUE(takes_the_path(turned));
  const std::vector<double> before = result(Unit::decode, turned);
  std::ranges::reverse(turned.encoding_spikes);
  std::ranges::reverse(turned.decoding_spikes);
  const std::vector<double> after = result(Unit::decode, turned);
  for (std::size_t k = 0; k < before.size(); ++k)
    ASSERT_NEAR(after[k], before[k], 1e-5 * std::max(1., std::abs(before[k]))) << k;
}

TEST_P(Invariant, ShiftingAllFeaturesChangesNothing) {
  Input shifted = input();
  const std::vector<double> before = likelihoods(shifted);
  change_features(shifted, [](double feature) { return feature + 300; });
  EXPECT_LT(largest_difference(likelihoods(shifted), before), decoder.per_spike);
}

TEST_P(Invariant, ScalingFeaturesAndBandwidthsShiftsWhatIsNotFloored) {
  Input scaled = input();
  const std::vector<double> before = likelihoods(scaled);
  change_features(scaled, [](double feature) { return feature / 2; });
  for (double& width : scaled.feature_bandwidth) width /= 2;
  const std::vector<double> after = likelihoods(scaled);
  std::size_t shifted = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (!is_unfloored(before[k])) continue;
    ASSERT_NEAR(after[k], before[k] + 4 * std::log(2), decoder.per_spike) << k;
    ++shifted;
  }
  EXPECT_GT(shifted, before.size() / 4);
}

TEST_P(Invariant, DuplicatingEncodingSpikesDoublesEveryRate) {
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
      ASSERT_NEAR(after[k], before[k] + std::log(2), decoder.per_spike) << k;
    }
  for (std::size_t p = 0; p < g.size(); ++p) ASSERT_NEAR(twice[p], 2 * g[p], 1e-5 * g[p]) << p;
}

// Electrode 0's first spike is far from every encoded mark.
TEST_P(Invariant, NothingLiesBelowTheFloorAndWhatIsOnItEqualsIt) {
  Input far = input();
  far.decoding_spikes[0].features[0] += 1e4;
  const std::vector<double> out = result(Unit::decode, far), g = ground(far),
                            all = likelihoods(far);
  EXPECT_GE(*std::ranges::min_element(all), log_rate_floor - 1e-5);
  const std::int64_t row = row_of(far.edges, far.decoding_spikes[0].times.front());
  for (std::int64_t p = 0; p < far.bins(); ++p) {
    const double floored = decoder.arithmetic == Arithmetic::f64
                               ? log_rate_floor - g[p]
                               : static_cast<float>(log_rate_floor) - static_cast<float>(g[p]);
    ASSERT_EQ(out[row * far.bins() + p], floored) << p;
  }
}

TEST_P(Invariant, ASpikeFartherFromAllMarksIsLessLikely) {
  Input apart = input();
  for (Spikes& spikes : apart.encoding_spikes) std::ranges::fill(spikes.features, 100);
  apart.decoding_spikes.assign(apart.decoding_spikes.size(), {});
  constexpr int spikes = 40;
  for (int j = 0; j < spikes; ++j) {
    apart.decoding_spikes[0].times.push_back((apart.edges[j] + apart.edges[j + 1]) / 2);
    for (int f = 0; f < 4; ++f) apart.decoding_spikes[0].features.push_back(100 + j);
  }
  ASSERT_TRUE(takes_the_path(apart));
  const std::vector<double> l = likelihoods(apart);
  const std::int64_t bins = apart.bins();
  for (std::int64_t k = bins; k < spikes * bins; ++k)
    if (is_unfloored(l[k])) {
      ASSERT_LT(l[k], l[k - bins]) << k;
    }
}

TEST_P(Invariant, ASpikeLikeTheOnlyOneKnownHasThePeakOfTheKernels) {
  Input only = input();
  const double at = only.places[37];
  const Spikes like = {.times = {at}, .features = {100, 120, 140, 160}};
  for (auto* phase : {&only.encoding_spikes, &only.decoding_spikes}) phase->assign(3, {});
  only.encoding_spikes[2] = only.decoding_spikes[2] = like;
  only.decoding_spikes[2].times = {(only.edges[0] + only.edges[1]) / 2};
  if (decoder.path == Path::two_hop) {  // a single spike would not take it
    constexpr std::size_t known = 200, heard = 40;
    only.encoding_spikes[0] = {std::vector<double>(known, at), std::vector<double>(4 * known)};
    only.decoding_spikes[0] = {std::vector<double>(heard, only.edges[2]),
                               std::vector<double>(4 * heard)};
  }
  ASSERT_TRUE(takes_the_path(only));
  double o = 0;
  for (const double x : only.encoding.positions)
    o += std::exp(-(at - x) * (at - x) / 2 / std::pow(only.position_bandwidth[0], 2));
  const double lcw = -2 * log_two_pi - 4 * std::log(24);
  EXPECT_NEAR(likelihoods(only)[37], std::max(log_rate_floor, lcw - std::log(o)),
              decoder.per_spike);
}

// One electrode has a single mark, which is decoded; then one has a decoding spike but no mark, and
// one has neither.
TEST_P(Invariant, ElectrodesWithoutSpikesAddTheFloorOrNothing) {
  const std::vector<double> mark = {100, 120, 140, 160};
  Input sparse = input();
  sparse.encoding_spikes.push_back({.times = {50}, .features = mark});
  sparse.decoding_spikes.push_back({.times = {2.5}, .features = mark});
  const std::vector<double> before = likelihoods(sparse), g = ground(sparse);
  sparse.encoding_spikes.resize(sparse.encoding_spikes.size() + 2);
  sparse.decoding_spikes.push_back({.times = {3.5}, .features = mark});
  sparse.decoding_spikes.emplace_back();
  ASSERT_TRUE(takes_the_path(sparse));
  const std::vector<double> after = likelihoods(sparse), more = ground(sparse);
  const auto bins = static_cast<std::size_t>(sparse.bins());
  for (std::size_t k = 0; k < before.size(); ++k)
    ASSERT_NEAR(after[k], before[k] + (k / bins == 3 ? log_rate_floor : 0), 2e-5) << k;
  for (std::size_t p = 0; p < bins; ++p) ASSERT_NEAR(more[p], g[p], 1e-6 * g[p]) << p;
  for (const double value : result(Unit::local, sparse)) ASSERT_TRUE(std::isfinite(value));
}

}  // namespace holdfast::clusterless_kde
