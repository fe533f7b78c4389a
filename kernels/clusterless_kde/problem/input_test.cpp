// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/input.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>

#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/problem/follower.hpp"
#include "testing/error_of.hpp"

namespace holdfast::clusterless_kde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The sentence with which the golden case is refused after `spoil`; "accepted" if it is not.
std::string refusal(const std::function<void(Input&)>& spoil) {
  Input input = golden::input();
  spoil(input);
  return refusal_of([&] { check(input); });
}

TEST(BadInput, WhatIsGoodIsAccepted) {
  EXPECT_EQ(refusal([](Input&) {}), "accepted");
}

TEST(BadInput, AGridWithoutPlacesIsRefused) {
  EXPECT_THAT(refusal([](Input& input) { input.places.clear(); }), HasSubstr("no place bins"));
}

TEST(BadInput, FewerThanTwoEdgesAreRefused) {
  EXPECT_THAT(refusal([](Input& input) { input.edges = {1}; }), HasSubstr("time edges"));
}

TEST(BadInput, EdgesThatDoNotIncreaseAreRefusedWithTheirNumber) {
  EXPECT_THAT(refusal([](Input& input) { input.edges[3] = input.edges[2]; }),
              AllOf(HasSubstr("time edges"), HasSubstr("number 3")));
}

TEST(BadInput, PositionTimesThatDoNotIncreaseAreRefusedInEitherPhase) {
  EXPECT_THAT(refusal([](Input& input) { input.encoding.times[5] = 0; }),
              AllOf(HasSubstr("position times"), HasSubstr("encoding"), HasSubstr("number 5")));
  EXPECT_THAT(refusal([](Input& input) { input.decoding.times = {0}; }),
              AllOf(HasSubstr("position times"), HasSubstr("decoding")));
}

TEST(BadInput, PositionsThatAreTooFewForTheirTimesAreRefused) {
  EXPECT_THAT(refusal([](Input& input) { input.encoding.positions.pop_back(); }),
              AllOf(HasSubstr("position times"), HasSubstr("21 times, but 20")));
}

TEST(BadInput, UnsortedDecodingSpikesAreRefusedWithElectrodeAndIndex) {
  EXPECT_THAT(refusal([](Input& input) { input.decoding_spikes[1].times[2] = 1; }),
              AllOf(HasSubstr("not sorted"), HasSubstr("electrode 1"), HasSubstr("spike 2")));
}

TEST(BadInput, UnsortedEncodingSpikesAreAccepted) {
  EXPECT_EQ(refusal([](Input& input) {
              std::swap(input.encoding_spikes[0].times[0], input.encoding_spikes[0].times[4]);
            }),
            "accepted");
}

TEST(BadInput, DecodingSpikesAtTheSameTimeAreAccepted) {
  EXPECT_EQ(refusal([](Input& input) { input.decoding_spikes[1].times[2] = 2; }), "accepted");
}

TEST(BadInput, FeatureWidthsThatDifferAreRefused) {
  EXPECT_THAT(refusal([](Input& input) { input.encoding_spikes[1].features.pop_back(); }),
              AllOf(HasSubstr("feature count"), HasSubstr("electrode 1"), HasSubstr("encoding")));
  EXPECT_THAT(refusal([](Input& input) { input.decoding_spikes[0].features.push_back(1); }),
              AllOf(HasSubstr("feature count"), HasSubstr("electrode 0"), HasSubstr("decoding")));
  EXPECT_THAT(refusal([](Input& input) { input.feature_bandwidth.pop_back(); }),
              HasSubstr("feature count"));
}

TEST(BadInput, BandwidthsThatAreNoWidthsAreRefused) {
  for (const double width : {0., -1., nan, infinity}) {
    EXPECT_THAT(refusal([=](Input& input) { input.feature_bandwidth[2] = width; }),
                AllOf(HasSubstr("bandwidth"), HasSubstr("feature"), HasSubstr("2")));
    EXPECT_THAT(refusal([=](Input& input) { input.position_bandwidth[0] = width; }),
                AllOf(HasSubstr("bandwidth"), HasSubstr("position")));
  }
}

TEST(BadInput, NumbersThatAreNotFiniteAreRefusedWithElectrodeAndIndex) {
  for (const double bad : {nan, infinity, -infinity}) {
    EXPECT_THAT(refusal([=](Input& input) { input.decoding_spikes[1].features[7] = bad; }),
                AllOf(HasSubstr("non-finite"), HasSubstr("electrode 1"), HasSubstr("decoding"),
                      HasSubstr("spike 2, feature 1")));
    EXPECT_THAT(refusal([=](Input& input) { input.encoding_spikes[0].times[4] = bad; }),
                AllOf(HasSubstr("non-finite"), HasSubstr("electrode 0"), HasSubstr("value 4")));
    EXPECT_THAT(refusal([=](Input& input) { input.encoding.positions[6] = bad; }),
                AllOf(HasSubstr("non-finite"), HasSubstr("positions"), HasSubstr("value 6")));
    EXPECT_THAT(refusal([=](Input& input) { input.edges[2] = bad; }),
                AllOf(HasSubstr("non-finite"), HasSubstr("time edges"), HasSubstr("value 2")));
    EXPECT_THAT(refusal([=](Input& input) { input.places[2] = bad; }),
                AllOf(HasSubstr("non-finite"), HasSubstr("place bins"), HasSubstr("value 2")));
  }
}

TEST(BadInput, PhasesOfDifferentElectrodesAreRefused) {
  EXPECT_THAT(refusal([](Input& input) { input.decoding_spikes.pop_back(); }),
              HasSubstr("1 electrodes"));
  EXPECT_THAT(refusal([](Input& input) {
                input.decoding_spikes.clear();
                input.encoding_spikes.clear();
              }),
              HasSubstr("no electrodes"));
}

TEST(BadInput, WidthsAndCoordinatesAreAsManyAsThereAreDimensions) {
  EXPECT_THAT(refusal([](Input& input) { input.position_bandwidth.push_back(1); }),
              HasSubstr("position bandwidth: 2 values for 1 dimensions"));
  EXPECT_THAT(refusal([](Input& input) {
                input.dimensions = 2;
                input.places = {1, 2, 3};
              }),
              HasSubstr("2 coordinates each"));
}

TEST(BadInput, SpikesWithoutFeaturesAreRefused) {
  EXPECT_THAT(refusal([](Input& input) {
                input.features = 0;
                input.feature_bandwidth.clear();
              }),
              HasSubstr("feature count 0"));
}

TEST(BadInput, PlacesOfThreeDimensionsAreRefused) {
  EXPECT_THAT(refusal([](Input& input) { input.dimensions = 3; }), HasSubstr("3 dimensions"));
}

double at(double t) {
  double x = 0;
  interpolate({.times = {0, 1, 3}, .positions = {10, 20, 0}}, 1, t, {&x, 1});
  return x;
}

TEST(Interpolate, IsLinearBetweenSamples) {
  EXPECT_DOUBLE_EQ(at(0.25), 12.5);
  EXPECT_DOUBLE_EQ(at(2), 10);
}

TEST(Interpolate, MeetsTheSamples) {
  EXPECT_EQ(at(0), 10);
  EXPECT_EQ(at(1), 20);
  EXPECT_EQ(at(3), 0);
}

TEST(Interpolate, GoesOnAlongTheEndSegments) {
  EXPECT_DOUBLE_EQ(at(-1), 0);
  EXPECT_DOUBLE_EQ(at(4), -10);
}

TEST(Interpolate, TreatsBothCoordinatesAlike) {
  double x[2] = {};
  interpolate({.times = {0, 2}, .positions = {0, 100, 4, 0}}, 2, 0.5, x);
  EXPECT_DOUBLE_EQ(x[0], 1);
  EXPECT_DOUBLE_EQ(x[1], 75);
}

// Forwards by one step and by many, backwards, and beyond either end.
TEST(Follower, IsWhereInterpolationFindsTheAnimalWheneverItIsAsked) {
  Trajectory trajectory;
  for (int k = 0; k < 40; ++k) {
    trajectory.times.push_back(k + 0.01 * k * k);
    trajectory.positions.insert(trajectory.positions.end(), {k % 7 - 3., 0.5 * (k % 5)});
  }
  const double last = trajectory.times.back();
  Follower animal(trajectory, 2);
  for (const double t : {0.5, 1.7, 30.2, 3.3, 2.9, last, 0., last + 2, last - 0.1, -1., 12.}) {
    double expected[2] = {};
    interpolate(trajectory, 2, t, expected);
    animal.go_to(t);
    for (const int axis : {0, 1}) EXPECT_NEAR(animal.at(axis), expected[axis], 1e-12) << t;
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
