// SPDX-License-Identifier: Apache-2.0
// Private to the oracle: parameters and prior densities of latents, also complex ones, and Adam
// from a start.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/oracle/planes.hpp"

namespace holdfast::galaxy_shear::oracle {

template <class T>
T logistic(T u) {
  return T(1) / (T(1) + std::exp(-u));
}

template <class T>
T transformed(const PriorLaw& law, T u) {
  if (law.kind == PriorLaw::Kind::log_normal) return std::exp(u);
  if (law.kind == PriorLaw::Kind::uniform) return law.a + (law.b - law.a) * logistic(u);
  return u;
}

// Minus the log density of z, not of u.
template <class T>
T negative_log(const PriorLaw& law, T u) {
  if (law.kind == PriorLaw::Kind::uniform) return T(std::log(law.b - law.a));
  const double constant = std::log(law.b) + std::log(2 * pi) / 2;
  const bool logarithmic = law.kind == PriorLaw::Kind::log_normal;
  const T distance = u - (logarithmic ? std::log(law.a) : law.a);
  return distance * distance / (2 * law.b * law.b) + constant + (logarithmic ? u : T(0));
}

Fit descended(double rate, std::vector<double> u, int steps,
              const std::function<Objective(const std::vector<double>&)>& objective_at);

}  // namespace holdfast::galaxy_shear::oracle
