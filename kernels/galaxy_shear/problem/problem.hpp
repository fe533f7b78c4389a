// SPDX-License-Identifier: Apache-2.0
// Private to the workload: a problem as its implementations get it, checked and complete.
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
// psf_table: attenuation by optics and pixel, the table of a plan. vi_step: one step of Adam on a
// normal distribution of the latents. hmc_sample: one sample of Hamiltonian Monte Carlo.
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
// Gradient evaluations in one step; 0 for units that compare no image with data.
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
  std::vector<double> data = {};    // [batch, S, S], of the others; zeros if nothing executes
  std::vector<double> cotangent = {};  // [S, S], of render_grad

  int split = 0;  // on a device: over several blocks even where one would hold a galaxy, at most so
                  // many galaxies at a time
  double spread = 0.1;             // initial spread, of vi_step
  std::vector<double> noise = {};  // [latents], of vi_step, instead of drawn noise

  // Whether each galaxy's image is compared with its data.
  bool fits() const {
    return unit == Unit::forward || unit == Unit::svi_step || unit == Unit::map || walks(unit);
  }
};

Model model_of(const Scene& scene);
SceneModel scene_model_of(const Scene& scene);
Optics optics_of(const PsfShape& shape);

// Attenuation of a sample of the Fourier plane by its distance from the axes in steps: a row
// [H + 1] of which it is a product, or the symmetric table [H + 1, H + 1].
bool separable(const PsfShape& shape);
std::vector<double> attenuation(const Scene& scene);

}  // namespace holdfast::galaxy_shear
