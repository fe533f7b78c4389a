// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the initial states and the results of fits, for every variant.
#pragma once

#include <cmath>
#include <vector>

#include "galaxy_shear/problem/problem.hpp"
#include "galaxy_shear/problem/walks.hpp"

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

// The result of render_grad.
inline std::vector<double> summed_up(std::vector<double> sums,
                                     const std::vector<double>& gradients) {
  sums.insert(sums.end(), gradients.begin(), gradients.end());
  return sums;
}

// losses: [steps, batch]. The result of forward, svi_step or map, as described in galaxy_shear.hpp.
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

// Initial states of a scene: the shear's, then each object's.
inline std::vector<FitState> first_objects(const Problem& problem) {
  const SceneModel model = scene_model_of(problem.scene);
  std::vector<FitState> states(1 + problem.objects);
  const double* start = problem.starts.data();
  for (FitState& state : states) {
    const Model& own = &state == &states[0] ? model.shear : model.object;
    begin(own, start, state);
    start += own.latents;
  }
  return states;
}
inline std::vector<double> told_objects(const std::vector<FitState>& states, double loss) {
  std::vector<double> result;
  for (const auto part : {&FitState::u, &FitState::m, &FitState::v})
    for (const FitState& state : states)
      result.insert(result.end(), state.*part, state.*part + (&state == &states[0] ? 2 : 6));
  result.insert(result.end(), {loss, double(states[0].t), double(states[0].status)});
  return result;
}

// Initial walks, at the starts; the variational ones with the problem's own noise if it has any.
inline void begin_walk(const Problem& problem, const double* start, Variational::State& state) {
  const auto latents = static_cast<int>(problem.scene.latents.size());
  state.power1 = state.power2 = 1;
  state.drawn = problem.noise.empty();
  for (int k = 0; k < latents; ++k) {
    state.location[k] = start[k];
    state.rho[k] = std::log(std::expm1(problem.spread));
    if (!state.drawn) state.noise[k] = problem.noise[k];
  }
}
inline void begin_walk(const Problem& problem, const double* start, Hamiltonian::State& state) {
  for (std::size_t k = 0; k < problem.scene.latents.size(); ++k) state.u[k] = start[k];
}
template <class Walk>
std::vector<typename Walk::State> first_walks(const Problem& problem) {
  std::vector<typename Walk::State> states(problem.batch);
  for (int b = 0; b < problem.batch; ++b) {
    states[b] = {};
    begin_walk(problem, problem.starts.data() + b * problem.scene.latents.size(), states[b]);
  }
  return states;
}

// A walk's result for one galaxy: fields with a number per latent, then single numbers.
inline std::vector<std::vector<double>> told_of(const Variational::State& state, double loss,
                                                std::size_t latents) {
  const auto part = [=](const double* from) { return std::vector<double>(from, from + latents); };
  return {part(state.location),  part(state.rho), part(state.m),
          part(state.m + 8),     {loss},          {double(state.evaluations)},
          {double(state.status)}};
}
inline std::vector<std::vector<double>> told_of(const Hamiltonian::State& state, double loss,
                                                std::size_t latents) {
  const auto part = [=](const double* from) { return std::vector<double>(from, from + latents); };
  return {part(state.u), part(state.at),        part(state.momentum),       {loss},
          {state.error}, {double(state.taken)}, {double(state.evaluations)}};
}

// The result of vi_step or hmc_sample, field after field.
template <class Walk>
std::vector<double> walked(const Problem& problem, const std::vector<typename Walk::State>& states,
                           const std::vector<double>& losses) {
  std::vector<std::vector<double>> fields;
  for (int b = 0; b < problem.batch; ++b) {
    const auto own = told_of(states[b], losses[b], problem.scene.latents.size());
    fields.resize(own.size());
    for (std::size_t f = 0; f < own.size(); ++f)
      fields[f].insert(fields[f].end(), own[f].begin(), own[f].end());
  }
  std::vector<double> all;
  for (const auto& field : fields) all.insert(all.end(), field.begin(), field.end());
  return all;
}

}  // namespace holdfast::galaxy_shear
