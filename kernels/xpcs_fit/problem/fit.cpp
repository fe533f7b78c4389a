// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/problem/fit.hpp"

#include <cmath>

#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {

HostFit::HostFit(const Problem& problem, int passes)
    : p_(parameter_count(problem.options, problem.input->size.angles)),
      passes_(passes),
      box_(problem.input->box),
      freedom_(freedom(problem)),
      memory_(static_cast<std::size_t>(fit_count(p_))),
      steps_(static_cast<std::size_t>(damping_count) * p_),
      scaled_(static_cast<std::size_t>(scaled_count(p_))),
      work_(static_cast<std::size_t>(box_step_work(p_))),
      trial_(static_cast<std::size_t>(p_)) {
  restart();
}

void HostFit::restart_at(const std::vector<double>& start) {
  xpcs_fit::restart(state(), {start.data(), box_.lower.data(), box_.upper.data()});
}

bool HostFit::take(const double* normal) {
  const FitState fit = state();
  const BoxView box = {box_.start.data(), box_.lower.data(), box_.upper.data()};
  const bool steady = passes_ > 0;
  if (fit.passes() == 0) check_first_cost(normal[0]);
  judge(fit, normal);
  if (!steady && fit.status() != running) return true;
  fill_units(fit, scaled_.data(), 0, 1);
  fill_scaled(fit, scaled_.data(), 0, 1);
  bool again = true;
  while (again) {
    bool found[damping_count];
    double gains[damping_count];
    for (int i = 0; i < damping_count; ++i)
      gains[i] =
          try_damping(fit, scaled_.data(), box, i, steps_.data() + i * p_, work_.data(), found[i]);
    again = propose(fit, box, freedom_, steady, steps_.data(), gains, found);
  }
  return is_over(fit, passes_);
}

const std::vector<double>& HostFit::trial() {
  trial_.assign(state().trial(), state().trial() + p_);
  return trial_;
}

void check_first_cost(double cost) {
  if (!std::isfinite(cost))
    throw Error(Fault::bad_input, text("nonfinite_start: F at the start is ", cost,
                                       "; data, start or weights hold what is no number"));
}

std::vector<double> fit_result(const FitState& fit, double freedom) {
  const int p = fit.p;
  std::vector<double> all = {fit.cost(), fit.passes(), fit.status()};
  all.insert(all.end(), fit.parameters(), fit.parameters() + p);
  // The covariance, from N scaled to a diagonal of one.
  const auto entry = [&](int k, int l) { return fit.matrix()[k * p + l]; };
  std::vector<double> a(static_cast<std::size_t>(p) * p), free(static_cast<std::size_t>(p));
  for (int k = 0; k < p; ++k)
    for (int l = 0; l < p; ++l) a[k * p + l] = entry(k, l) / std::sqrt(entry(k, k) * entry(l, l));
  const bool definite = factorise(a.data(), free.data(), p);
  for (int k = 0; k < p; ++k) {
    std::vector<double> column(static_cast<std::size_t>(p));
    column[k] = 1;
    if (definite) substitute(a.data(), free.data(), p, column.data());
    const double variance = column[k] / entry(k, k) * 2 * fit.cost() / freedom;
    all.push_back(definite ? std::sqrt(variance) : INFINITY);
  }
  return all;
}

}  // namespace holdfast::xpcs_fit
