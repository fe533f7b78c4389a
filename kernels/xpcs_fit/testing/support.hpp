// SPDX-License-Identifier: Apache-2.0
// For tests: a problem of a size, in a form.
#pragma once

#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

inline Problem problem(Size size, Options options, Physics physics, double noise = 0.01) {
  return {make_input({.size = size,
                      .physics = physics,
                      .noise = noise,
                      .weighted = options.weights == Weights::array},
                     options),
          options};
}
inline Problem problem(Size size, Options options, double noise = 0.01) {
  return problem(size, options, default_physics(size), noise);
}

}  // namespace holdfast::xpcs_fit
