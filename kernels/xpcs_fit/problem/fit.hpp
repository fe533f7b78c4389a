// SPDX-License-Identifier: Apache-2.0
// A fit whose solver runs on the host, for any source of passes.
#pragma once

#include <vector>

#include "xpcs_fit/problem/normal.hpp"
#include "xpcs_fit/problem/solver.hpp"

namespace holdfast::xpcs_fit {

// The number of passes of an accounted fit.
inline constexpr int accounted_passes = 8;

class HostFit {
 public:
  // passes: how many, or 0 until it converges.
  HostFit(const Problem& problem, int passes);

  void restart() { restart_at(box_.start); }
  void restart_at(const std::vector<double>& start);  // moved to the nearest point in the box
  // Takes F, g, N at trial(); true after the last pass. Checks the first F.
  bool take(const double* normal);
  const std::vector<double>& trial();
  // Points minus parameters, if some points are left out.
  void set_freedom(double freedom) { freedom_ = freedom; }
  FitState state() { return {memory_.data(), p_}; }
  const std::vector<double>& memory() const { return memory_; }  // the memory of its state

 private:
  int p_, passes_;
  Box box_;
  double freedom_;
  std::vector<double> memory_, steps_, scaled_, work_, trial_;
};

// Throws Error{bad_input} beginning with nonfinite_start if F at the start is not finite.
void check_first_cost(double cost);

// The result of a fit: F, passes, status, then parameters and their standard deviations, [3 + 2 p].
std::vector<double> fit_result(const FitState& fit, double freedom);

inline double freedom(const Problem& problem) {
  return static_cast<double>(problem.input->size.points()) -
         parameter_count(problem.options, problem.input->size.angles);
}

}  // namespace holdfast::xpcs_fit
