// SPDX-License-Identifier: Apache-2.0
// The plain formulation on a device: one launch per array (reference.cu), products by the library.
// A laminar model takes 8 launches; its normal equations take 9, one for each of p columns, and 3
// products.
#pragma once

#include <optional>
#include <vector>

#include "xpcs_fit/data/held.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/starts.hpp"
#include "xpcs_fit/reference/cuda_parts.hpp"

namespace holdfast::xpcs_fit {

template <class T>
class Plain final : public Computation {
 public:
  Plain(Unit unit, Backend& backend, const Problem& problem)
      : unit_(unit),
        problem_(problem),
        p_(parameter_count(problem.options, problem.input->size.angles)),
        fit_(problem, unit == Unit::fit ? accounted_passes : 0),
        kernels_(*backend.compiler, unit, problem, problem.input->size.points()),
        planes_(backend, problem),
        data_(held_data<T>(backend, problem, unit != Unit::g2)),
        weights_(held_weights<T>(backend, problem)),
        part_(unit, backend, problem, problem.input->size.points()),
        sums_(backend, has_derivatives(unit) ? normal_count(p_) : 1, "result") {
    if (unit != Unit::g2) blas_.emplace(backend);
  }

  void step() override {
    if (!is_fit(unit_)) return evaluate();
    fit_.restart();
    do {
      planes_.set(fit_.trial());
      evaluate();
    } while (!fit_.take(sums().data()));
  }
  // Each step restarts a fit, which has only one start.
  void start_again(int input) override { planes_.set(start_of(problem_, input)); }

  std::vector<double> result() override {
    if (unit_ == Unit::g2) return as_double(part_.model().to_host());
    if (is_fit(unit_)) return fit_result(fit_.state(), freedom(problem_));
    std::vector<double> all = sums();
    if (has_derivatives(unit_)) return all;
    const std::vector<T> r = part_.residual().to_host();
    all.insert(all.end(), r.begin(), r.end());
    return all;
  }

  // For patterns that call it repeatedly.
  void aim(double degrees) { planes_.aim(degrees); }
  void set(const std::vector<double>& parameters) { planes_.set(parameters); }
  std::vector<double> sums() const {
    std::vector<double> all = as_double(sums_.to_host());
    if (!part_.soft()) all[0] /= 2;
    return all;
  }
  const T* model() const { return part_.model().data(); }
  void evaluate() {
    planes_.evaluate(kernels_);
    part_.evaluate_model(kernels_, planes_, all());
    if (unit_ == Unit::g2) return;
    part_.evaluate_sums(kernels_, *blas_, planes_, all(), data_.data(),
                        weights_.size() > 0 ? weights_.data() : nullptr, false, sums_.data());
  }

 private:
  PointRange all() const { return {.count = problem_.input->size.points()}; }
  static std::vector<double> as_double(const std::vector<T>& from) {
    return {from.begin(), from.end()};
  }

  Unit unit_;
  Problem problem_;
  int p_;
  HostFit fit_;
  ReferenceKernels<T> kernels_;
  PlainPlanes<T> planes_;
  Buffer<T> data_, weights_;
  PlainPart<T> part_;
  Buffer<T> sums_;
  std::optional<Blas> blas_ = {};
};

}  // namespace holdfast::xpcs_fit
