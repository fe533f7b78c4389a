// SPDX-License-Identifier: Apache-2.0
// The cubed sphere: six panels of (n+1)^2 vertices, their metric tables and how their borders meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/problem/options.hpp"

namespace holdfast::cubed_sphere_swe {

inline constexpr int panels = 6;

// Elements of one field over all panels: h at vertices, v1 or v2 on the staggered points.
constexpr std::size_t height_count(int n) {
  return std::size_t{6} * (n + 1) * (n + 1);
}
constexpr std::size_t velocity_count(int n) {
  return std::size_t{6} * n * (n + 1);
}
constexpr std::size_t state_count(int n) {
  return height_count(n) + 2 * velocity_count(n);
}

// Coordinates along either axis of a panel, radians, and their tangents.
struct Axis {
  double dx = 0;                                    // pi / (2n)
  std::vector<double> vertices = {}, centers = {};  // [n+1], [n]
  std::vector<double> tan_vertices = {}, tan_centers = {};
};
Axis axis(int n);

// The same for every panel. The optimized variants only need jq11, jq22, jq12 and inverse_j.
struct MetricTables {
  std::vector<double> jq12 = {}, j = {}, inverse_j = {};  // [n+1, n+1] at vertices
  std::vector<double> jq11 = {}, q11 = {}, j1 = {};       // [n, n+1] at v1: J Q11, Q11, J
  std::vector<double> jq22 = {}, q22 = {}, j2 = {};       // [n+1, n] at v2: J Q22, Q22, J
};
MetricTables metric_tables(int n, MetricSign q12);
constexpr double q12_sign(MetricSign q12) {
  return q12 == MetricSign::correct ? 1 : -1;
}

// Borders: east is i = n, west is i = 0 (both run over k = j), north is j = n, south is j = 0 (over
// k = i).
enum class Side { north, east, south, west };
Side side(char letter);  // 'N', 'E', 'S', 'W'; Error{bad_input} otherwise
constexpr bool normal_is_x1(Side s) {
  return s == Side::east || s == Side::west;
}
constexpr double outward(Side s) {
  return s == Side::east || s == Side::north ? 1 : -1;
}  // sigma

struct Edge {
  int panel_a = 0;
  Side side_a = Side::north;
  int panel_b = 0;
  Side side_b = Side::north;
  bool reversed = false;  // A's point k meets B's n - k, otherwise k meets k
};
// "0N 1N rev" or "0E 4N".
Edge parse_edge(std::string_view line);
// The 12 edges, side A first, in the order in which the reference applies them.
const std::array<Edge, 12>& edges();

struct Corner {
  int panel = 0;
  bool i_is_n = false, j_is_n = false;
};
// The 8 corners, panels ascending in each.
using Triple = std::array<Corner, 3>;
const std::array<Triple, 8>& corners();

// Linear index into h [6, n+1, n+1].
constexpr int height_index(int n, int panel, int i, int j) {
  return (panel * (n + 1) + i) * (n + 1) + j;
}
int border_index(int n, int panel, Side side, int k);
int corner_index(int n, Corner corner);

// Throws Error{bad_input} unless both sides of every edge, and all three copies of every corner,
// are the same points of the sphere to 1e-13. By identity 1 of the README no conservation test can
// detect a wrong table.
void check_connectivity(int n, std::span<const Edge> edge_list,
                        std::span<const Triple> corner_list);

// Locations of the other copies of a border point: [6 panels][4 sides: N, E, S, W][n+1 points
// k][2], linear indices into h. The first always exists; the second is -1 except at corners (which
// appear under both their sides), where first < second. 192 (n+1) bytes. projected() of
// formulas.hpp reads one row.
std::vector<std::int32_t> neighbours(int n);
constexpr std::size_t neighbour_row(int n, int panel, Side s, int k) {
  return 2 * ((std::size_t(panel) * 4 + static_cast<std::size_t>(s)) * (n + 1) + k);
}

// A h: every edge point becomes the mean of its two copies, every corner that of its three. h: [6,
// n+1, n+1]. `offset`, if given, is added at the border.
std::vector<double> project(int n, std::span<const double> h, std::span<const double> offset = {});

// h - A h at the border, [6][4][n+1] like the neighbour table. Tendencies never touch it, so a
// variant that keeps h one-sided ends with project(n, h, offset of the start). Zero for a
// continuous h.
std::vector<double> border_offset(int n, std::span<const double> h);

}  // namespace holdfast::cubed_sphere_swe
