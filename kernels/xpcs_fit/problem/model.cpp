// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/problem/model.hpp"

#include <cmath>

#include "xpcs_fit/problem/formulas.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Only differences matter. Anchored at frame 0, where a negative power of time is huge, all others
// would lose their digits.
std::vector<double> anchored(const std::vector<Rate>& rates, double (*of)(const Rate&)) {
  std::vector<double> sum(rates.size());
  const auto half = [&](std::size_t i) { return (of(rates[i]) + of(rates[i + 1])) / 2; };
  sum[0] = -half(0);
  for (std::size_t i = 1; i + 1 < rates.size(); ++i) sum[i + 1] = sum[i] + half(i);
  return sum;
}

void integrate(const std::vector<Rate>& rates, std::vector<double>& sum,
               std::vector<double> (&by)[3]) {
  sum = anchored(rates, [](const Rate& one) { return one.value; });
  by[0] = anchored(rates, [](const Rate& one) { return one.by[0]; });
  by[1] = anchored(rates, [](const Rate& one) { return one.by[1]; });
  by[2] = anchored(rates, [](const Rate& one) { return one.by[2]; });
}

}  // namespace

Frames frames(const Physics& physics, int count, Mode mode, const double* parameters) {
  Frames all;
  std::vector<Rate> rates(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) rates[i] = diffusion_rate(i * physics.dt, parameters + 2);
  integrate(rates, all.s, all.s_by);
  if (mode == Mode::at_rest) return all;
  for (int i = 0; i < count; ++i) rates[i] = shear_rate(i * physics.dt, physics.dt, parameters + 5);
  integrate(rates, all.q, all.q_by);
  return all;
}

Direction direction(const Physics& physics, double angle, double phi_0) {
  const double psi = (phi_0 - angle) * degree;
  return {physics.flow() * std::cos(psi), physics.flow() * std::sin(psi) * degree};
}

std::vector<double> local(const Options& options, int angles, int a,
                          const std::vector<double>& parameters) {
  std::vector<double> own;
  for (int k = 0; k < local_parameters(options.mode); ++k)
    own.push_back(
        parameters[global_parameter(k, a, angles, options.scaling == Scaling::per_angle)]);
  return own;
}

}  // namespace holdfast::xpcs_fit
