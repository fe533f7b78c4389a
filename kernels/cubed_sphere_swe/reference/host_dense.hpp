// SPDX-License-Identifier: Apache-2.0
// The published formulation, part by part: loops over fields, dense operators, one edge at a time.
// Used only by the host reference, compiled for each instruction set in a namespace of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cubed_sphere_swe/problem/host_values.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// Smallest field, in elements, that threads share; below it, waking a thread costs more than it
// saves.
inline constexpr std::size_t worth_sharing = 1 << 15;

// body(k) for every element of a field of T.
template <class T, class Body>
void for_each(std::size_t count, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (count >= worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for simd schedule(static) nowait
    for (std::size_t k = 0; k < count; ++k) body(k);
  }
}

// body(k, k modulo one panel) for every element of a field of T with `per_panel` elements.
template <class T, class Body>
void for_each_on_panels(int per_panel, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (std::size_t{panels} * per_panel >= \
                                                            worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for schedule(static) nowait
    for (int panel = 0; panel < panels; ++panel) {
      const int first = panel * per_panel;
#pragma omp simd
      for (int k = 0; k < per_panel; ++k) body(first + k, k);
    }
  }
}

// Matrix products of T; matrices are not transposed unless stated.
template <class T>
class Products {
 public:
  explicit Products(Backend& backend) : blas_(backend) {}
  void operator()(Gemm problem, const T* a, const T* b, T* c) {
    problem.precision = precision_of<T>;
    blas_(problem, a, b, c);
  }

 private:
  Blas blas_;
};

// An operator as a matrix [rows, depth]; one of them is n, the other n+1.
template <class T>
class DenseOperator {
 public:
  DenseOperator(Backend& backend, Operator which, int n)
      : onto_vertices_(onto_vertices(which)),
        rows_(onto_vertices_ ? n + 1 : n),
        depth_(onto_vertices_ ? n : n + 1),
        lines_(n + 1),
        matrix_(table<T>(backend, dense(which, n), "operators")) {}

  // y = A x along x1, per panel: x [6, depth, n+1], y [6, rows, n+1].
  void along_x1(Products<T>& products, const T* x, T* y, double alpha = 1, double beta = 0) const {
    products({.m = rows_,
              .n = lines_,
              .k = depth_,
              .lda = depth_,
              .ldb = lines_,
              .ldc = lines_,
              .stride_b = std::int64_t{depth_} * lines_,
              .stride_c = std::int64_t{rows_} * lines_,
              .batch = panels,
              .alpha = alpha,
              .beta = beta},
             matrix_.data(), x, y);
  }
  // y = x A^T, the same along x2: x [6, n+1, depth], y [6, n+1, rows].
  void along_x2(Products<T>& products, const T* x, T* y, double alpha = 1, double beta = 0) const {
    products({.m = lines_,
              .n = rows_,
              .k = depth_,
              .transpose_b = true,
              .lda = depth_,
              .ldb = depth_,
              .ldc = rows_,
              .stride_a = std::int64_t{lines_} * depth_,
              .stride_c = std::int64_t{lines_} * rows_,
              .batch = panels,
              .alpha = alpha,
              .beta = beta},
             x, matrix_.data(), y);
  }
  // y = A x for one line whose elements are `step` apart.
  void to_line(Products<T>& products, const T* x, int step, T* y) const {
    products({.m = rows_, .n = 1, .k = depth_, .lda = depth_, .ldb = step, .ldc = 1},
             matrix_.data(), x, y);
  }

 private:
  bool onto_vertices_;
  int rows_, depth_, lines_;
  Buffer<T> matrix_;
};

inline int border_a(int n, const Edge& edge, int k) {
  return border_index(n, edge.panel_a, edge.side_a, k);
}
inline int border_b(int n, const Edge& edge, int k) {
  return border_index(n, edge.panel_b, edge.side_b, edge.reversed ? n - k : k);
}

// hp = A h: a copy, then one write per edge side and per copy of a corner, all from the unmodified
// h.
template <class T>
void project_one_by_one(int n, const T* h, T* hp) {
  const FlushToZero<T> flush;
  std::copy_n(h, height_count(n), hp);
  for (const Edge& edge : edges()) {
    for (int k = 0; k <= n; ++k)
      hp[border_a(n, edge, k)] = (h[border_a(n, edge, k)] + h[border_b(n, edge, k)]) / 2;
    for (int k = 0; k <= n; ++k)
      hp[border_b(n, edge, k)] = (h[border_a(n, edge, k)] + h[border_b(n, edge, k)]) / 2;
  }
  for (const Triple& triple : corners())
    for (const Corner& corner : triple)
      hp[corner_index(n, corner)] =
          corner_mean(h[corner_index(n, triple[0])], h[corner_index(n, triple[1])],
                      h[corner_index(n, triple[2])]);
}

// Contravariant velocity and mass flux from covariant velocity.
template <class T>
class RaiseIndex {
 public:
  RaiseIndex(Backend& backend, int n, const MetricTables& tables)
      : n_(n),
        jq12_(table<T>(backend, tables.jq12, "metric")),
        q11_(table<T>(backend, tables.q11, "metric")),
        j1_(table<T>(backend, tables.j1, "metric")),
        q22_(table<T>(backend, tables.q22, "metric")),
        j2_(table<T>(backend, tables.j2, "metric")),
        cross_(backend, height_count(n), "work"),
        interpolated_(backend, velocity_count(n), "work") {}

  void operator()(Products<T>& products, const DenseOperator<T>& pcv, const DenseOperator<T>& pvc,
                  const T* v1, const T* v2, T* up1, T* up2) const {
    pcv.along_x2(products, v2, cross_.data());
    weigh_cross();
    pvc.along_x1(products, cross_.data(), interpolated_.data());
    combine(q11_.data(), j1_.data(), v1, up1);
    pcv.along_x1(products, v1, cross_.data());
    weigh_cross();
    pvc.along_x2(products, cross_.data(), interpolated_.data());
    combine(q22_.data(), j2_.data(), v2, up2);
  }

  // u = J v^i
  void flux(const T* up1, const T* up2, T* u1, T* u2) const {
    for_each_on_panels<T>(n_ * (n_ + 1),
                          [=, j = j1_.data()](int k, int m) { u1[k] = j[m] * up1[k]; });
    for_each_on_panels<T>(n_ * (n_ + 1),
                          [=, j = j2_.data()](int k, int m) { u2[k] = j[m] * up2[k]; });
  }

 private:
  void weigh_cross() const {
    for_each_on_panels<T>((n_ + 1) * (n_ + 1), [w = cross_.data(), jq12 = jq12_.data()](
                                                   int k, int m) { w[k] *= jq12[m]; });
  }
  void combine(const T* q, const T* j, const T* v, T* up) const {
    for_each_on_panels<T>(n_ * (n_ + 1), [=, w = interpolated_.data()](int k, int m) {
      up[k] = q[m] * v[k] + w[k] / j[m];
    });
  }

  int n_;
  Buffer<T> jq12_, q11_, j1_, q22_, j2_;
  Buffer<T> cross_, interpolated_;
};

// Inputs of one edge's penalty.
template <class T>
struct FluxAndVelocity {
  const T *u1 = nullptr, *u2 = nullptr, *v1 = nullptr, *v2 = nullptr;
};

// The penalties, edge by edge: the Cartesian average F* of both sides, then two additions to the
// divergence.
template <class T>
class Penalties {
 public:
  Penalties(Backend& backend, int n, MetricSign q12)
      : n_(n),
        q12_sign_(static_cast<T>(q12_sign(q12))),
        grid_(axis(n)),
        first_(table<T>(backend, extrapolation(n, false), "operators")),
        last_(table<T>(backend, extrapolation(n, true), "operators")),
        line_(backend, 7 * (static_cast<std::size_t>(n) + 1), "work") {}

  void operator()(Products<T>& products, const DenseOperator<T>& pcv, const Edge& edge,
                  const FluxAndVelocity<T>& fields, T* div) const {
    const BorderLines a = {line(0), line(1), line(2)}, b = {line(3), line(4), line(5)};
    gather(products, pcv, edge.panel_a, edge.side_a, fields, a);
    gather(products, pcv, edge.panel_b, edge.side_b, fields, b);
    const FlushToZero<T> flush;
    T* star = line(6);
    const auto aligned = [&](int k) { return edge.reversed ? n_ - k : k; };
    for (int k = 0; k <= n_; ++k) {
      const auto [t1, t2, d] = tangents(edge.side_a, k);
      star[k] = consensus_flux(edge.panel_a, normal_is_x1(edge.side_a), t1, t2, d, q12_sign_,
                               border_velocity(edge.panel_a, edge.side_a, k, a),
                               border_velocity(edge.panel_b, edge.side_b, aligned(k), b));
    }
    const auto sigma_a = static_cast<T>(outward(edge.side_a)),
               sigma_b = static_cast<T>(outward(edge.side_b)),
               strength = static_cast<T>(penalty / grid_.dx);
    for (int k = 0; k <= n_; ++k)
      div[border_a(n_, edge, k)] -= sigma_a * strength * (a.flux[k] - star[k]);
    for (int k = 0; k <= n_; ++k)
      div[border_b(n_, edge, k)] -=
          sigma_b * strength * (b.flux[aligned(k)] + sigma_a * sigma_b * star[k]);
  }

  const T* consensus() const { return line(6); }  // F* of the latest edge, along its side A: [n+1]

 private:
  struct BorderLines {
    T *flux = nullptr, *normal = nullptr, *tangential = nullptr;  // [n+1]
  };
  T* line(int k) const { return line_.data() + static_cast<std::size_t>(k) * (n_ + 1); }

  // to [n+1]: the border value of a field defined at centres along the border's normal.
  void extrapolate_to(Products<T>& products, Side side, const T* panel, T* to) const {
    const Buffer<T>& row = outward(side) > 0 ? last_ : first_;
    if (normal_is_x1(side))  // panel: [n, n+1]
      products({.m = 1, .n = n_ + 1, .k = n_, .lda = n_, .ldb = n_ + 1, .ldc = n_ + 1}, row.data(),
               panel, to);
    else  // panel: [n+1, n]
      products({.m = n_ + 1, .n = 1, .k = n_, .lda = n_, .ldb = 1, .ldc = 1}, panel, row.data(),
               to);
  }

  // Flux and both velocities on one side of a panel; the tangential one is Pcv times its border
  // row, row 0 or n of v2 [n+1, n] or column 0 or n of v1 [n, n+1].
  void gather(Products<T>& products, const DenseOperator<T>& pcv, int panel, Side side,
              const FluxAndVelocity<T>& fields, BorderLines lines) const {
    const std::size_t offset = static_cast<std::size_t>(panel) * n_ * (n_ + 1);
    const T *v1 = fields.v1 + offset, *v2 = fields.v2 + offset;
    const bool x1 = normal_is_x1(side), end = outward(side) > 0;
    extrapolate_to(products, side, (x1 ? fields.u1 : fields.u2) + offset, lines.flux);
    extrapolate_to(products, side, x1 ? v1 : v2, lines.normal);
    if (x1)
      pcv.to_line(products, v2 + (end ? n_ * n_ : 0), 1, lines.tangential);
    else
      pcv.to_line(products, v1 + (end ? n_ : 0), n_ + 1, lines.tangential);
  }

  // The velocity at the border `side` of a panel, as a Cartesian vector.
  Vector<T> border_velocity(int panel, Side side, int k, BorderLines lines) const {
    const auto [t1, t2, d] = tangents(side, k);
    const T v1 = normal_is_x1(side) ? lines.normal[k] : lines.tangential[k];
    const T v2 = normal_is_x1(side) ? lines.tangential[k] : lines.normal[k];
    return velocity(panel, t1, t2, d, q12_sign_, v1, v2);
  }
  std::array<T, 3> tangents(Side side, int k) const {
    const double end = grid_.tan_vertices[outward(side) > 0 ? n_ : 0],
                 along = grid_.tan_vertices[k];
    const auto t1 = static_cast<T>(normal_is_x1(side) ? end : along),
               t2 = static_cast<T>(normal_is_x1(side) ? along : end);
    return {t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2)};
  }

  int n_;
  T q12_sign_;
  Axis grid_;
  Buffer<T> first_, last_;
  Buffer<T> line_;  // [7, n+1]: both sides of an edge, and F*
};

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
