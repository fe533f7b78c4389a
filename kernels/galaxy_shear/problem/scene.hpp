// SPDX-License-Identifier: Apache-2.0
// What is simulated and what is fitted, as data: sizes, optics, noise, priors, the truth and the
// start. Numbers only, so that both variants and oracle may read it.
#pragma once

#include <array>
#include <vector>

#include "galaxy_shear/problem/options.hpp"

namespace holdfast::galaxy_shear {

// Everything that describes a galaxy, in this order everywhere: reduced shear g, flux, half-light
// radius [arcsec], distortion e, centre [pixels].
enum Parameter { g1, g2, flux, hlr, e1, e2, x, y, parameters };
using Parameters = std::array<double, parameters>;

struct PsfShape {
  Psf kind = Psf::gaussian;
  double width =
      0.382;  // arcsec: standard deviation of a Gaussian, full width at half maximum of a Moffat
  double beta = 2.5;  // of a Moffat
};

// Normal(mean, sd), LogNormal(median, sd of the logarithm) or Uniform(from, to).
struct PriorLaw {
  enum class Kind { normal, log_normal, uniform };
  Kind kind = Kind::normal;
  double a = 0, b = 1;
};

struct Scene {
  int fft = 128, image = 48;
  double pixel_scale = 0.263;  // arcsec per pixel
  PsfShape psf = {};
  double noise = 1e-6;  // standard deviation per pixel
  Parameters fixed = {0, 0, 1, 0.5, 0, 0, 0, 0};
  std::array<PriorLaw, parameters> priors = {};  // of the latents
  std::vector<int> latents = {g1, g2, x, y};     // ascending; u has their order
  double learning_rate = 0.1;

  int latent_count() const { return static_cast<int>(latents.size()); }
};

// The published benchmark (four latents) or the published test of all eight.
Scene scene_of(const Options& options);

// The truth of realisation b, and the start of a fit, in u.
Parameters truth_of(const Scene& scene, int b);
std::vector<double> start_of(const Scene& scene);

// Several galaxies of one scene: each with its own light, shape and position, all with one shear;
// and the start of their fit, in u: the shear, then six latents of each.
std::vector<Parameters> objects_of(const Scene& scene, int objects);
std::vector<double> start_of_objects(const Scene& scene, int objects);

// The latents u for parameters z.
std::vector<double> latents_of(const Scene& scene, const Parameters& z);

// Throws Error{bad_input} naming field, value and limit.
void validate(const Scene& scene);

}  // namespace holdfast::galaxy_shear
