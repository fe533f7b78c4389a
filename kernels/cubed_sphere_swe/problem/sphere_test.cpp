// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/sphere.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <span>
#include <vector>

#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "testing/error_of.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Sphere, EdgesAndCornersMeetOnTheSphere) {
  EXPECT_NO_THROW(check_connectivity(8, edges(), corners()));
  EXPECT_NO_THROW(check_connectivity(49, edges(), corners()));
}

TEST(Sphere, EveryBorderIsInOneEdgeAndEveryPanelCornerInOneTriple) {
  std::set<std::pair<int, Side>> borders;
  for (const Edge& edge : edges()) {
    EXPECT_TRUE(borders.insert({edge.panel_a, edge.side_a}).second);
    EXPECT_TRUE(borders.insert({edge.panel_b, edge.side_b}).second);
  }
  EXPECT_EQ(borders.size(), 24u);
  std::set<int> points;
  for (const Triple& triple : corners())
    for (const Corner& corner : triple) EXPECT_TRUE(points.insert(corner_index(8, corner)).second);
  EXPECT_EQ(points.size(), 24u);
}

TEST(Sphere, AReversedEdgeTurnedRoundDoesNotMatchGeometry) {
  auto wrong = edges();
  wrong[0].reversed = false;
  EXPECT_THAT([&] { check_connectivity(8, wrong, corners()); },
              ThrowsMessage<Error>(HasSubstr("connectivity does not match geometry")));
}

TEST(Sphere, AnotherNumberingOfThePanelsDoesNotMatchGeometry) {
  auto wrong = edges();
  for (Edge& edge : wrong) {
    edge.panel_a = (edge.panel_a + 1) % panels;
    edge.panel_b = (edge.panel_b + 1) % panels;
  }
  EXPECT_THAT([&] { check_connectivity(8, wrong, corners()); },
              ThrowsMessage<Error>(HasSubstr("connectivity does not match geometry")));
}

// A published package joins this edge table with panels in the order +Z, +X, +Y, -X, -Y, -Z: eight
// of its twelve edges then join points that are apart.
TEST(Sphere, ThePublishedPackagesPanelOrderDoesNotMatchGeometry) {
  constexpr int ours[panels] = {0, 4, 1, 2, 3, 5};
  auto wrong = edges();
  int apart = 0;
  for (Edge& edge : wrong) {
    edge.panel_a = ours[edge.panel_a];
    edge.panel_b = ours[edge.panel_b];
    apart += std::string(error_of([&] { check_connectivity(8, std::span(&edge, 1), {}); }).what())
                 .find("connectivity does not match geometry") != std::string::npos;
  }
  EXPECT_EQ(apart, 8);
}

TEST(Sphere, AWrongCornerDoesNotMatchGeometry) {
  auto wrong = corners();
  wrong[3][2].j_is_n = false;
  EXPECT_THAT([&] { check_connectivity(8, edges(), wrong); },
              ThrowsMessage<Error>(HasSubstr("connectivity does not match geometry")));
}

TEST(Sphere, AnEdgeIsWrittenAsPanelAndLetter) {
  const Edge edge = parse_edge("3S 5S rev");
  EXPECT_EQ(edge.panel_a, 3);
  EXPECT_EQ(edge.side_b, Side::south);
  EXPECT_TRUE(edge.reversed);
  EXPECT_THAT([] { parse_edge("0X 4N"); },
              ThrowsMessage<Error>(HasSubstr("unknown edge letter 'X'")));
  EXPECT_THAT([] { parse_edge("6N 4N"); }, ThrowsMessage<Error>(HasSubstr("unknown panel '6'")));
  EXPECT_THAT([] { parse_edge("0N-4N"); }, ThrowsMessage<Error>(HasSubstr("unknown form of edge")));
}

// J Q^ij / J is the inverse of the Gram matrix a_i . a_j, and J its root determinant.
TEST(Sphere, MetricIsTheInverseGramMatrix) {
  for (const double x1 : {-0.7, -0.2, 0.1, 0.785})
    for (const double x2 : {-0.75, 0., 0.3}) {
      const double t1 = std::tan(x1), t2 = std::tan(x2), d = std::sqrt(1 + t1 * t1 + t2 * t2);
      const Metric<double> m = metric(t1, t2, d, 1.);
      for (int panel = 0; panel < panels; ++panel) {
        const auto a1 = basis1(panel, t1, t2, d), a2 = basis2(panel, t1, t2, d);
        const double g11 = dot(a1, a1), g12 = dot(a1, a2), g22 = dot(a2, a2);
        EXPECT_NEAR(m.j * m.j, g11 * g22 - g12 * g12, 1e-14);
        EXPECT_NEAR((m.jq11 * g11 + m.jq12 * g12) / m.j, 1, 1e-14);
        EXPECT_NEAR((m.jq11 * g12 + m.jq12 * g22) / m.j, 0, 1e-14);
        EXPECT_NEAR((m.jq12 * g12 + m.jq22 * g22) / m.j, 1, 1e-14);
      }
    }
}

TEST(Sphere, BasisVectorsAreTheDerivativesOfThePoint) {
  const auto place = [](int panel, double x1, double x2) {
    const double t1 = std::tan(x1), t2 = std::tan(x2);
    return point(panel, t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2));
  };
  constexpr double x1 = 0.4, x2 = -0.3, step = 1e-5;
  const double t1 = std::tan(x1), t2 = std::tan(x2), d = std::sqrt(1 + t1 * t1 + t2 * t2);
  for (int panel = 0; panel < panels; ++panel) {
    const auto after1 = place(panel, x1 + step, x2), before1 = place(panel, x1 - step, x2);
    const auto after2 = place(panel, x1, x2 + step), before2 = place(panel, x1, x2 - step);
    const auto a1 = basis1(panel, t1, t2, d), a2 = basis2(panel, t1, t2, d);
    EXPECT_NEAR((after1.x - before1.x) / (2 * step), a1.x, 1e-9);
    EXPECT_NEAR((after1.y - before1.y) / (2 * step), a1.y, 1e-9);
    EXPECT_NEAR((after1.z - before1.z) / (2 * step), a1.z, 1e-9);
    EXPECT_NEAR((after2.x - before2.x) / (2 * step), a2.x, 1e-9);
    EXPECT_NEAR((after2.y - before2.y) / (2 * step), a2.y, 1e-9);
    EXPECT_NEAR((after2.z - before2.z) / (2 * step), a2.z, 1e-9);
  }
}

TEST(Sphere, AreaConvergesAtOrderAboveThreeAndAHalf) {
  const auto error = [](int n) { return area({n}) / (4 * std::numbers::pi) - 1; };
  EXPECT_NEAR(error(8) * 4 * std::numbers::pi, -2.29e-3, 0.01e-3);
  EXPECT_NEAR(error(24) * 4 * std::numbers::pi, -3.47e-5, 0.01e-5);
  EXPECT_NEAR(error(48) * 4 * std::numbers::pi, -2.23e-6, 0.01e-6);
  EXPECT_GT(std::log2(error(24) / error(48)), 3.5);
}

TEST(Sphere, NeighbourTableTakes192BytesPerBorderPoint) {
  for (const int n : {8, 48})
    EXPECT_EQ(neighbours(n).size() * sizeof(std::int32_t), 192u * (n + 1));
}

TEST(Sphere, NeighboursAreMutual) {
  constexpr int n = 9;
  const auto table = neighbours(n);
  std::vector<std::set<int>> others(height_count(n));
  for (int panel = 0; panel < panels; ++panel)
    for (const Side s : {Side::north, Side::east, Side::south, Side::west})
      for (int k = 0; k <= n; ++k)
        for (const int slot : {0, 1})
          if (const int other = table[neighbour_row(n, panel, s, k) + slot]; other >= 0)
            others[border_index(n, panel, s, k)].insert(other);
  for (int own = 0; own < static_cast<int>(others.size()); ++own)
    for (const int other : others[own]) EXPECT_TRUE(others[other].contains(own));
  EXPECT_EQ(others[height_index(n, 0, 0, 0)].size(), 2u);
  EXPECT_EQ(others[height_index(n, 0, 0, 1)].size(), 1u);
  EXPECT_EQ(others[height_index(n, 0, 1, 1)].size(), 0u);
}

TEST(Sphere, ProjectionIsIdempotentToTheLastBit) {
  const State state = initial_state({9}, Start::random);
  const auto once = project(9, state.h);
  EXPECT_EQ(project(9, once), once);
}

TEST(Sphere, ProjectionKeepsTheMassAndIsSelfAdjoint) {
  constexpr int n = 9;
  const auto a = initial_state({n}, Start::random).h;
  auto b = a;
  std::reverse(b.begin(), b.end());
  const auto inner = [](std::vector<double> x, const std::vector<double>& y) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] *= y[k];
    return mass({n}, x);
  };
  EXPECT_NEAR(inner(project(n, a), b), inner(a, project(n, b)), 1e-14);
  EXPECT_NEAR(mass({n}, project(n, a)), mass({n}, a), 1e-15);
}

TEST(Sphere, ProjectionAndItsOffsetGiveBackTheOriginal) {
  constexpr int n = 9;
  const auto h = initial_state({n}, Start::random).h;
  const auto back = project(n, h, border_offset(n, h));
  for (std::size_t k = 0; k < h.size(); ++k) EXPECT_NEAR(back[k], h[k], 4e-16);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
