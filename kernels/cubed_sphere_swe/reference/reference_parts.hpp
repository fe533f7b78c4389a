// SPDX-License-Identifier: Apache-2.0
// Private to the device reference: the parts of a tendency, with the tables that they need and the
// launches in their order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/problem/cuda_parts.hpp"
#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/reference/reference_kernels.hpp"
#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe {

inline LaunchShape one_thread_each(std::size_t count) {
  constexpr unsigned threads = 128;
  return {.grid = {blocks(count, threads)}, .block = {threads}};
}
inline LaunchShape contraction(int count) {
  return {.grid = {blocks(static_cast<std::size_t>(count), contraction_points)},
          .block = {contraction_points, contraction_parts}};
}

// The points of one side of a panel, in h [6, n+1, n+1].
struct Border {
  int first = 0, stride = 0;
};
inline Border border(int n, int panel, Side side, bool reversed = false) {
  const int at_0 = border_index(n, panel, side, 0), at_n = border_index(n, panel, side, n);
  const int stride = (at_n - at_0) / n;
  return reversed ? Border{at_n, -stride} : Border{at_0, stride};
}

// Device addresses of h, v1, v2 in a row: a state or a tendency.
template <class T>
struct Fields {
  Fields(const Buffer<T>& row, int n)
      : h(row.data()), v1(h + height_count(n)), v2(v1 + velocity_count(n)) {}
  T *h, *v1, *v2;
};

// Related arrays, uploaded together.
template <class T>
class Tables {
 public:
  Tables(Backend& backend, std::initializer_list<std::vector<double>> tables, std::string site)
      : row_(backend, joined(tables), std::move(site)) {
    std::size_t begin = 0;
    for (const auto& table : tables) {
      addresses_.push_back(row_.data() + begin);
      begin += table.size();
    }
  }
  const T* operator[](std::size_t i) const { return addresses_[i]; }

 private:
  static std::vector<T> joined(std::initializer_list<std::vector<double>> tables) {
    std::vector<T> row;
    for (const auto& table : tables) row.insert(row.end(), table.begin(), table.end());
    return row;
  }

  Buffer<T> row_;
  std::vector<const T*> addresses_ = {};
};

// sqrt(1 + t1^2 + t2^2) at vertices, [n+1, n+1].
inline std::vector<double> distances(int n) {
  const Axis grid = axis(n);
  std::vector<double> all;
  for (const double t1 : grid.tan_vertices)
    for (const double t2 : grid.tan_vertices) all.push_back(std::sqrt(1 + t1 * t1 + t2 * t2));
  return all;
}

// Required tables and work arrays: a single part allocates only what it uses.
struct Needs {
  bool dcv = true, dvc = true, pcv = true, pvc = true;
  bool contravariant = true, sat = true, j = true;
  bool products = true;  // of matrices and whole fields
};
Needs needs(const Component& part);

template <class T>
class ReferenceParts {
 public:
  ReferenceParts(Backend& backend, const Kernels<T>& kernels, int n, const Options& options,
                 const Needs& needs)
      : ReferenceParts(backend, kernels, n, options, needs, metric_tables(n, options.q12)) {}

  const T* j() const { return metric_[0]; }  // [n+1, n+1]

  // out [6, rows, columns] = one operator along x1 or x2 of a field over all panels.
  void apply(Operator op, int direction, const T* field, T* out) {
    const bool vertices = onto_vertices(op);
    const int rows = vertices ? m_ : n_, terms = vertices ? n_ : m_;
    if (direction == 1)
      along_x1(matrix(op), field, out, rows, terms, m_);
    else
      along_x2(matrix(op), field, out, m_, terms, rows);
  }

  // to = A from. One launch per side of an edge, then one per copy of a corner; all read `from`.
  void project(const T* from, T* to) {
    const Scope scope("project");
    device_->copy(to, from, static_cast<std::size_t>(vertices_) * sizeof(T));
    for (const Edge& edge : edges()) {
      project_side(from, to, border(n_, edge.panel_a, edge.side_a),
                   border(n_, edge.panel_b, edge.side_b, edge.reversed));
      project_side(from, to, border(n_, edge.panel_b, edge.side_b),
                   border(n_, edge.panel_a, edge.side_a, edge.reversed));
    }
    for (const Triple& corner : corners())
      for (const Corner& copy : corner)
        kernels_->project_corner({}, from, to, corner_index(n_, copy), corner_index(n_, corner[0]),
                                 corner_index(n_, corner[1]), corner_index(n_, corner[2]));
  }

  // dv1, dv2 = -g Dvc h; without dv2 the first alone.
  void gradient(const T* h, T* dv1, T* dv2) {
    const Scope scope("gradient");
    along_x1(matrix(Operator::dvc), h, dv1, n_, m_, m_, -gravity);
    if (dv2) along_x2(matrix(Operator::dvc), h, dv2, m_, m_, n_, -gravity);
  }

  void contravariant(const T* v1, const T* v2, T* raised1, T* raised2) {
    const Scope scope("contravariant");
    const T *jq12 = metric_[1], *q11 = metric_[3], *j1 = metric_[4], *q22 = metric_[5],
            *j2 = metric_[6];
    const T *pcv = matrix(Operator::pcv), *pvc = matrix(Operator::pvc);
    along_x2(pcv, v2, w2_.data(), m_, n_, m_);
    kernels_->multiply(one_thread_each(vertices_), jq12, w2_.data(), m_ * m_, vertices_);
    along_x1(pvc, w2_.data(), interpolated_.data(), n_, m_, m_);
    kernels_->contravariant(one_thread_each(centers_), v1, interpolated_.data(), q11, j1, raised1,
                            n_ * m_, centers_);
    along_x1(pcv, v1, w1_.data(), m_, n_, m_);
    kernels_->multiply(one_thread_each(vertices_), jq12, w1_.data(), m_ * m_, vertices_);
    along_x2(pvc, w1_.data(), interpolated_.data(), m_, m_, n_);
    kernels_->contravariant(one_thread_each(centers_), v2, interpolated_.data(), q22, j2, raised2,
                            n_ * m_, centers_);
  }

  // u = J v.
  void mass_flux(const T* raised1, const T* raised2, T* u1, T* u2) {
    const T *j1 = metric_[4], *j2 = metric_[6];
    kernels_->mass_flux(one_thread_each(centers_), j1, raised1, u1, n_ * m_, centers_);
    kernels_->mass_flux(one_thread_each(centers_), j2, raised2, u2, n_ * m_, centers_);
  }

  void divergence(const T* u1, const T* u2, T* sum) {
    const Scope scope("divergence");
    const T* dcv = matrix(Operator::dcv);
    along_x1(dcv, u1, sum, m_, n_, m_);
    along_x2(dcv, u2, sum, m_, n_, m_, 1, 1);
  }

  // Velocity and mass flux of a state.
  struct Flow {
    const T *v1, *v2, *u1, *u2;
  };
  // The simultaneous-approximation terms, edge by edge, added to `sum`.
  void penalise(const Flow& flow, T* sum) {
    const Scope scope("sat");
    const double strength = penalty / (std::numbers::pi / (2 * n_));
    T* line = lines_.data();
    const Lines a = {line, line + m_, line + 2 * m_},
                b = {line + 3 * m_, line + 4 * m_, line + 5 * m_};
    T* common = line + 6 * m_;
    for (const Edge& edge : edges()) {
      contract_side(flow, edge.panel_a, edge.side_a, a);
      contract_side(flow, edge.panel_b, edge.side_b, b);
      kernels_->consensus(one_thread_each(m_), border_[0], metric_[2], a.normal, a.tangential,
                          b.normal, b.tangential, common, edge.panel_a,
                          static_cast<int>(edge.side_a), edge.panel_b,
                          static_cast<int>(edge.side_b), edge.reversed, n_, q12_sign_);
      const double sigma_a = outward(edge.side_a), sigma_b = outward(edge.side_b);
      const Border at_a = border(n_, edge.panel_a, edge.side_a),
                   at_b = border(n_, edge.panel_b, edge.side_b);
      kernels_->penalise(one_thread_each(m_), a.flux, common, sum, at_a.first, at_a.stride, 0, 1,
                         T(-1), T(-sigma_a * strength), m_);
      kernels_->penalise(one_thread_each(m_), b.flux, common, sum, at_b.first, at_b.stride,
                         edge.reversed ? n_ : 0, edge.reversed ? -1 : 1, T(sigma_a * sigma_b),
                         T(-sigma_b * strength), m_);
    }
  }

 private:
  ReferenceParts(Backend& backend, const Kernels<T>& kernels, int n, const Options& options,
                 const Needs& needs, const MetricTables& metric)
      : device_(backend.device.get()),
        kernels_(&kernels),
        n_(n),
        m_(n + 1),
        vertices_(static_cast<int>(height_count(n))),
        centers_(static_cast<int>(velocity_count(n))),
        q12_sign_(T(q12_sign(options.q12))),
        operators_(
            backend,
            {wanted(needs.dcv, dense(Operator::dcv, n)), wanted(needs.dvc, dense(Operator::dvc, n)),
             wanted(needs.pcv, dense(Operator::pcv, n)),
             wanted(needs.pvc, dense(Operator::pvc, n))},
            "operators"),
        metric_(backend,
                {wanted(needs.j, metric.j), wanted(needs.contravariant, metric.jq12),
                 wanted(needs.sat, distances(n)), wanted(needs.contravariant, metric.q11),
                 wanted(needs.contravariant, metric.j1), wanted(needs.contravariant, metric.q22),
                 wanted(needs.contravariant, metric.j2)},
                "metric"),
        border_(
            backend,
            {wanted(needs.sat, axis(n).tan_vertices), wanted(needs.sat, extrapolation(n, false)),
             wanted(needs.sat, extrapolation(n, true))},
            "border"),
        w1_(backend, needs.contravariant ? height_count(n) : 0, "intermediates"),
        w2_(backend, needs.contravariant ? height_count(n) : 0, "intermediates"),
        interpolated_(backend, needs.contravariant ? velocity_count(n) : 0, "intermediates"),
        lines_(backend, needs.sat ? std::size_t{7} * (n + 1) : 0, "intermediates") {
    if (options.gemm == GemmSource::library && needs.products) blas_.emplace(backend);
  }

  static std::vector<double> wanted(bool want, std::vector<double> table) {
    return want ? std::move(table) : std::vector<double>();
  }

  // [n+1, n] for dcv and pcv, [n, n+1] for dvc and pvc.
  const T* matrix(Operator op) const { return operators_[static_cast<std::size_t>(op)]; }

  void multiply_matrices(const Gemm& problem, const T* a, const T* b, T* c) {
    if (blas_) return (*blas_)(problem, a, b, c);
    const auto tiles_of = [](int count) {
      return blocks(static_cast<std::size_t>(count), gemm_tile);
    };
    kernels_->gemm(
        {.grid = {tiles_of(problem.n), tiles_of(problem.m), static_cast<unsigned>(problem.batch)},
         .block = {gemm_threads}},
        a, b, c, problem.m, problem.n, problem.k, problem.transpose_b, problem.stride_a,
        problem.stride_b, problem.stride_c, T(problem.alpha), T(problem.beta));
  }

  // out [6, rows, columns] = scale op field + keep out, along x1: op [rows, terms].
  void along_x1(const T* op, const T* field, T* out, int rows, int terms, int columns,
                double scale = 1) {
    multiply_matrices({.precision = precision_of<T>,
                       .m = rows,
                       .n = columns,
                       .k = terms,
                       .lda = terms,
                       .ldb = columns,
                       .ldc = columns,
                       .stride_b = std::int64_t{terms} * columns,
                       .stride_c = std::int64_t{rows} * columns,
                       .batch = panels,
                       .alpha = scale},
                      op, field, out);
  }
  // out [6, rows, columns] = scale field op^T + keep out, along x2: op [columns, terms].
  void along_x2(const T* op, const T* field, T* out, int rows, int terms, int columns,
                double scale = 1, double keep = 0) {
    multiply_matrices({.precision = precision_of<T>,
                       .m = rows,
                       .n = columns,
                       .k = terms,
                       .transpose_b = true,
                       .lda = terms,
                       .ldb = terms,
                       .ldc = columns,
                       .stride_a = std::int64_t{rows} * terms,
                       .stride_c = std::int64_t{rows} * columns,
                       .batch = panels,
                       .alpha = scale,
                       .beta = keep},
                      field, op, out);
  }

  void project_side(const T* from, T* to, Border own, Border other) {
    kernels_->project_edge(one_thread_each(m_), from, to, own.first, own.stride, other.first,
                           other.stride, m_);
  }

  // One side's own flux and border velocity, each a dense contraction over the panel. Lines: [n+1]
  // over k.
  struct Lines {
    T *flux, *normal, *tangential;
  };
  void contract_side(const Flow& at, int panel, Side side, const Lines& lines) {
    const bool last = outward(side) > 0;
    const T* inwards = border_[last ? 2 : 1];
    const int panel_begin = panel * n_ * m_, end = last ? n_ : 0;
    const LaunchShape shape = contraction(m_);
    // x1: v1, u1 [n, n+1] along their first index and v2 [n+1, n] on its border row; x2: mirrored.
    if (normal_is_x1(side)) {
      kernels_->contract(shape, inwards, at.u1 + panel_begin, lines.flux, 0, 1, m_, n_, m_);
      kernels_->contract(shape, inwards, at.v1 + panel_begin, lines.normal, 0, 1, m_, n_, m_);
      kernels_->contract(shape, matrix(Operator::pcv), at.v2 + panel_begin + end * n_,
                         lines.tangential, n_, 0, 1, n_, m_);
    } else {
      kernels_->contract(shape, inwards, at.u2 + panel_begin, lines.flux, 0, n_, 1, n_, m_);
      kernels_->contract(shape, inwards, at.v2 + panel_begin, lines.normal, 0, n_, 1, n_, m_);
      kernels_->contract(shape, matrix(Operator::pcv), at.v1 + panel_begin + end, lines.tangential,
                         n_, 0, m_, n_, m_);
    }
  }

  Device* device_;
  const Kernels<T>* kernels_;
  std::optional<Blas> blas_ = {};   // if absent, our own tiled kernels compute products
  int n_, m_, vertices_, centers_;  // m = n + 1; elements of h, of v1 and of v2
  T q12_sign_;
  Tables<T> operators_, metric_, border_;
  Buffer<T> w1_, w2_;       // [6, n+1, n+1]
  Buffer<T> interpolated_;  // [6, n, n+1] or [6, n+1, n]
  Buffer<T> lines_;         // [7, n+1]
};

}  // namespace holdfast::cubed_sphere_swe
