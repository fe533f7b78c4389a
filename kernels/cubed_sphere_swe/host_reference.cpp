// SPDX-License-Identifier: Apache-2.0
// The published formulation, operation by operation: dense operators, one edge at a time, classical
// RK4 that keeps its four tendencies. What `speedup` divides by.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/operators.hpp"
#include "cubed_sphere_swe/sphere.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/blas.hpp"
#include "runtime/buffer.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

// h: [6, n+1, n+1]; v1: [6, n, n+1]; v2: [6, n+1, n].
struct Fields {
  Buffer<double> h, v1, v2;
  Fields(Backend& backend, int n, const char* site)
      : h(backend, height_count(n), site),
        v1(backend, velocity_count(n), site),
        v2(backend, velocity_count(n), site) {}
};

// Elements of a field from which threads share them; below, waking a thread costs more than it
// brings.
constexpr std::size_t worth_sharing = 1 << 15;

// body(k) for every element.
template <class Body>
void for_each(std::size_t count, Body body) {
  // clang-format off
#pragma omp parallel for simd schedule(static) num_threads(host_limits().threads) if(parallel : count >= worth_sharing)
  // clang-format on
  for (std::size_t k = 0; k < count; ++k) body(k);
}

// body(k, k modulo one panel) for every element of a field with `per_panel` elements.
template <class Body>
void for_each(int per_panel, Body body) {
#pragma omp parallel for schedule(static) \
    num_threads(host_limits().threads) if (std::size_t{panels} * per_panel >= worth_sharing)
  for (int panel = 0; panel < panels; ++panel) {
    const int first = panel * per_panel;
#pragma omp simd
    for (int k = 0; k < per_panel; ++k) body(first + k, k);
  }
}

class HostReference final : public Computation {
 public:
  HostReference(Backend& backend, Problem problem)
      : unit_(problem.unit),
        n_(problem.n),
        steps_(problem.unit == Unit::loop ? problem.steps : 1),
        dt_(problem.dt),
        q12_sign_(q12_sign(problem.q12)),
        grid_(axis(n_)),
        blas_(backend),
        y_(backend, n_, "state"),
        tendency_{Fields(backend, n_, "tendency"), Fields(backend, n_, "tendency"),
                  Fields(backend, n_, "tendency"), Fields(backend, n_, "tendency")},
        stage_(backend, n_, "state"),
        hp_(backend, height_count(n_), "work"),
        cross_(backend, height_count(n_), "work"),
        divergence_(backend, height_count(n_), "work"),
        unprojected_(backend, height_count(n_), "work"),
        up1_(backend, velocity_count(n_), "work"),
        up2_(backend, velocity_count(n_), "work"),
        flux1_(backend, velocity_count(n_), "work"),
        flux2_(backend, velocity_count(n_), "work"),
        interpolated_(backend, velocity_count(n_), "work"),
        line_(backend, 7 * (static_cast<std::size_t>(n_) + 1), "work"),
        dcv_(backend, dense(Operator::dcv, n_), "operators"),
        dvc_(backend, dense(Operator::dvc, n_), "operators"),
        pcv_(backend, dense(Operator::pcv, n_), "operators"),
        pvc_(backend, dense(Operator::pvc, n_), "operators"),
        first_(backend, extrapolation(n_, false), "operators"),
        last_(backend, extrapolation(n_, true), "operators") {
    MetricTables tables = metric_tables(n_, problem.q12);
    const auto keep = [&](const std::vector<double>& table) {
      metric_.emplace_back(backend, table, "metric");
      return metric_.back().data();
    };
    jq12_ = keep(tables.jq12);
    inverse_j_ = keep(tables.inverse_j);
    q11_ = keep(tables.q11);
    j1_ = keep(tables.j1);
    q22_ = keep(tables.q22);
    j2_ = keep(tables.j2);
    y_.h.upload(problem.start.h);
    y_.v1.upload(problem.start.v1);
    y_.v2.upload(problem.start.v2);
  }

  void step() override {
    if (unit_ == Unit::rhs)
      evaluate(y_, tendency_[0]);
    else
      for (int k = 0; k < steps_; ++k) advance();
  }

  std::vector<double> result() override {
    const Fields& from = unit_ == Unit::rhs ? tendency_[0] : y_;
    std::vector<double> all;
    for (const auto* field : {&from.h, &from.v1, &from.v2})
      all.insert(all.end(), field->data(), field->data() + field->size());
    return all;
  }

  Intermediates intermediates() {
    Intermediates all;
    project(y_.h.data(), hp_.data());
    all.projected = hp_.to_host();
    raise_index(y_);
    all.up1 = up1_.to_host();
    all.up2 = up2_.to_host();
    mass_flux();
    diverge();
    all.divergence = divergence_.to_host();
    for (const Edge& edge : edges()) {
      penalise(edge, y_);
      all.consensus.insert(all.consensus.end(), consensus_line(), consensus_line() + n_ + 1);
    }
    all.penalised = divergence_.to_host();
    return all;
  }

 private:
  // y = A x along x1, per panel: A [rows, depth], x [6, depth, columns], y [6, rows, columns].
  void along_x1(const Buffer<double>& a, int rows, int depth, int columns, const double* x,
                double* y, double alpha = 1, double beta = 0) {
    blas_({.m = rows,
           .n = columns,
           .k = depth,
           .lda = depth,
           .ldb = columns,
           .ldc = columns,
           .stride_b = std::int64_t{depth} * columns,
           .stride_c = std::int64_t{rows} * columns,
           .batch = panels,
           .alpha = alpha,
           .beta = beta},
          a.data(), x, y);
  }
  // y = x A^T, the same along x2: x [6, lines, depth], A [rows, depth], y [6, lines, rows].
  void along_x2(const Buffer<double>& a, int rows, int depth, int lines, const double* x, double* y,
                double alpha = 1, double beta = 0) {
    blas_({.m = lines,
           .n = rows,
           .k = depth,
           .transpose_b = true,
           .lda = depth,
           .ldb = depth,
           .ldc = rows,
           .stride_a = std::int64_t{lines} * depth,
           .stride_c = std::int64_t{lines} * rows,
           .batch = panels,
           .alpha = alpha,
           .beta = beta},
          x, a.data(), y);
  }

  // hp = A h: a copy, then one write per edge side and per copy of a corner, all from the
  // unmodified h.
  void project(const double* h, double* hp) const {
    std::copy_n(h, height_count(n_), hp);
    for (const Edge& edge : edges()) {
      for (int k = 0; k <= n_; ++k)
        hp[side_a(edge, k)] = (h[side_a(edge, k)] + h[side_b(edge, k)]) / 2;
      for (int k = 0; k <= n_; ++k)
        hp[side_b(edge, k)] = (h[side_a(edge, k)] + h[side_b(edge, k)]) / 2;
    }
    for (const Triple& triple : corners())
      for (const Corner& corner : triple)
        hp[corner_index(n_, corner)] =
            corner_mean(h[corner_index(n_, triple[0])], h[corner_index(n_, triple[1])],
                        h[corner_index(n_, triple[2])]);
  }
  int side_a(const Edge& edge, int k) const {
    return border_index(n_, edge.panel_a, edge.side_a, k);
  }
  int side_b(const Edge& edge, int k) const {
    return border_index(n_, edge.panel_b, edge.side_b, edge.reversed ? n_ - k : k);
  }

  // up1, up2 = v^1, v^2
  void raise_index(const Fields& y) {
    along_x2(pcv_, n_ + 1, n_, n_ + 1, y.v2.data(), cross_.data());
    for_each((n_ + 1) * (n_ + 1), [w = cross_.data(), this](int k, int m) { w[k] *= jq12_[m]; });
    along_x1(pvc_, n_, n_ + 1, n_ + 1, cross_.data(), interpolated_.data());
    for_each(n_ * (n_ + 1), [up = up1_.data(), v = y.v1.data(), w = interpolated_.data(), this](
                                int k, int m) { up[k] = q11_[m] * v[k] + w[k] / j1_[m]; });
    along_x1(pcv_, n_ + 1, n_, n_ + 1, y.v1.data(), cross_.data());
    for_each((n_ + 1) * (n_ + 1), [w = cross_.data(), this](int k, int m) { w[k] *= jq12_[m]; });
    along_x2(pvc_, n_, n_ + 1, n_ + 1, cross_.data(), interpolated_.data());
    for_each(n_ * (n_ + 1), [up = up2_.data(), v = y.v2.data(), w = interpolated_.data(), this](
                                int k, int m) { up[k] = q22_[m] * v[k] + w[k] / j2_[m]; });
  }

  // to [n+1]: the border value of a field given at centres along the border's normal.
  void extrapolate_to(Side side, const double* panel, double* to) {
    const Buffer<double>& row = outward(side) > 0 ? last_ : first_;
    if (normal_is_x1(side))  // panel: [n, n+1]
      blas_({.m = 1, .n = n_ + 1, .k = n_, .lda = n_, .ldb = n_ + 1, .ldc = n_ + 1}, row.data(),
            panel, to);
    else  // panel: [n+1, n]
      blas_({.m = n_ + 1, .n = 1, .k = n_, .lda = n_, .ldb = 1, .ldc = 1}, panel, row.data(), to);
  }
  // to [n+1]: Pcv times the border row of the velocity along the border.
  void interpolate_border(Side side, const double* v1, const double* v2, double* to) {
    if (normal_is_x1(side)) {  // row 0 or n of v2: [n+1, n]
      const double* row = v2 + (outward(side) > 0 ? n_ * n_ : 0);
      blas_({.m = n_ + 1, .n = 1, .k = n_, .lda = n_, .ldb = 1, .ldc = 1}, pcv_.data(), row, to);
    } else {  // column 0 or n of v1: [n, n+1]
      const double* column = v1 + (outward(side) > 0 ? n_ : 0);
      blas_({.m = n_ + 1, .n = 1, .k = n_, .lda = n_, .ldb = n_ + 1, .ldc = 1}, pcv_.data(), column,
            to);
    }
  }

  struct BorderLines {
    double *flux = nullptr, *normal = nullptr, *tangential = nullptr;  // [n+1]
  };
  void gather(int panel, Side side, const Fields& y, BorderLines lines) {
    const std::size_t offset = static_cast<std::size_t>(panel) * n_ * (n_ + 1);
    const double *v1 = y.v1.data() + offset, *v2 = y.v2.data() + offset;
    const bool x1 = normal_is_x1(side);
    extrapolate_to(side, (x1 ? flux1_.data() : flux2_.data()) + offset, lines.flux);
    extrapolate_to(side, x1 ? v1 : v2, lines.normal);
    interpolate_border(side, v1, v2, lines.tangential);
  }

  // The border velocity of side `side` of a panel as a vector in space.
  Vector<double> border_velocity(int panel, Side side, int k, BorderLines lines) const {
    const auto [t1, t2, d] = tangents(side, k);
    const double v1 = normal_is_x1(side) ? lines.normal[k] : lines.tangential[k];
    const double v2 = normal_is_x1(side) ? lines.tangential[k] : lines.normal[k];
    return velocity(panel, t1, t2, d, q12_sign_, v1, v2);
  }
  std::array<double, 3> tangents(Side side, int k) const {
    const double end = grid_.tan_vertices[outward(side) > 0 ? n_ : 0],
                 along = grid_.tan_vertices[k];
    const double t1 = normal_is_x1(side) ? end : along, t2 = normal_is_x1(side) ? along : end;
    return {t1, t2, std::sqrt(1 + t1 * t1 + t2 * t2)};
  }

  double* consensus_line() const { return line_.data() + 6 * (n_ + 1); }

  // One edge's penalty: the Cartesian average F* of both sides, then two additions to the
  // divergence.
  void penalise(const Edge& edge, const Fields& y) {
    const auto line = [&](int k) { return line_.data() + k * (n_ + 1); };
    const BorderLines a = {line(0), line(1), line(2)}, b = {line(3), line(4), line(5)};
    double* star = consensus_line();
    gather(edge.panel_a, edge.side_a, y, a);
    gather(edge.panel_b, edge.side_b, y, b);
    const auto aligned = [&](int k) { return edge.reversed ? n_ - k : k; };
    for (int k = 0; k <= n_; ++k) {
      const auto [t1, t2, d] = tangents(edge.side_a, k);
      star[k] = consensus_flux(edge.panel_a, normal_is_x1(edge.side_a), t1, t2, d, q12_sign_,
                               border_velocity(edge.panel_a, edge.side_a, k, a),
                               border_velocity(edge.panel_b, edge.side_b, aligned(k), b));
    }
    const double sigma_a = outward(edge.side_a), sigma_b = outward(edge.side_b);
    const double strength = penalty / grid_.dx;
    double* div = divergence_.data();
    for (int k = 0; k <= n_; ++k)
      div[side_a(edge, k)] -= sigma_a * strength * (a.flux[k] - star[k]);
    for (int k = 0; k <= n_; ++k)
      div[side_b(edge, k)] -=
          sigma_b * strength * (b.flux[aligned(k)] + sigma_a * sigma_b * star[k]);
  }

  // u1, u2 from v^1, v^2
  void mass_flux() {
    for_each(n_ * (n_ + 1),
             [u = flux1_.data(), v = up1_.data(), this](int i, int m) { u[i] = j1_[m] * v[i]; });
    for_each(n_ * (n_ + 1),
             [u = flux2_.data(), v = up2_.data(), this](int i, int m) { u[i] = j2_[m] * v[i]; });
  }

  void diverge() {
    along_x1(dcv_, n_ + 1, n_, n_ + 1, flux1_.data(), divergence_.data());
    along_x2(dcv_, n_ + 1, n_, n_ + 1, flux2_.data(), divergence_.data(), 1, 1);
  }

  // k = L y
  void evaluate(const Fields& y, Fields& k) {
    project(y.h.data(), hp_.data());
    along_x1(dvc_, n_, n_ + 1, n_ + 1, hp_.data(), k.v1.data(), -gravity);
    along_x2(dvc_, n_, n_ + 1, n_ + 1, hp_.data(), k.v2.data(), -gravity);
    raise_index(y);
    mass_flux();
    diverge();
    for (const Edge& edge : edges()) penalise(edge, y);
    for_each((n_ + 1) * (n_ + 1),
             [out = unprojected_.data(), div = divergence_.data(), this](int i, int m) {
               out[i] = -mean_depth * inverse_j_[m] * div[i];
             });
    project(unprojected_.data(), k.h.data());
  }

  // to = y + factor k, field by field
  void combine(double factor, const Fields& k, Fields& to) {
    const auto field = [factor](const Buffer<double>& y, const Buffer<double>& slope,
                                Buffer<double>& out) {
      for_each(y.size(), [factor, a = y.data(), b = slope.data(), c = out.data()](std::size_t i) {
        c[i] = a[i] + factor * b[i];
      });
    };
    field(y_.h, k.h, to.h);
    field(y_.v1, k.v1, to.v1);
    field(y_.v2, k.v2, to.v2);
  }

  void advance() {
    auto& [k1, k2, k3, k4] = tendency_;
    evaluate(y_, k1);
    combine(dt_ / 2, k1, stage_);
    evaluate(stage_, k2);
    combine(dt_ / 2, k2, stage_);
    evaluate(stage_, k3);
    combine(dt_, k3, stage_);
    evaluate(stage_, k4);
    const auto finish = [this](Buffer<double> Fields::*field) {
      for_each((y_.*field).size(),
               [sixth = dt_ / 6, y = (y_.*field).data(), a = (tendency_[0].*field).data(),
                b = (tendency_[1].*field).data(), c = (tendency_[2].*field).data(),
                d = (tendency_[3].*field).data()](std::size_t i) {
                 y[i] += sixth * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
               });
    };
    finish(&Fields::h);
    finish(&Fields::v1);
    finish(&Fields::v2);
  }

  Unit unit_;
  int n_, steps_;
  double dt_, q12_sign_;
  Axis grid_;
  Blas blas_;
  Fields y_;
  std::array<Fields, 4> tendency_;
  Fields stage_;
  Buffer<double> hp_, cross_, divergence_, unprojected_;     // [6, n+1, n+1]
  Buffer<double> up1_, up2_, flux1_, flux2_, interpolated_;  // at v1 or v2
  Buffer<double> line_;  // [7, n+1]: both sides of an edge, and F*
  Buffer<double> dcv_, dvc_, pcv_, pvc_, first_, last_;
  std::vector<Buffer<double>> metric_ = {};
  const double *jq12_ = nullptr, *inverse_j_ = nullptr, *q11_ = nullptr, *j1_ = nullptr,
               *q22_ = nullptr, *j2_ = nullptr;
};

}  // namespace

std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem) {
  return std::make_unique<HostReference>(backend, std::move(problem));
}

Intermediates reference_intermediates(Backend& backend, Problem problem) {
  return HostReference(backend, std::move(problem)).intermediates();
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
