// SPDX-License-Identifier: Apache-2.0
// Private to the workload: fits as every variant begins and tells them.
#pragma once

#include <cmath>
#include <vector>

#include "galaxy_shear/problem/problem.hpp"

namespace holdfast::galaxy_shear {

inline std::vector<FitState> first_states(const Problem& problem) {
  const Model model = model_of(problem.scene);
  std::vector<FitState> states(problem.batch);
  for (int b = 0; b < problem.batch; ++b)
    begin(model, problem.starts.data() + b * model.latents, states[b]);
  return states;
}

// [batch, 8], of which the latents are used.
inline std::vector<double> padded_starts(const Problem& problem) {
  std::vector<double> starts;
  for (const FitState& state : first_states(problem))
    starts.insert(starts.end(), state.u, state.u + 8);
  return starts;
}

// losses: [steps, batch]. The result of forward, svi_step or map, as galaxy_shear.hpp has it.
inline std::vector<double> told(const Problem& problem, const std::vector<FitState>& states,
                                const std::vector<double>& losses) {
  std::vector<double> result;
  const auto add = [&](auto&& values) {
    for (const FitState& state : states)
      result.insert(result.end(), values(state), values(state) + problem.scene.latent_count());
  };
  if (problem.unit == Unit::forward) {
    if (problem.sample) add([](const FitState& state) { return state.u; });
    result.insert(result.end(), losses.begin(), losses.end());
    return result;
  }
  add([](const FitState& state) { return state.u; });
  if (problem.unit == Unit::svi_step) {
    add([](const FitState& state) { return state.m; });
    add([](const FitState& state) { return state.v; });
    result.insert(result.end(), losses.begin(), losses.end());
    for (const FitState& state : states) result.push_back(state.t);
  } else {
    for (int b = 0; b < problem.batch; ++b)
      for (int t = 0; t < problem.steps; ++t) result.push_back(losses[t * problem.batch + b]);
  }
  for (const FitState& state : states) result.push_back(state.status);
  return result;
}

}  // namespace holdfast::galaxy_shear
