// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "clusterless_kde/data/data.hpp"

namespace holdfast::clusterless_kde {
namespace {

Shape track(double length, double sigma = 3.5355339059327378) {
  return {.dimensions = 1, .extent = {0, length}, .position_bandwidth = {sigma}};
}

// Largest |delta| of kp(u, g) = C_q sum_q psi(u - q) psi(g - q) (1 + delta) over a track.
double largest_error(const Shape& shape, const Nodes& nodes) {
  const double sigma = shape.position_bandwidth[0];
  const double length = (shape.extent[1] - shape.extent[0]) / sigma;
  double error = 0;
  for (int i = 0; 0.77 * i <= length; ++i)
    for (int j = 0; 0.53 * j <= length; ++j) {
      const double u = shape.extent[0] + 0.77 * sigma * i, g = shape.extent[0] + 0.53 * sigma * j;
      const double z = (u - g) / sigma;
      if (z * z / 2 > 690) continue;  // the kernel itself underflows in double
      double sum = 0;
      for (int q = 0; q < nodes.count; ++q) {
        const double a = (u - nodes.at(q)) / sigma, b = (g - nodes.at(q)) / sigma;
        sum += nodes.weight * std::exp(-a * a - b * b);
      }
      error = std::max(error, std::abs(sum / std::exp(-z * z / 2) - 1));
    }
  return error;
}

TEST(Nodes, CountsAreThoseOfTheTracks) {
  EXPECT_EQ(nodes(track(100), Precision::f32).count, 64);
  EXPECT_EQ(nodes(track(200), Precision::f32).count, 112);
  EXPECT_EQ(nodes(track(350), Precision::f32).count, 192);
  EXPECT_EQ(nodes(track(100), Precision::f64).count, 96);
}

TEST(Nodes, ReachBeyondTheTrackByTheirMargin) {
  const Nodes f32 = nodes(track(100), Precision::f32);
  EXPECT_NEAR(f32.first, -2.75 * std::sqrt(12.5), 1e-12);
  EXPECT_NEAR(f32.at(f32.count - 1), 100 + 2.75 * std::sqrt(12.5), 1e-11);
  const Nodes f64 = nodes(track(100), Precision::f64);
  EXPECT_NEAR(f64.first, -3.5 * std::sqrt(12.5), 1e-12);
}

TEST(Nodes, ErrorStaysBelowTheBoundAlsoFarFromThePlace) {
  for (const Precision precision : {Precision::f32, Precision::f64})
    for (const double length : {40., 100., 200.}) {
      const Shape shape = track(length);
      const Nodes found = nodes(shape, precision);
      const double z = std::numbers::pi * shape.position_bandwidth[0] / found.spacing;
      // At a track's ends the tail beyond the margin adds to the bound.
      const double tail = precision == Precision::f32 ? 3e-7 : 1e-11;
      EXPECT_LE(largest_error(shape, found), 2 * std::exp(-z * z / 2) + tail) << length;
    }
}

TEST(Nodes, AreFinerInDouble) {
  EXPECT_LE(largest_error(track(100), nodes(track(100), Precision::f32)), 1e-6);
  EXPECT_LE(largest_error(track(100), nodes(track(100), Precision::f64)), 1e-10);
}

TEST(Nodes, AreFinitelyManyHoweverNarrowTheBandwidth) {
  EXPECT_EQ(nodes(track(100, 1e-300), Precision::f64).count % 16, 0);
  EXPECT_GT(nodes(track(100, 1e-300), Precision::f64).count, 1 << 29);
}

TEST(Path, TheTwoSmallestSizesAreDense) {
  for (const Size size : {Size::tiny, Size::small})
    EXPECT_EQ(path(shape(make_input({.size = size})), Precision::f32), Path::dense);
}

TEST(Path, TheLargerTracksGoThroughNodes) {
  for (const Size size : {Size::medium, Size::large, Size::realistic})
    EXPECT_EQ(path(shape(make_input({.size = size})), Precision::f32), Path::two_hop);
  EXPECT_EQ(path(shape(make_input({.size = Size::tet64, .scale = 16})), Precision::f32),
            Path::two_hop);
}

TEST(Path, MoreNodesThanPlacesAreDense) {
  const Shape numbers = shape(make_input({.size = Size::hpc1d, .scale = 16}));
  EXPECT_GT(nodes(numbers, Precision::f32).count, numbers.bins);
  EXPECT_EQ(path(numbers, Precision::f32), Path::dense);
}

TEST(Path, AMazeIsDense) {
  EXPECT_EQ(path(shape(make_input({.size = Size::hpc2d, .scale = 64})), Precision::f32),
            Path::dense);
}

}  // namespace
}  // namespace holdfast::clusterless_kde
