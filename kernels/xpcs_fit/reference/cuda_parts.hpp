// SPDX-License-Identifier: Apache-2.0
// The parts of a plain evaluation on a device: arrays per frame, which a set of parameters fills
// once, and arrays over a part of the points. One launch per array; the library's general products
// (their cost: README, Sums).
#pragma once

#include <vector>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/problem/normal.hpp"
#include "xpcs_fit/reference/parts.hpp"
#include "xpcs_fit/reference/reference_kernels.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

inline LaunchShape one_thread_each(std::int64_t count) {
  constexpr unsigned threads = 256;
  return {.grid = {blocks(count, threads)}, .block = {threads}};
}

// Rates, their integrals, and planes of all pairs of frames.
template <class T>
class PlainPlanes {
 public:
  PlainPlanes(Backend& backend, const Problem& problem)
      : physics_(problem.input->physics),
        size_(problem.input->size),
        laminar_(problem.options.mode == Mode::laminar),
        scalings_(problem.options.scaling == Scaling::per_angle ? size_.angles : 1),
        parameters_(backend, problem.input->box.start, "parameters"),
        angles_(backend, problem.input->angles, "angles"),
        rates_(backend, std::size_t{16} * size_.frames, "frames"),
        decay_(backend, count_if(true, size_.plane()), "planes"),
        shear_(backend, count_if(laminar_, size_.plane()), "planes") {}

  void aim(double degrees) { angles_.upload(std::vector{degrees}); }
  void set(const std::vector<double>& parameters) { parameters_.upload(parameters); }
  void evaluate(const ReferenceKernels<T>& kernels) const {
    double* const integrals = rates_.data() + 8 * size_.frames;
    const auto plane = one_thread_each(size_.plane());
    kernels.rates(one_thread_each(size_.frames), physics_.dt, physical(), rates_.data());
    kernels.accumulate({.block = {32}}, rates_.data(), integrals);
    kernels.smooth_difference(plane, integrals, decay_.data());
    kernels.decay(plane, physics_.kappa(), decay_.data());
    if (laminar_) kernels.smooth_difference(plane, integrals + 4 * size_.frames, shear_.data());
  }

  const Physics& physics() const { return physics_; }
  const double* parameters() const { return parameters_.data(); }
  const double* physical() const { return parameters_.data() + 2 * scalings_; }
  const double* angles() const { return angles_.data(); }
  const double* integrals() const { return rates_.data() + 8 * size_.frames; }
  const T* decay() const { return decay_.data(); }
  const T* shear() const { return shear_.data(); }

 private:
  Physics physics_;
  Size size_;
  bool laminar_;
  int scalings_;
  Buffer<double> parameters_, angles_, rates_;
  Buffer<T> decay_, shear_;
};

// Arrays of a range of points, at most as many as the kernels were compiled for.
template <class T>
class PlainPart {
 public:
  PlainPart(Unit unit, Backend& backend, const Problem& problem, std::int64_t most)
      : unit_(unit),
        options_(problem.options),
        angles_(problem.input->size.angles),
        soft_(problem.options.loss == Loss::soft_l1 && has_derivatives(unit)),
        p_(parameter_count(problem.options, angles_)),
        g1_(backend, count_if(true, most), "g1"),
        model_(backend, count_if(true, most), unit == Unit::g2 ? "result" : "model"),
        residual_(backend, count_if(unit != Unit::g2, most),
                  unit == Unit::residual ? "result" : "residual"),
        jacobian_(backend, count_if(has_derivatives(unit), p_ * most), "jacobian"),
        ones_(backend, std::vector<T>(count_if(soft_, most), 1), "ones") {}

  const Buffer<T>& model() const { return model_; }
  const Buffer<T>& residual() const { return residual_; }
  bool soft() const { return soft_; }

  void evaluate_model(const ReferenceKernels<T>& kernels, const PlainPlanes<T>& of,
                      PointRange range) const {
    const auto all = one_thread_each(range.count);
    kernels.sinc_squared(all, range.first, of.physics().flow(), of.physical(), of.angles(),
                         of.shear(), g1_.data());
    kernels.first_order(all, range.first, of.decay(), g1_.data());
    kernels.second_order(all, range.first, of.parameters(), g1_.data(), model_.data());
  }
  // Writes twice F (for soft_l1 F), g, N to `sums`, or adds them. data, weights: of the part.
  void evaluate_sums(const ReferenceKernels<T>& kernels, Blas& blas, const PlainPlanes<T>& of,
                     PointRange range, const T* data, const T* weights, bool adds, T* sums) const {
    const int n = static_cast<int>(range.count);
    (*kernels.residuals)(one_thread_each(n), model_.data(), data, weights, residual_.data());
    if (!soft_) dot(blas, n, residual_.data(), residual_.data(), adds, sums);
    if (!has_derivatives(unit_)) return;
    make_columns(kernels, of, range, weights);
    if (soft_) soften(kernels, blas, n, adds, sums);
    T *const g = sums + 1, *const matrix = g + p_;
    const double beta = adds ? 1 : 0;
    blas({.precision = precision_of<T>,
          .m = p_,
          .n = 1,
          .k = n,
          .lda = n,
          .ldb = 1,
          .ldc = 1,
          .beta = beta},
         jacobian_.data(), residual_.data(), g);
    blas({.precision = precision_of<T>,
          .m = p_,
          .n = p_,
          .k = n,
          .transpose_b = true,
          .lda = n,
          .ldb = n,
          .ldc = p_,
          .beta = beta},
         jacobian_.data(), jacobian_.data(), matrix);
  }

 private:
  void make_columns(const ReferenceKernels<T>& kernels, const PlainPlanes<T>& of, PointRange range,
                    const T* weights) const {
    const bool per_angle = options_.scaling == Scaling::per_angle;
    const int each = per_angle ? angles_ : 1;
    for (int k = 0; k < local_parameters(options_.mode); ++k)
      for (int a = 0; a < (k < 2 ? each : 1); ++a)
        (*kernels.column)(
            one_thread_each(range.count), range.first, k, k < 2 && per_angle ? a : -1,
            of.physics().kappa(), of.physics().flow(), of.parameters(), of.physical(), of.angles(),
            of.integrals(), of.decay(), of.shear(), g1_.data(), model_.data(), weights,
            jacobian_.data() + global_parameter(k, a, angles_, per_angle) * range.count);
  }

  // Columns and residuals are scaled by roots of the loss's weight, so the products stay the same.
  void soften(const ReferenceKernels<T>& kernels, Blas& blas, int n, bool adds, T* sums) const {
    const auto all = one_thread_each(n);
    const T scale = static_cast<T>(options_.loss_scale);
    (*kernels.soft_cost)(all, scale, residual_.data(), model_.data());
    dot(blas, n, model_.data(), ones_.data(), adds, sums);
    for (int k = 0; k < p_; ++k)
      (*kernels.soften)(all, scale, T(-0.75), residual_.data(),
                        jacobian_.data() + std::int64_t{k} * n);
    (*kernels.soften)(all, scale, T(0.25), residual_.data(), residual_.data());
  }

  void dot(Blas& blas, int n, const T* a, const T* b, bool adds, T* out) const {
    blas({.precision = precision_of<T>,
          .m = 1,
          .n = 1,
          .k = n,
          .lda = n,
          .ldb = 1,
          .ldc = 1,
          .beta = adds ? 1. : 0.},
         a, b, out);
  }

  Unit unit_;
  Options options_;
  int angles_;
  bool soft_;
  int p_;
  Buffer<T> g1_, model_, residual_, jacobian_, ones_;
};

}  // namespace holdfast::xpcs_fit
