// SPDX-License-Identifier: Apache-2.0
// The plain formulation on a device: one launch per array (reference.cu), products by the library.
// A model of laminar flow is 8 launches, its normal equations 9, p columns and 3 products more.
#pragma once

#include <optional>
#include <vector>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/reference/reference_kernels.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

template <class T>
inline constexpr Precision precision_of = sizeof(T) == 4 ? Precision::f32 : Precision::f64;

inline LaunchShape one_thread_each(std::int64_t count) {
  constexpr unsigned threads = 256;
  return {.grid = {blocks(count, threads)}, .block = {threads}};
}

inline std::size_t count_if(bool wanted, std::int64_t count) {
  return wanted ? static_cast<std::size_t>(count) : 0;
}

template <class T>
std::vector<T> converted(const std::vector<double>& from, bool wanted) {
  return wanted ? std::vector<T>(from.begin(), from.end()) : std::vector<T>();
}

template <class T>
class Plain final : public Computation {
 public:
  Plain(Unit unit, Backend& backend, const Problem& problem)
      : unit_(unit),
        problem_(problem),
        size_(problem.input->size),
        n_(size_.points()),
        laminar_(problem.options.mode == Mode::laminar),
        soft_(problem.options.loss == Loss::soft_l1 && normal()),
        p_(parameter_count(problem.options, size_.angles)),
        fit_(problem, unit == Unit::fit ? accounted_passes : 0),
        kernels_(*backend.compiler, unit, problem),
        parameters_(backend, problem.input->box.start, "parameters"),
        angles_(backend, problem.input->angles, "angles"),
        rates_(backend, std::size_t{16} * size_.frames, "frames"),
        data_(backend, converted<T>(problem.input->data, unit != Unit::g2), "inputs"),
        weights_(backend,
                 converted<T>(problem.input->weights, problem.options.weights == Weights::array),
                 "inputs: weights"),
        decay_(backend, count_if(true, size_.plane()), "planes"),
        shear_(backend, count_if(laminar_, size_.plane()), "planes"),
        g1_(backend, count_if(true, n_), "g1"),
        model_(backend, count_if(true, n_), unit == Unit::g2 ? "result" : "model"),
        residual_(backend, count_if(unit != Unit::g2, n_),
                  unit == Unit::residual ? "result" : "residual"),
        jacobian_(backend, count_if(normal(), p_ * n_), "jacobian"),
        ones_(backend, std::vector<T>(count_if(soft_, n_), 1), "ones"),
        sums_(backend, normal() ? normal_count(p_) : 1, "result") {
    if (unit != Unit::g2) blas_.emplace(backend);
  }

  void step() override {
    if (!is_fit(unit_)) return evaluate();
    fit_.restart();
    do {
      parameters_.upload(fit_.trial());
      evaluate();
    } while (!fit_.take(sums().data()));
  }

  std::vector<double> result() override {
    if (unit_ == Unit::g2) return as_double(model_.to_host());
    if (is_fit(unit_)) return fit_result(fit_.state(), freedom(problem_));
    std::vector<double> all = sums();
    if (normal()) return all;
    const std::vector<T> r = residual_.to_host();
    all.insert(all.end(), r.begin(), r.end());
    return all;
  }

  // For programs that call it again and again.
  void aim(double degrees) { angles_.upload(std::vector{degrees}); }
  void set(const std::vector<double>& parameters) { parameters_.upload(parameters); }
  std::vector<double> sums() const {
    std::vector<double> all = as_double(sums_.to_host());
    if (!soft_) all[0] /= 2;
    return all;
  }
  const T* model() const { return model_.data(); }
  void evaluate() {
    evaluate_model();
    if (unit_ == Unit::g2) return;
    (*kernels_.residuals)(one_thread_each(n_), model_.data(), data_.data(), weights(),
                          residual_.data());
    if (!soft_) dot(residual_.data(), residual_.data(), sums_.data());
    if (normal()) evaluate_normal();
  }

 private:
  bool normal() const { return has_derivatives(unit_); }
  const T* weights() const { return weights_.size() > 0 ? weights_.data() : nullptr; }
  static std::vector<double> as_double(const std::vector<T>& from) {
    return {from.begin(), from.end()};
  }
  int scalings() const { return problem_.options.scaling == Scaling::per_angle ? size_.angles : 1; }
  const double* physical() const { return parameters_.data() + 2 * scalings(); }
  const double* integrals() const { return rates_.data() + 8 * size_.frames; }

  void evaluate_model() {
    const Physics& physics = problem_.input->physics;
    double* const integrals = rates_.data() + 8 * size_.frames;
    const auto plane = one_thread_each(size_.plane()), all = one_thread_each(n_);
    kernels_.rates(one_thread_each(size_.frames), physics.dt, physical(), rates_.data());
    kernels_.accumulate({.block = {32}}, rates_.data(), integrals);
    kernels_.smooth_difference(plane, integrals, decay_.data());
    kernels_.decay(plane, physics.kappa(), decay_.data());
    if (laminar_) kernels_.smooth_difference(plane, integrals + 4 * size_.frames, shear_.data());
    kernels_.sinc_squared(all, physics.flow(), physical(), angles_.data(), shear_.data(),
                          g1_.data());
    kernels_.first_order(all, decay_.data(), g1_.data());
    kernels_.second_order(all, parameters_.data(), g1_.data(), model_.data());
  }

  void evaluate_normal() {
    const int each = scalings(), own = local_parameters(problem_.options.mode);
    const bool per_angle = each > 1 || problem_.options.scaling == Scaling::per_angle;
    for (int k = 0; k < own; ++k)
      for (int a = 0; a < (k < 2 ? each : 1); ++a)
        make_column(k, k < 2 && per_angle ? a : -1,
                    global_parameter(k, a, size_.angles, per_angle));
    if (soft_) soften();
    const int n = static_cast<int>(n_);
    T *const g = sums_.data() + 1, *const matrix = g + p_;
    (*blas_)({.precision = precision_of<T>, .m = p_, .n = 1, .k = n, .lda = n, .ldb = 1, .ldc = 1},
             jacobian_.data(), residual_.data(), g);
    (*blas_)({.precision = precision_of<T>,
              .m = p_,
              .n = p_,
              .k = n,
              .transpose_b = true,
              .lda = n,
              .ldb = n,
              .ldc = p_},
             jacobian_.data(), jacobian_.data(), matrix);
  }
  T* column(int k) const { return jacobian_.data() + k * n_; }
  void make_column(int which, int own, int to) {
    const Physics& physics = problem_.input->physics;
    (*kernels_.column)(one_thread_each(n_), which, own, physics.kappa(), physics.flow(),
                       parameters_.data(), physical(), angles_.data(), integrals(), decay_.data(),
                       shear_.data(), g1_.data(), model_.data(), weights(), column(to));
  }

  // Columns and residuals carry roots of the loss's weight, so that the products are as before.
  void soften() {
    const auto all = one_thread_each(n_);
    const T scale = static_cast<T>(problem_.options.loss_scale);
    (*kernels_.soft_cost)(all, scale, residual_.data(), model_.data());
    dot(model_.data(), ones_.data(), sums_.data());
    for (int k = 0; k < p_; ++k)
      (*kernels_.soften)(all, scale, T(-0.75), residual_.data(), column(k));
    (*kernels_.soften)(all, scale, T(0.25), residual_.data(), residual_.data());
  }

  void dot(const T* a, const T* b, T* out) {
    const int n = static_cast<int>(n_);
    (*blas_)({.precision = precision_of<T>, .m = 1, .n = 1, .k = n, .lda = n, .ldb = 1, .ldc = 1},
             a, b, out);
  }

  Unit unit_;
  Problem problem_;
  Size size_;
  std::int64_t n_;
  bool laminar_, soft_;
  int p_;
  HostFit fit_;
  ReferenceKernels<T> kernels_;
  Buffer<double> parameters_, angles_, rates_;
  Buffer<T> data_, weights_, decay_, shear_, g1_, model_, residual_, jacobian_, ones_, sums_;
  std::optional<Blas> blas_ = {};
};

}  // namespace holdfast::xpcs_fit
