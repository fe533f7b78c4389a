// SPDX-License-Identifier: Apache-2.0
// Inputs: a known truth with noise that depends on its index alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "xpcs_fit/data/noise.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

enum class NamedSize { t, s0, s, l, c, x, xx };
Size size_of(NamedSize name);
// T_total = 100 s.
Physics default_physics(const Size& size);

struct Recipe {
  Size size = {};
  Physics physics = {};
  double noise = 0.01;
  std::uint64_t seed = 20251022;
  // 1 / sigma with sigma = 1 + z / 8 from a separate stream, for Weights::array.
  bool weighted = false;
  // No data, if nothing executes or they are generated.
  bool sized_only = false;
};

// The model at the truth of `options`, times 1 + noise z, with the default box.
std::shared_ptr<const Input> make_input(const Recipe& recipe, const Options& options);

// The model at the start of the box, for one contrast and one offset, [angles, frames, frames].
std::vector<double> start_model(const Problem& problem);

}  // namespace holdfast::xpcs_fit
