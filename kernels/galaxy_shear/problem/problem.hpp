// SPDX-License-Identifier: Apache-2.0
// Private to the workload: what its implementations are given, checked and complete.
#pragma once

#include <vector>

#include "galaxy_shear/problem/formulas.hpp"
#include "galaxy_shear/problem/objects.hpp"
#include "galaxy_shear/problem/optics.hpp"
#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear {

// render: images of the truth. render_grad: their product with a cotangent and its derivative.
// forward: the loss at the start, or at latents drawn from their priors. svi_step: one step of a
// fit. map: a whole fit from the start.
// psf_table: what optics and pixels do to samples, the table of a plan. vi_step: one step of Adam
// on a normal distribution of the latents. hmc_sample: one sample of Hamiltonian Monte Carlo.
// scene_step: one step of a fit of several galaxies in one image.
enum class Unit {
  render,
  render_grad,
  forward,
  svi_step,
  map,
  psf_table,
  vi_step,
  hmc_sample,
  scene_step
};

inline bool walks(Unit unit) {
  return unit == Unit::vi_step || unit == Unit::hmc_sample;
}
// Evaluations of the gradient in one step; 0 where none compares an image with data.
int evaluations_of(Unit unit);

struct Problem {
  Unit unit = Unit::render;
  Scene scene = {};
  int batch = 1;
  int objects = 0;      // of a scene_step
  int steps = 1;        // of a map
  bool sample = false;  // forward: at latents drawn from their priors
  Launch launch = Launch::host;
  Precision precision = Precision::f64;
  std::vector<double> truths = {};  // [batch, 8], of render and render_grad
  std::vector<double> starts = {};  // [batch, latents], of the others; of a scene [2 + 6 objects]
  std::vector<double> data = {};    // [batch, S, S], of the others; zeros where nothing executes
  std::vector<double> cotangent = {};  // [S, S], of render_grad

  int split = 0;  // on a device: over several blocks even where one would hold a galaxy, at most so
                  // many galaxies at a time
  double spread = 0.1;             // of vi_step, where it begins
  std::vector<double> noise = {};  // [latents], of vi_step, in place of what is drawn

  // Whether images are compared with data, each galaxy's with its own.
  bool fits() const {
    return unit == Unit::forward || unit == Unit::svi_step || unit == Unit::map || walks(unit);
  }
};

Model model_of(const Scene& scene);
SceneModel scene_model_of(const Scene& scene);
Optics optics_of(const PsfShape& shape);

// What optics and pixels do to a sample of the Fourier plane, by its distance from the axes in
// steps: a row of [H + 1], whose products they are, or the symmetric table [H + 1, H + 1].
bool separable(const PsfShape& shape);
std::vector<double> attenuation(const Scene& scene);

}  // namespace holdfast::galaxy_shear
