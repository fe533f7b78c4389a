// SPDX-License-Identifier: Apache-2.0
// The plain formulation on the host: array after array as an array program does it, with the loops
// of a compiler and the functions of its library. For sources that are compiled once for each
// instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/problem/model.hpp"
#include "xpcs_fit/problem/normal.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

inline std::size_t count_if(bool wanted, std::int64_t count) {
  return wanted ? static_cast<std::size_t>(count) : 0;
}

template <class T>
class Plain final : public Computation {
 public:
  Plain(Unit unit, Backend& backend, const Problem& problem)
      : unit_(unit),
        problem_(problem),
        size_(problem.input->size),
        laminar_(problem.options.mode == Mode::laminar),
        soft_(problem.options.loss == Loss::soft_l1),
        p_(parameter_count(problem.options, size_.angles)),
        degrees_(problem.input->angles),
        fit_(problem, unit == Unit::fit ? accounted_passes : 0),
        blas_(backend),
        data_(backend, converted(problem.input->data, unit != Unit::g2), "inputs"),
        weights_(backend,
                 converted(problem.input->weights, problem.options.weights == Weights::array),
                 "inputs: weights"),
        decay_(backend, count_if(true, size_.plane()), "planes"),
        shear_(backend, count_if(laminar_, size_.plane()), "planes"),
        sinc_(backend, count_if(true, size_.points()), "g1"),
        model_(backend, count_if(true, size_.points()), unit == Unit::g2 ? "result" : "model"),
        residual_(backend, count_if(unit != Unit::g2, size_.points()),
                  unit == Unit::residual ? "result" : "residual"),
        jacobian_(backend, count_if(normal(), p_ * size_.points()), "jacobian"),
        sums_(backend, normal() ? normal_count(p_) : 1, normal() ? "result" : "sums") {}

  void step() override {
    if (!is_fit(unit_)) return evaluate(problem_.input->box.start);
    fit_.restart();
    do evaluate(fit_.trial());
    while (!fit_.take(sums_.data()));
  }

  std::vector<double> result() override {
    if (is_fit(unit_)) return fit_result(fit_.state(), freedom(problem_));
    if (normal()) return sums_.to_host();
    const std::vector<T> values = (unit_ == Unit::g2 ? model_ : residual_).to_host();
    std::vector<double> all(values.begin(), values.end());
    if (unit_ == Unit::residual) all.insert(all.begin(), *sums_.data());
    return all;
  }

  // For programs that call it again and again.
  void aim(double degrees) { degrees_.assign(1, degrees); }
  void evaluate(const std::vector<double>& parameters);
  double cost() const { return *sums_.data(); }
  const T* model() const { return model_.data(); }

 private:
  bool normal() const { return has_derivatives(unit_); }
  static std::vector<T> converted(const std::vector<double>& from, bool wanted) {
    return wanted ? std::vector<T>(from.begin(), from.end()) : std::vector<T>();
  }

  // over(i, j, k) for all of a plane.
  template <class Over>
  void for_plane(const Over& over) {
#pragma omp parallel for num_threads(host_limits().threads)
    for (int i = 0; i < size_.frames; ++i)
      for (int j = 0; j < size_.frames; ++j) over(i, j, std::int64_t{i} * size_.frames + j);
  }
  // over(a, plane index, k) for all points.
  template <class Over>
  void for_points(const Over& over) {
#pragma omp parallel for num_threads(host_limits().threads)
    for (std::int64_t row = 0; row < std::int64_t{size_.angles} * size_.frames; ++row)
      for (int j = 0; j < size_.frames; ++j) {
        const std::int64_t k = row * size_.frames + j;
        over(static_cast<int>(row / size_.frames), k % size_.plane(), k);
      }
  }

  void make_planes() {
    T* const e = decay_.data();
    const T kappa = static_cast<T>(problem_.input->physics.kappa());
    smooth_differences(frames_.s, e);
    for_plane([=](int, int, std::int64_t k) { e[k] = -kappa * e[k]; });
    for_plane([=](int, int, std::int64_t k) { e[k] = std::clamp(e[k], T(-700), T(0)); });
    for_plane([=](int, int, std::int64_t k) { e[k] = std::exp(e[k]); });
    if (laminar_) smooth_differences(frames_.q, shear_.data());
  }
  void smooth_differences(const std::vector<double>& of, T* out) {
    for_plane([&, out](int i, int j, std::int64_t k) { out[k] = static_cast<T>(of[i] - of[j]); });
    for_plane([=](int, int, std::int64_t k) { out[k] = std::sqrt(out[k] * out[k] + T(1e-20)); });
  }

  T phase(int a, std::int64_t pair) const {
    return static_cast<T>(directions_[a].cosine) * shear_.data()[pair];
  }
  static T sinc(T x) {
    return std::abs(x) > T(1e-12) ? std::sin(x) / x : T(1);
  }

  void make_model() {
    T* const g1 = sinc_.data();
    T* const m = model_.data();
    const T* const e = decay_.data();
    if (laminar_)
      for_points([&, g1](int a, std::int64_t pair, std::int64_t k) {
        const T s = sinc(phase(a, pair));
        g1[k] = s * s;
      });
    else
      for_points([=](int, std::int64_t, std::int64_t k) { g1[k] = 1; });
    for_points([=](int, std::int64_t pair, std::int64_t k) {
      g1[k] = std::max(e[pair] * g1[k], T(1e-10));
    });
    for_points([&, m, g1](int a, std::int64_t, std::int64_t k) {
      m[k] = offsets_[a] + contrasts_[a] * g1[k] * g1[k];
    });
    for_points([=](int, std::int64_t, std::int64_t k) {
      m[k] = std::clamp(m[k], T(model_floor), T(model_ceiling));
    });
  }

  void make_residual() {
    T* const r = residual_.data();
    const T* const m = model_.data();
    const T* const d = data_.data();
    for_points([=](int, std::int64_t, std::int64_t k) { r[k] = m[k] - d[k]; });
    if (weights_.size() > 0) {
      const T* const w = weights_.data();
      for_points([=](int, std::int64_t, std::int64_t k) { r[k] *= w[k]; });
    }
    double cost = 0;
    const T scale = static_cast<T>(problem_.options.loss_scale);
    const std::int64_t n = size_.points();
    if (soft_) {
#pragma omp parallel for num_threads(host_limits().threads) reduction(+ : cost)
      for (std::int64_t k = 0; k < n; ++k) {
        const T z = r[k] / scale * (r[k] / scale);
        cost += double{scale * scale * (std::sqrt(1 + z) - 1)};
      }
    } else {
#pragma omp parallel for num_threads(host_limits().threads) reduction(+ : cost)
      for (std::int64_t k = 0; k < n; ++k) cost += double{r[k]} * double{r[k]} / 2;
    }
    *sums_.data() = cost;
  }

  void make_jacobian() {
    const bool per_angle = problem_.options.scaling == Scaling::per_angle;
    const int angles = size_.angles, own = local_parameters(problem_.options.mode);
    const int of_scaling = per_angle ? angles : 1;
    for (int a = 0; a < of_scaling; ++a) {
      const auto mine = [=](int angle) { return !per_angle || angle == a; };
      fill(column(a), [=, this](int angle, std::int64_t, std::int64_t k) {
        return mine(angle) ? sinc_.data()[k] * sinc_.data()[k] : T(0);
      });
      fill(column(of_scaling + a),
           [=](int angle, std::int64_t, std::int64_t) { return mine(angle) ? T(1) : T(0); });
    }
    for (int k = 2; k < own; ++k) fill_physical(column(2 * of_scaling + k - 2), k);
  }
  T* column(int k) {
    return jacobian_.data() + k * size_.points();
  }

  // Zero where the model is clipped; times the weights.
  template <class At>
  void fill(T* out, const At& at) {
    const T* const m = model_.data();
    for_points([&, m, out](int a, std::int64_t pair, std::int64_t k) {
      const bool live = m[k] > T(model_floor) && m[k] < T(model_ceiling);
      out[k] = live ? at(a, pair, k) : T(0);
    });
    if (weights_.size() == 0) return;
    const T* const w = weights_.data();
    for_points([=](int, std::int64_t, std::int64_t k) { out[k] *= w[k]; });
  }

  void fill_physical(T* out, int k);
  // The change of |of_i - of_j|.
  static T difference(const std::vector<double>& of, const std::vector<double>& by,
                      std::int64_t pair, int n) {
    const auto i = static_cast<std::size_t>(pair / n), j = static_cast<std::size_t>(pair % n);
    const double change = by[i] - by[j];
    return static_cast<T>(of[i] < of[j] ? -change : of[i] > of[j] ? change : 0.);
  }

  // g and N by the library, of columns that carry the square root of the loss's weight.
  void make_products();

  Unit unit_;
  Problem problem_;
  Size size_;
  bool laminar_, soft_;
  int p_;
  std::vector<double> degrees_;
  HostFit fit_;
  Blas blas_;
  Buffer<T> data_, weights_, decay_, shear_, sinc_, model_, residual_, jacobian_;
  Buffer<double> sums_;
  std::vector<double> own_ = {};
  Frames frames_ = {};
  std::vector<T> contrasts_ = {}, offsets_ = {};
  std::vector<Direction> directions_ = {};
};

template <class T>
void Plain<T>::evaluate(const std::vector<double>& parameters) {
  own_ = local(problem_.options, size_.angles, 0, parameters);
  frames_ = frames(problem_.input->physics, size_.frames, problem_.options.mode, own_.data());
  contrasts_.clear();
  offsets_.clear();
  directions_.clear();
  for (int a = 0; a < size_.angles; ++a) {
    const auto of_angle = local(problem_.options, size_.angles, a, parameters);
    contrasts_.push_back(static_cast<T>(of_angle[0]));
    offsets_.push_back(static_cast<T>(of_angle[1]));
    directions_.push_back(direction(problem_.input->physics, degrees_[a], laminar_ ? own_[8] : 0));
  }
  make_planes();
  make_model();
  if (unit_ == Unit::g2) return;
  make_residual();
  if (!normal()) return;
  make_jacobian();
  make_products();
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
