// SPDX-License-Identifier: Apache-2.0
// The penalties of all borders at once. Of the optimized host variant alone.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "cubed_sphere_swe/host/host_shared.hpp"
#include "cubed_sphere_swe/problem/component_inputs.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

inline constexpr std::array sides = {Side::north, Side::east, Side::south, Side::west};

// All 24 (n+1) border points at once: first every side's own flux and local flux, then each panel's
// additions, so that one thread adds both of a corner. F* follows identity 3, in each side's own
// frame: (f - ss f_other) / 2.
template <class P>
class Penalty final : public Shared {
 public:
  using T = P::Value;
  Penalty(Backend& backend, const Problem& problem)
      : Penalty(backend, problem, component_inputs(problem.n, problem.options.q12, problem.start)) {
  }

  void start_again(int) override { put(start_, divergence_); }
  std::vector<double> result() override {
    return {divergence_.data(), divergence_.data() + divergence_.size()};
  }

 private:
  Penalty(Backend& backend, const Problem& problem, const ComponentInputs& inputs)
      : Shared(problem, 1, 2, 0),
        u1_(backend, inputs.u1, "inputs"),
        u2_(backend, inputs.u2, "inputs"),
        v1_(backend, problem.start.v1, "inputs"),
        v2_(backend, problem.start.v2, "inputs"),
        divergence_(backend, inputs.divergence, "result"),
        lines_(backend, sides_of_all * lines_per_side * row_pitch<T>(n_), "intermediates"),
        borders_(backend, sides_of_all * row_pitch<T>(n_), "scratch"),
        metric_(backend, border_metric(q12_sign(problem.options.q12)), "metric"),
        pcv_(to_vertices<P>(Operator::pcv, operators.pcv, n_)),
        strength_(static_cast<T>(penalty / axis(n_).dx)),
        start_(inputs.divergence) {
    for (const Edge& edge : edges()) {
      partner_[edge.panel_a][index(edge.side_a)] = {edge.panel_b, edge.side_b, edge.reversed};
      partner_[edge.panel_b][index(edge.side_b)] = {edge.panel_a, edge.side_a, edge.reversed};
    }
  }

  struct Partner {
    int panel = 0;
    Side side = Side::north;
    bool reversed = false;
  };
  static constexpr std::size_t sides_of_all = panels * sides.size();
  static constexpr int lines_per_side = 3;  // own flux, local flux, tangential velocity
  static std::size_t index(Side side) { return static_cast<std::size_t>(side); }

  T* line(int panel, Side side, int which) const {
    const std::size_t row = (panel * sides.size() + index(side)) * lines_per_side + which;
    return lines_.data() + row * row_pitch<T>(n_) + guard<T>;
  }
  // The border row of the tangential velocity, which is read beyond its ends.
  T* border_row(int panel, Side side) const {
    return borders_.data() + (panel * sides.size() + index(side)) * row_pitch<T>(n_) + guard<T>;
  }

  // J Q^nn and J Q^nt along each side: [4 sides][2][n+1]
  std::vector<double> border_metric(double q12_sign) const {
    const Axis grid = axis(n_);
    std::vector<double> all;
    for (const Side side : sides)
      for (const int which : {0, 1})
        for (const double along : grid.tan_vertices) {
          const double end = grid.tan_vertices[outward(side) > 0 ? n_ : 0];
          const double d = std::sqrt(1 + end * end + along * along);
          const auto m = normal_is_x1(side) ? metric(end, along, d, q12_sign)
                                            : metric(along, end, d, q12_sign);
          all.push_back(which == 1 ? m.jq12 : normal_is_x1(side) ? m.jq11 : m.jq22);
        }
    return all;
  }

  void do_part(int phase, int panel, int, int) override {
    const FlushToZero<T> flush;
    for (const Side side : sides)
      if (phase == 0)
        gather(panel, side);
      else
        add(panel, side);
  }

  // The border value of a field defined at centres along the normal: u1, v1 [n, n+1] or u2, v2
  // [n+1, n].
  T extrapolated(const T* field, int panel, Side side, int k) const {
    const int step = normal_is_x1(side) ? n_ + 1 : 1;
    const std::size_t line_of_k = normal_is_x1(side) ? k : static_cast<std::size_t>(k) * n_;
    const T* first = field + RowOf{n_, n_ + 1}(panel, 0) + line_of_k;
    if (outward(side) < 0) return extrapolate(first[0], first[step], first[2 * step]);
    first += static_cast<std::size_t>(n_ - 1) * step;
    return extrapolate(first[0], first[-step], first[-2 * step]);
  }

  void gather(int panel, Side side) {
    const bool x1 = normal_is_x1(side);
    T *own = line(panel, side, 0), *local = line(panel, side, 1), *along = line(panel, side, 2),
      *border = border_row(panel, side);
    const int end = outward(side) > 0 ? n_ : 0;
    for (int m = 0; m < n_; ++m)
      border[m] = x1 ? v2_.data()[RowOf{n_ + 1, n_}(panel, end) + m]
                     : v1_.data()[RowOf{n_, n_ + 1}(panel, m) + end];
    for_columns<P>(n_ + 1, [&](int k, auto part) {
      P::store(along + k, apply<part.value>(pcv_, border + k));
    });
    const T* jq_normal = metric_.data() + index(side) * 2 * (n_ + 1);
    const T* jq_along = jq_normal + n_ + 1;
    const T *u = x1 ? u1_.data() : u2_.data(), *v = x1 ? v1_.data() : v2_.data();
    for (int k = 0; k <= n_; ++k) {
      own[k] = extrapolated(u, panel, side, k);
      local[k] = jq_normal[k] * extrapolated(v, panel, side, k) + jq_along[k] * along[k];
    }
  }

  void add(int panel, Side side) {
    const auto [other_panel, other_side, reversed] = partner_[panel][index(side)];
    const T *own = line(panel, side, 0), *local = line(panel, side, 1),
            *other = line(other_panel, other_side, 1);
    const auto sigma = static_cast<T>(outward(side)),
               both = static_cast<T>(outward(side) * outward(other_side));
    for (int k = 0; k <= n_; ++k) {
      const T star = (local[k] - both * other[reversed ? n_ - k : k]) / 2;
      divergence_.data()[border_index(n_, panel, side, k)] -= sigma * strength_ * (own[k] - star);
    }
  }

  Field<T> u1_, u2_, v1_, v2_, divergence_;
  Buffer<T> lines_;
  Field<T> borders_, metric_;
  ToVertices<P> pcv_;
  T strength_;
  std::vector<double> start_;  // the sum to which penalties are added
  std::array<std::array<Partner, 4>, panels> partner_ = {};
};

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
