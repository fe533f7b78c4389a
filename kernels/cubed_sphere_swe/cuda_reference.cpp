// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: dense operators, one launch per array update (reference.cu). A
// tendency is 219 launches and 2 copies, a step 888 and 8.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/device_code.hpp"
#include "cubed_sphere_swe/operators.hpp"
#include "cubed_sphere_swe/reference_kernels.hpp"
#include "cubed_sphere_swe/sphere.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/blas.hpp"
#include "runtime/buffer.hpp"
#include "runtime/compiler.hpp"
#include "runtime/scope.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

LaunchShape one_thread_each(std::size_t count) {
  constexpr unsigned block = 128;
  return {.grid = {static_cast<unsigned>((count + block - 1) / block)}, .block = {block}};
}

LaunchShape contraction(int count) {
  constexpr int points = contraction_points;
  return {.grid = {static_cast<unsigned>((count + points - 1) / points)},
          .block = {points, contraction_parts}};
}

// The points of one side of a panel, in h [6, n+1, n+1].
struct Border {
  int first = 0, stride = 0;
};
Border border(int n, int panel, Side side, bool reversed = false) {
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

// Arrays that belong together, uploaded in one piece.
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
std::vector<double> distances(int n) {
  const Axis grid = axis(n);
  std::vector<double> all;
  for (const double t1 : grid.tan_vertices)
    for (const double t2 : grid.tan_vertices) all.push_back(std::sqrt(1 + t1 * t1 + t2 * t2));
  return all;
}

// Everything that dh, dv1, dv2 are computed with: tables, intermediates, and the launches in their
// order.
template <class T>
class Tendency {
 public:
  Tendency(Backend& backend, const Kernels<T>& kernels, int n, MetricSign q12)
      : Tendency(backend, kernels, n, q12, metric_tables(n, q12)) {}

  void operator()(const Fields<T>& state, const Fields<T>& tendency) {
    project(state.h, hp_.data());
    gradient(hp_.data(), tendency);
    contravariant(state);
    divergence();
    penalise(state);
    kernels_->height_tendency(one_thread_each(vertices_), j(), divergence_.data(), m_ * m_,
                              vertices_);
    project(divergence_.data(), tendency.h);
  }

 private:
  Tendency(Backend& backend, const Kernels<T>& kernels, int n, MetricSign q12,
           const MetricTables& metric)
      : device_(backend.device.get()),
        kernels_(&kernels),
        blas_(backend),
        n_(n),
        m_(n + 1),
        vertices_(static_cast<int>(height_count(n))),
        centers_(static_cast<int>(velocity_count(n))),
        q12_sign_(T(q12_sign(q12))),
        operators_(backend,
                   {dense(Operator::dcv, n), dense(Operator::dvc, n), dense(Operator::pcv, n),
                    dense(Operator::pvc, n)},
                   "operators"),
        metric_(backend,
                {metric.j, metric.jq12, distances(n), metric.q11, metric.j1, metric.q22, metric.j2},
                "metric"),
        border_(backend, {axis(n).tan_vertices, extrapolation(n, false), extrapolation(n, true)},
                "border"),
        hp_(backend, height_count(n), "intermediates"),
        w1_(backend, height_count(n), "intermediates"),
        w2_(backend, height_count(n), "intermediates"),
        divergence_(backend, height_count(n), "intermediates"),
        interpolated_(backend, velocity_count(n), "intermediates"),
        raised1_(backend, velocity_count(n), "intermediates"),
        raised2_(backend, velocity_count(n), "intermediates"),
        u1_(backend, velocity_count(n), "intermediates"),
        u2_(backend, velocity_count(n), "intermediates"),
        lines_(backend, std::size_t{7} * (n + 1), "border") {}

  const T* dcv() const { return operators_[0]; }  // [n+1, n]
  const T* dvc() const { return operators_[1]; }  // [n, n+1]
  const T* pcv() const { return operators_[2]; }  // [n+1, n]
  const T* pvc() const { return operators_[3]; }  // [n, n+1]
  const T* j() const { return metric_[0]; }       // [n+1, n+1]

  // out [6, rows, columns] = scale op field + keep out, along x1: op [rows, terms].
  void along_x1(const T* op, const T* field, T* out, int rows, int terms, int columns,
                double scale = 1) {
    blas_({.precision = precision_of<T>,
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
    blas_({.precision = precision_of<T>,
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
  void project_side(const T* from, T* to, Border own, Border other) {
    kernels_->project_edge(one_thread_each(m_), from, to, own.first, own.stride, other.first,
                           other.stride, m_);
  }

  void gradient(const T* h, const Fields<T>& tendency) {
    const Scope scope("gradient");
    along_x1(dvc(), h, tendency.v1, n_, m_, m_, -gravity);
    along_x2(dvc(), h, tendency.v2, m_, m_, n_, -gravity);
  }

  void contravariant(const Fields<T>& state) {
    const Scope scope("contravariant");
    const T *jq12 = metric_[1], *q11 = metric_[3], *j1 = metric_[4], *q22 = metric_[5],
            *j2 = metric_[6];
    along_x2(pcv(), state.v2, w2_.data(), m_, n_, m_);
    kernels_->multiply(one_thread_each(vertices_), jq12, w2_.data(), m_ * m_, vertices_);
    along_x1(pvc(), w2_.data(), interpolated_.data(), n_, m_, m_);
    kernels_->contravariant(one_thread_each(centers_), state.v1, interpolated_.data(), q11, j1,
                            raised1_.data(), n_ * m_, centers_);
    along_x1(pcv(), state.v1, w1_.data(), m_, n_, m_);
    kernels_->multiply(one_thread_each(vertices_), jq12, w1_.data(), m_ * m_, vertices_);
    along_x2(pvc(), w1_.data(), interpolated_.data(), m_, m_, n_);
    kernels_->contravariant(one_thread_each(centers_), state.v2, interpolated_.data(), q22, j2,
                            raised2_.data(), n_ * m_, centers_);
    kernels_->mass_flux(one_thread_each(centers_), j1, raised1_.data(), u1_.data(), n_ * m_,
                        centers_);
    kernels_->mass_flux(one_thread_each(centers_), j2, raised2_.data(), u2_.data(), n_ * m_,
                        centers_);
  }

  void divergence() {
    const Scope scope("divergence");
    along_x1(dcv(), u1_.data(), divergence_.data(), m_, n_, m_);
    along_x2(dcv(), u2_.data(), divergence_.data(), m_, n_, m_, 1, 1);
  }

  // One side's own flux and border velocity, each a dense contraction over the panel. Lines are
  // [n+1] over k.
  struct Lines {
    T *flux, *normal, *tangential;
  };
  void contract_side(const Fields<T>& state, int panel, Side side, const Lines& lines) {
    const bool last = outward(side) > 0;
    const T* inwards = border_[last ? 2 : 1];
    const int panel_begin = panel * n_ * m_, end = last ? n_ : 0;
    const LaunchShape shape = contraction(m_);
    // x1: v1, u1 [n, n+1] along their first index and v2 [n+1, n] on its border row; x2: mirrored.
    if (normal_is_x1(side)) {
      kernels_->contract(shape, inwards, u1_.data() + panel_begin, lines.flux, 0, 1, m_, n_, m_);
      kernels_->contract(shape, inwards, state.v1 + panel_begin, lines.normal, 0, 1, m_, n_, m_);
      kernels_->contract(shape, pcv(), state.v2 + panel_begin + end * n_, lines.tangential, n_, 0,
                         1, n_, m_);
    } else {
      kernels_->contract(shape, inwards, u2_.data() + panel_begin, lines.flux, 0, n_, 1, n_, m_);
      kernels_->contract(shape, inwards, state.v2 + panel_begin, lines.normal, 0, n_, 1, n_, m_);
      kernels_->contract(shape, pcv(), state.v1 + panel_begin + end, lines.tangential, n_, 0, m_,
                         n_, m_);
    }
  }

  // The simultaneous-approximation terms, edge by edge.
  void penalise(const Fields<T>& state) {
    const Scope scope("sat");
    const double strength = penalty / (std::numbers::pi / (2 * n_));
    T* line = lines_.data();
    const Lines a = {line, line + m_, line + 2 * m_},
                b = {line + 3 * m_, line + 4 * m_, line + 5 * m_};
    T* common = line + 6 * m_;
    for (const Edge& edge : edges()) {
      contract_side(state, edge.panel_a, edge.side_a, a);
      contract_side(state, edge.panel_b, edge.side_b, b);
      kernels_->consensus(one_thread_each(m_), border_[0], metric_[2], a.normal, a.tangential,
                          b.normal, b.tangential, common, edge.panel_a,
                          static_cast<int>(edge.side_a), edge.panel_b,
                          static_cast<int>(edge.side_b), edge.reversed, n_, q12_sign_);
      const double sigma_a = outward(edge.side_a), sigma_b = outward(edge.side_b);
      const Border at_a = border(n_, edge.panel_a, edge.side_a),
                   at_b = border(n_, edge.panel_b, edge.side_b);
      kernels_->penalise(one_thread_each(m_), a.flux, common, divergence_.data(), at_a.first,
                         at_a.stride, 0, 1, T(-1), T(-sigma_a * strength), m_);
      kernels_->penalise(one_thread_each(m_), b.flux, common, divergence_.data(), at_b.first,
                         at_b.stride, edge.reversed ? n_ : 0, edge.reversed ? -1 : 1,
                         T(sigma_a * sigma_b), T(-sigma_b * strength), m_);
    }
  }

  Device* device_;
  const Kernels<T>* kernels_;
  Blas blas_;
  int n_, m_, vertices_, centers_;  // m = n + 1; elements of h, of v1 and of v2
  T q12_sign_;
  Tables<T> operators_, metric_, border_;
  Buffer<T> hp_, w1_, w2_, divergence_;                   // [6, n+1, n+1]
  Buffer<T> interpolated_, raised1_, raised2_, u1_, u2_;  // [6, n, n+1] or [6, n+1, n]
  Buffer<T> lines_;                                       // [7, n+1]
};

template <class T>
class Reference final : public Computation {
 public:
  Reference(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        n_(problem.n),
        unit_(problem.unit),
        dt_(problem.dt),
        steps_(problem.unit == Unit::loop ? problem.steps : 1),
        kernels_(backend.compiler->compile(Kernels<T>::program())),
        tendency_(backend, kernels_, n_, problem.q12),
        state_(backend, joined<T>(problem.start), "state") {
    // The tendency, or k1 .. k4 and the state of a stage.
    const int others = unit_ == Unit::rhs ? 1 : 5;
    for (int i = 0; i < others; ++i) others_.emplace_back(backend, state_count(n_), "stages");
    if (unit_ != Unit::loop || problem.launch != Launch::graph) return;
    // cuBLAS loads a kernel at its first use, which must not fall into the capture.
    tendency_(fields(state_), fields(others_[0]));
    graph_ = device_.capture([this] { enqueue_steps(); });
  }

  void step() override {
    if (unit_ == Unit::rhs)
      tendency_(fields(state_), fields(others_[0]));
    else if (graph_)
      device_.replay(*graph_);
    else
      enqueue_steps();
  }

  std::vector<double> result() override {
    const std::vector<T> values = (unit_ == Unit::rhs ? others_[0] : state_).to_host();
    return {values.begin(), values.end()};
  }

 private:
  Fields<T> fields(const Buffer<T>& row) const { return {row, n_}; }

  void enqueue_steps() {
    const Fields<T> y = fields(state_), k1 = fields(others_[0]), k2 = fields(others_[1]),
                    k3 = fields(others_[2]), k4 = fields(others_[3]), stage = fields(others_[4]);
    for (int i = 0; i < steps_; ++i) {
      tendency_(y, k1);
      advance(y, k1, stage, dt_ / 2);
      tendency_(stage, k2);
      advance(y, k2, stage, dt_ / 2);
      tendency_(stage, k3);
      advance(y, k3, stage, dt_);
      tendency_(stage, k4);
      combine(y.h, k1.h, k2.h, k3.h, k4.h, height_count(n_));
      combine(y.v1, k1.v1, k2.v1, k3.v1, k4.v1, velocity_count(n_));
      combine(y.v2, k1.v2, k2.v2, k3.v2, k4.v2, velocity_count(n_));
    }
  }

  // out = y + c k.
  void advance(const Fields<T>& y, const Fields<T>& k, const Fields<T>& out, double c) {
    const auto field = [&](const T* from, const T* slope, T* to, std::size_t count) {
      kernels_.advance(one_thread_each(count), from, slope, to, T(c), static_cast<int>(count));
    };
    field(y.h, k.h, out.h, height_count(n_));
    field(y.v1, k.v1, out.v1, velocity_count(n_));
    field(y.v2, k.v2, out.v2, velocity_count(n_));
  }
  void combine(T* y, const T* k1, const T* k2, const T* k3, const T* k4, std::size_t count) {
    kernels_.combine(one_thread_each(count), k1, k2, k3, k4, y, T(dt_ / 6),
                     static_cast<int>(count));
  }

  Device& device_;
  int n_;
  Unit unit_;
  double dt_;
  int steps_;
  Kernels<T> kernels_;
  Tendency<T> tendency_;
  Buffer<T> state_;
  std::vector<Buffer<T>> others_ = {};
  std::optional<Graph> graph_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  if (problem.precision == Precision::f32)
    return std::make_unique<Reference<float>>(backend, problem);
  return std::make_unique<Reference<double>>(backend, problem);
}

}  // namespace holdfast::cubed_sphere_swe
