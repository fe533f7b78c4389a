// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/sphere.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/base/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

std::vector<double> tangents(const std::vector<double>& angles) {
  std::vector<double> result(angles.size());
  std::transform(angles.begin(), angles.end(), result.begin(),
                 [](double x) { return std::tan(x); });
  return result;
}

Metric<double> metric_at(double t1, double t2, double sign) {
  return metric(t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2), sign);
}

Vector<double> border_point(const Axis& grid, int n, int panel, Side s, int k) {
  const double end = grid.tan_vertices[outward(s) > 0 ? n : 0], along = grid.tan_vertices[k];
  const double t1 = normal_is_x1(s) ? end : along, t2 = normal_is_x1(s) ? along : end;
  return point(panel, t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2));
}

double distance(Vector<double> a, Vector<double> b) {
  return std::max({std::abs(a.x - b.x), std::abs(a.y - b.y), std::abs(a.z - b.z)});
}

// visit(index into h, row of the neighbour table); a corner is visited from both its sides.
template <class Function>
void for_each_border_point(int n, Function visit) {
  for (int panel = 0; panel < panels; ++panel)
    for (const Side s : {Side::north, Side::east, Side::south, Side::west})
      for (int k = 0; k <= n; ++k)
        visit(border_index(n, panel, s, k), neighbour_row(n, panel, s, k));
}

char letter(Side s) {
  return "NESW"[static_cast<int>(s)];
}

constexpr double same_point = 1e-13;

}  // namespace

Axis axis(int n) {
  Axis grid;
  grid.dx = std::numbers::pi / (2 * n);
  for (int i = 0; i <= n; ++i) grid.vertices.push_back(i * grid.dx - std::numbers::pi / 4);
  grid.vertices[n] = std::numbers::pi / 4;
  for (int i = 0; i < n; ++i) grid.centers.push_back((i + 0.5) * grid.dx - std::numbers::pi / 4);
  grid.tan_vertices = tangents(grid.vertices);
  grid.tan_centers = tangents(grid.centers);
  return grid;
}

MetricTables metric_tables(int n, MetricSign q12) {
  const Axis grid = axis(n);
  const double sign = q12_sign(q12);
  MetricTables all;
  for (const double t1 : grid.tan_vertices)
    for (const double t2 : grid.tan_vertices) {
      const Metric<double> m = metric_at(t1, t2, sign);
      all.jq12.push_back(m.jq12);
      all.j.push_back(m.j);
      all.inverse_j.push_back(1 / m.j);
    }
  for (const double t1 : grid.tan_centers)
    for (const double t2 : grid.tan_vertices) {
      const Metric<double> m = metric_at(t1, t2, sign);
      all.jq11.push_back(m.jq11);
      all.q11.push_back(m.jq11 / m.j);
      all.j1.push_back(m.j);
    }
  for (const double t1 : grid.tan_vertices)
    for (const double t2 : grid.tan_centers) {
      const Metric<double> m = metric_at(t1, t2, sign);
      all.jq22.push_back(m.jq22);
      all.q22.push_back(m.jq22 / m.j);
      all.j2.push_back(m.j);
    }
  return all;
}

Side side(char letter) {
  switch (letter) {
    case 'N':
      return Side::north;
    case 'E':
      return Side::east;
    case 'S':
      return Side::south;
    case 'W':
      return Side::west;
    default:
      throw Error(Fault::bad_input, text("unknown edge letter '", letter, "'; use N, E, S or W"));
  }
}

Edge parse_edge(std::string_view line) {
  const auto panel = [line](char digit) {
    if (digit < '0' || digit > '5')
      throw Error(Fault::bad_input,
                  text("unknown panel '", digit, "' in edge \"", line, "\"; use 0 to 5"));
    return digit - '0';
  };
  const bool reversed = line.ends_with(" rev");
  if (line.size() != (reversed ? 9u : 5u) || line[2] != ' ')
    throw Error(Fault::bad_input, text("unknown form of edge \"", line,
                                       "\"; write it like \"0N 1N rev\" or \"0E 4N\""));
  return {panel(line[0]), side(line[1]), panel(line[3]), side(line[4]), reversed};
}

const std::array<Edge, 12>& edges() {
  static const std::array<Edge, 12> all = {
      parse_edge("0N 1N rev"), parse_edge("0E 4N"), parse_edge("0W 2N rev"), parse_edge("0S 3N"),
      parse_edge("1E 2W"),     parse_edge("1S 5N"), parse_edge("1W 4E"),     parse_edge("2E 3W"),
      parse_edge("2S 5E rev"), parse_edge("3E 4W"), parse_edge("3S 5S rev"), parse_edge("4S 5W")};
  return all;
}

const std::array<Triple, 8>& corners() {
  static constexpr std::array<Triple, 8> all = {{
      {{{0, false, false}, {2, true, true}, {3, false, true}}},
      {{{0, false, true}, {1, true, true}, {2, false, true}}},
      {{{0, true, false}, {3, true, true}, {4, false, true}}},
      {{{0, true, true}, {1, false, true}, {4, true, true}}},
      {{{1, false, false}, {4, true, false}, {5, false, true}}},
      {{{1, true, false}, {2, false, false}, {5, true, true}}},
      {{{2, true, false}, {3, false, false}, {5, true, false}}},
      {{{3, true, false}, {4, false, false}, {5, false, false}}},
  }};
  return all;
}

int border_index(int n, int panel, Side s, int k) {
  const int end = outward(s) > 0 ? n : 0;
  return normal_is_x1(s) ? height_index(n, panel, end, k) : height_index(n, panel, k, end);
}

int corner_index(int n, Corner corner) {
  return height_index(n, corner.panel, corner.i_is_n ? n : 0, corner.j_is_n ? n : 0);
}

void check_connectivity(int n, std::span<const Edge> edge_list,
                        std::span<const Triple> corner_list) {
  const Axis grid = axis(n);
  for (const Edge& edge : edge_list)
    for (int k = 0; k <= n; ++k) {
      const double apart =
          distance(border_point(grid, n, edge.panel_a, edge.side_a, k),
                   border_point(grid, n, edge.panel_b, edge.side_b, edge.reversed ? n - k : k));
      if (!(apart <= same_point))
        throw Error(
            Fault::bad_input,
            text("connectivity does not match geometry: point ", k, " of edge ", edge.panel_a,
                 letter(edge.side_a), " lies ", apart, " from its partner on ", edge.panel_b,
                 letter(edge.side_b), "; correct the edge table or the panels' axes"));
    }
  const auto at = [&](Corner c) {
    return border_point(grid, n, c.panel, c.i_is_n ? Side::east : Side::west, c.j_is_n ? n : 0);
  };
  for (const Triple& triple : corner_list)
    for (const Corner& corner : triple)
      if (const double apart = distance(at(triple[0]), at(corner)); !(apart <= same_point))
        throw Error(
            Fault::bad_input,
            text("connectivity does not match geometry: a corner of panel ", corner.panel, " lies ",
                 apart, " from its copy on panel ", triple[0].panel, "; correct the corner table"));
}

std::vector<std::int32_t> neighbours(int n) {
  std::vector<std::int32_t> table(static_cast<std::size_t>(panels) * 4 * (n + 1) * 2, -1);
  for (const Edge& edge : edges())
    for (int k = 0; k <= n; ++k) {
      const int other = edge.reversed ? n - k : k;
      table[neighbour_row(n, edge.panel_a, edge.side_a, k)] =
          border_index(n, edge.panel_b, edge.side_b, other);
      table[neighbour_row(n, edge.panel_b, edge.side_b, other)] =
          border_index(n, edge.panel_a, edge.side_a, k);
    }
  for (const Triple& triple : corners())
    for (int own = 0; own < 3; ++own) {
      const Corner corner = triple[own];
      const int first = corner_index(n, triple[own == 0 ? 1 : 0]),
                second = corner_index(n, triple[own == 2 ? 1 : 2]);
      for (const std::size_t row :
           {neighbour_row(n, corner.panel, corner.i_is_n ? Side::east : Side::west,
                          corner.j_is_n ? n : 0),
            neighbour_row(n, corner.panel, corner.j_is_n ? Side::north : Side::south,
                          corner.i_is_n ? n : 0)}) {
        table[row] = first;
        table[row + 1] = second;
      }
    }
  return table;
}

std::vector<double> project(int n, std::span<const double> h, std::span<const double> offset) {
  std::vector<double> result(h.begin(), h.end());
  const std::vector<std::int32_t> table = neighbours(n);
  for_each_border_point(n, [&](int own, std::size_t row) {
    result[own] = projected(h.data(), own, table[row], table[row + 1]) +
                  (offset.empty() ? 0 : offset[row / 2]);
  });
  return result;
}

std::vector<double> border_offset(int n, std::span<const double> h) {
  std::vector<double> offset(static_cast<std::size_t>(panels) * 4 * (n + 1));
  const std::vector<double> continuous = project(n, h);
  for_each_border_point(
      n, [&](int own, std::size_t row) { offset[row / 2] = h[own] - continuous[own]; });
  return offset;
}

}  // namespace holdfast::cubed_sphere_swe
