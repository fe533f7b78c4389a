// SPDX-License-Identifier: Apache-2.0
// The parts of a plain evaluation on the host: planes of all pairs of frames, which a set of
// parameters fills once, and arrays over a part of the points.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/problem/model.hpp"
#include "xpcs_fit/problem/normal.hpp"
#include "xpcs_fit/reference/parts.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

template <class T>
class PlainPlanes {
 public:
  PlainPlanes(Backend& backend, const Problem& problem)
      : problem_(problem),
        size_(problem.input->size),
        laminar_(problem.options.mode == Mode::laminar),
        degrees_(problem.input->angles),
        decay_(backend, count_if(true, size_.plane()), "planes"),
        shear_(backend, count_if(laminar_, size_.plane()), "planes") {}

  void aim(double degrees) { degrees_.assign(1, degrees); }
  void evaluate(const std::vector<double>& parameters);

  const Size& size() const { return size_; }
  bool laminar() const { return laminar_; }
  T kappa() const { return static_cast<T>(problem_.input->physics.kappa()); }
  T contrast(int a) const { return contrasts_[a]; }
  T offset(int a) const { return offsets_[a]; }
  T sine(int a) const { return static_cast<T>(directions_[a].sine); }
  T cosine(int a) const { return static_cast<T>(directions_[a].cosine); }
  const T* decay() const { return decay_.data(); }
  const T* shear() const { return shear_.data(); }
  T phase(int a, std::int64_t pair) const { return cosine(a) * shear_.data()[pair]; }
  const Frames& frames() const { return frames_; }

 private:
  // Calls over(i, j, k) for a whole plane.
  template <class Over>
  void for_plane(const Over& over) {
#pragma omp parallel for num_threads(host_limits().threads)
    for (int i = 0; i < size_.frames; ++i)
      for (int j = 0; j < size_.frames; ++j) over(i, j, std::int64_t{i} * size_.frames + j);
  }
  void smooth_differences(const std::vector<double>& of, T* out) {
    for_plane([&, out](int i, int j, std::int64_t k) { out[k] = static_cast<T>(of[i] - of[j]); });
    for_plane([=](int, int, std::int64_t k) { out[k] = std::sqrt(out[k] * out[k] + T(1e-20)); });
  }

  Problem problem_;
  Size size_;
  bool laminar_;
  std::vector<double> degrees_;
  Buffer<T> decay_, shear_;
  Frames frames_ = {};
  std::vector<T> contrasts_ = {}, offsets_ = {};
  std::vector<Direction> directions_ = {};
};

template <class T>
void PlainPlanes<T>::evaluate(const std::vector<double>& parameters) {
  const std::vector<double> own = local(problem_.options, size_.angles, 0, parameters);
  frames_ =
      xpcs_fit::frames(problem_.input->physics, size_.frames, problem_.options.mode, own.data());
  contrasts_.clear();
  offsets_.clear();
  directions_.clear();
  for (int a = 0; a < size_.angles; ++a) {
    const auto of_angle = local(problem_.options, size_.angles, a, parameters);
    contrasts_.push_back(static_cast<T>(of_angle[0]));
    offsets_.push_back(static_cast<T>(of_angle[1]));
    directions_.push_back(direction(problem_.input->physics, degrees_[a], laminar_ ? own[8] : 0));
  }
  T* const e = decay_.data();
  const T kappa = this->kappa();
  smooth_differences(frames_.s, e);
  for_plane([=](int, int, std::int64_t k) { e[k] = -kappa * e[k]; });
  for_plane([=](int, int, std::int64_t k) { e[k] = std::clamp(e[k], T(-700), T(0)); });
  for_plane([=](int, int, std::int64_t k) { e[k] = std::exp(e[k]); });
  if (laminar_) smooth_differences(frames_.q, shear_.data());
}

// A point: its angle, its frames, and its index in a plane and in a part of the points.
struct PlainPoint {
  int a = 0, i = 0, j = 0;
  std::int64_t pair = 0, k = 0;
};

// Arrays of a range of points, up to a maximum size.
template <class T>
class PlainPart {
 public:
  PlainPart(Unit unit, Backend& backend, const Problem& problem, std::int64_t most)
      : unit_(unit),
        options_(problem.options),
        p_(parameter_count(problem.options, problem.input->size.angles)),
        g1_(backend, count_if(true, most), "g1"),
        model_(backend, count_if(true, most), unit == Unit::g2 ? "result" : "model"),
        residual_(backend, count_if(unit != Unit::g2, most),
                  unit == Unit::residual ? "result" : "residual"),
        jacobian_(backend, count_if(has_derivatives(unit), p_ * most), "jacobian"),
        products_(has_derivatives(unit) ? normal_count(p_) - 1 : 0) {}

  const Buffer<T>& model() const { return model_; }
  const Buffer<T>& residual() const { return residual_; }

  void evaluate_model(const PlainPlanes<T>& of, PointRange range);
  // Writes F, g, N to `sums`, or adds them. data, weights: of the part; weights null if all are 1.
  void evaluate_sums(Blas& blas, const PlainPlanes<T>& of, PointRange range, const T* data,
                     const T* weights, bool adds, double* sums);

 private:
  // Calls over(PlainPoint) for the points of the range.
  template <class Over>
  static void for_points(const PlainPlanes<T>& of, PointRange range, const Over& over) {
    const std::int64_t frames = of.size().frames, last = range.first + range.count;
#pragma omp parallel for num_threads(host_limits().threads)
    for (std::int64_t row = range.first / frames; row < (last + frames - 1) / frames; ++row) {
      const int a = static_cast<int>(row / frames), i = static_cast<int>(row % frames);
      const std::int64_t start = row * frames, end = std::min(start + frames, last);
      for (std::int64_t at = std::max(start, range.first); at < end; ++at) {
        const int j = static_cast<int>(at - start);
        over(PlainPoint{.a = a, .i = i, .j = j, .pair = i * frames + j, .k = at - range.first});
      }
    }
  }

  static T sinc(T x) {
    return std::abs(x) > T(1e-12) ? std::sin(x) / x : T(1);
  }
  double make_residual(const PlainPlanes<T>& of, PointRange range, const T* data, const T* weights);
  void make_jacobian(const PlainPlanes<T>& of, PointRange range, const T* weights);
  void fill_physical(const PlainPlanes<T>& of, PointRange range, const T* weights, T* out, int k);
  // Zero where the model is clipped; times the weights.
  template <class At>
  void fill(const PlainPlanes<T>& of, PointRange range, const T* weights, T* out, const At& at) {
    const T* const m = model_.data();
    for_points(of, range, [&, m, out](const PlainPoint& point) {
      const std::int64_t k = point.k;
      const bool live = m[k] > T(model_floor) && m[k] < T(model_ceiling);
      out[k] = live ? at(point) : T(0);
    });
    if (weights)
      for_points(of, range, [=](const PlainPoint& point) { out[point.k] *= weights[point.k]; });
  }
  // The derivative of |of_i - of_j|.
  static T difference(const std::vector<double>& of, const std::vector<double>& by,
                      const PlainPoint& at) {
    const double change = by[at.i] - by[at.j];
    return static_cast<T>(of[at.i] < of[at.j] ? -change : of[at.i] > of[at.j] ? change : 0.);
  }
  // Columns and residuals are scaled by roots of the loss's weight, so the products stay the same.
  void soften(const PlainPlanes<T>& of, PointRange range);

  Unit unit_;
  Options options_;
  int p_;
  Buffer<T> g1_, model_, residual_, jacobian_;
  std::vector<T> products_;  // g, N of a range
};

template <class T>
void PlainPart<T>::evaluate_model(const PlainPlanes<T>& of, PointRange range) {
  T* const g1 = g1_.data();
  T* const m = model_.data();
  const T* const e = of.decay();
  if (of.laminar())
    for_points(of, range, [&, g1](const PlainPoint& at) {
      const T s = sinc(of.phase(at.a, at.pair));
      g1[at.k] = s * s;
    });
  else
    for_points(of, range, [=](const PlainPoint& at) { g1[at.k] = 1; });
  for_points(of, range,
             [=](const PlainPoint& at) { g1[at.k] = std::max(e[at.pair] * g1[at.k], T(1e-10)); });
  for_points(of, range, [&, m, g1](const PlainPoint& at) {
    m[at.k] = of.offset(at.a) + of.contrast(at.a) * g1[at.k] * g1[at.k];
  });
  for_points(of, range, [=](const PlainPoint& at) {
    m[at.k] = std::clamp(m[at.k], T(model_floor), T(model_ceiling));
  });
}

template <class T>
void PlainPart<T>::evaluate_sums(Blas& blas, const PlainPlanes<T>& of, PointRange range,
                                 const T* data, const T* weights, bool adds, double* sums) {
  const double cost = make_residual(of, range, data, weights);
  *sums = adds ? *sums + cost : cost;
  if (!has_derivatives(unit_)) return;
  make_jacobian(of, range, weights);
  if (options_.loss == Loss::soft_l1) soften(of, range);
  const int n = static_cast<int>(range.count);
  T *const g = products_.data(), *const matrix = g + p_;
  blas({.precision = precision_of<T>, .m = p_, .n = 1, .k = n, .lda = n, .ldb = 1, .ldc = 1},
       jacobian_.data(), residual_.data(), g);
  blas({.precision = precision_of<T>,
        .m = p_,
        .n = p_,
        .k = n,
        .transpose_b = true,
        .lda = n,
        .ldb = n,
        .ldc = p_},
       jacobian_.data(), jacobian_.data(), matrix);
  for (std::size_t k = 0; k < products_.size(); ++k)
    sums[1 + k] = products_[k] + (adds ? sums[1 + k] : 0);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA

#include "xpcs_fit/reference/host_columns.hpp"
