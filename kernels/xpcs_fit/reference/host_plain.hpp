// SPDX-License-Identifier: Apache-2.0
// The plain formulation on the host: array by array like an array program, with the compiler's
// loops and its library's functions. For sources compiled per instruction set.
#pragma once

#include <vector>

#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/starts.hpp"
#include "xpcs_fit/reference/host_parts.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

template <class T>
class Plain final : public Computation {
 public:
  Plain(Unit unit, Backend& backend, const Problem& problem)
      : unit_(unit),
        problem_(problem),
        start_(start_of(problem, 0)),
        fit_(problem, unit == Unit::fit ? accounted_passes : 0),
        blas_(backend),
        planes_(backend, problem),
        data_(backend, converted(problem.input->data, unit != Unit::g2), "inputs"),
        weights_(backend,
                 converted(problem.input->weights, problem.options.weights == Weights::array),
                 "inputs: weights"),
        part_(unit, backend, problem, problem.input->size.points()),
        sums_(backend, normal() ? normal_count(fit_.state().p) : 1, normal() ? "result" : "sums") {}

  void step() override {
    if (!is_fit(unit_)) return evaluate(start_);
    fit_.restart();
    do evaluate(fit_.trial());
    while (!fit_.take(sums_.data()));
  }
  // Each step restarts a fit, which has only one start.
  void start_again(int input) override { start_ = start_of(problem_, input); }

  std::vector<double> result() override {
    if (is_fit(unit_)) return fit_result(fit_.state(), freedom(problem_));
    if (normal()) return sums_.to_host();
    const std::vector<T> values = (unit_ == Unit::g2 ? part_.model() : part_.residual()).to_host();
    std::vector<double> all(values.begin(), values.end());
    if (unit_ == Unit::residual) all.insert(all.begin(), *sums_.data());
    return all;
  }

  // For patterns that call it repeatedly.
  void aim(double degrees) { planes_.aim(degrees); }
  void evaluate(const std::vector<double>& parameters) {
    const PointRange all = {.count = problem_.input->size.points()};
    planes_.evaluate(parameters);
    part_.evaluate_model(planes_, all);
    if (unit_ == Unit::g2) return;
    part_.evaluate_sums(blas_, planes_, all, data_.data(),
                        weights_.size() > 0 ? weights_.data() : nullptr, false, sums_.data());
  }
  double cost() const { return *sums_.data(); }
  const T* model() const { return part_.model().data(); }

 private:
  bool normal() const { return has_derivatives(unit_); }
  static std::vector<T> converted(const std::vector<double>& from, bool wanted) {
    return wanted ? std::vector<T>(from.begin(), from.end()) : std::vector<T>();
  }

  Unit unit_;
  Problem problem_;
  std::vector<double> start_;
  HostFit fit_;
  Blas blas_;
  PlainPlanes<T> planes_;
  Buffer<T> data_, weights_;
  PlainPart<T> part_;
  Buffer<double> sums_;
};

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
