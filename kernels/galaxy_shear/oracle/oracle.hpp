// SPDX-License-Identifier: Apache-2.0
// Answers that share no code with a variant: direct cosine sums over all (N + 1)^2 samples of the
// Fourier plane as dense products, derivatives by complex step. No transform, no adjoint formula.
#pragma once

#include <vector>

#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear::oracle {

// The transform of the point-spread function at q = |k| / pixel scale, by the library's Bessel
// function.
double psf(const PsfShape& shape, double q);

// [H + 1, H + 1]: psf and pixel at the samples c, r >= 0.
std::vector<double> response(const Scene& scene);

// [S, S].
std::vector<double> image(const Scene& scene, const Parameters& z);

// d/dz of sum cotangent * image, all eight.
Parameters vjp(const Scene& scene, const Parameters& z, const std::vector<double>& cotangent);

// The parameters for the latents u.
Parameters constrained(const Scene& scene, const std::vector<double>& u);

// Latents of galaxy b drawn from their priors: Philox4x32-10, seed 100, stream 1.
std::vector<double> drawn(const Scene& scene, int b);

struct Objective {
  double loss = 0;
  std::vector<double> gradient = {};  // by u
};
Objective objective(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u);
double loss(const Scene& scene, const std::vector<double>& data, const std::vector<double>& u);

// The priors' part of a loss: minus the log densities of the parameters for u.
double prior_loss(const Scene& scene, const std::vector<double>& u);

// Adam starting at `u`.
struct Fit {
  std::vector<double> u = {}, m = {}, v = {};
  std::vector<double> losses = {};  // before each step
};
Fit fit(const Scene& scene, const std::vector<double>& data, std::vector<double> u, int steps);

// Standard deviations of the latents' parameters around z, given the noise of one image, without
// the priors, which in the benchmark are thousands of times wider: [latents].
std::vector<double> posterior_widths(const Scene& scene, const Parameters& z);

// The objective of a scene of several objects in one image [S, S] that share one shear: u is the
// shear, then six latents per object.
Objective scene_objective(const Scene& scene, const std::vector<double>& data,
                          const std::vector<double>& u);
Fit scene_fit(const Scene& scene, const std::vector<double>& data, std::vector<double> u,
              int steps);

// The loss of u as a density of u, including the volume dz/du: the loss of walks.
Objective stretched(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u);

// Variational inference from location u and a spread per latent, with noise of Philox4x32-10, seed
// 100, stream 2: Adam on location and rho.
struct Inference {
  std::vector<double> location = {}, rho = {}, m = {}, rho_m = {};
  double loss = 0;  // before the last step
};
Inference inference(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u, double spread, int steps);

// Hamiltonian Monte Carlo from u: each sample has 16 leapfrogs of 1e-5, with stream 3.
struct Chain {
  std::vector<double> u = {}, end = {}, momentum = {};  // of the chain; of the last trajectory
  double loss = 0, error = 0;                           // at its end; of its energy
  int taken = 0;
};
Chain chain(const Scene& scene, const std::vector<double>& data, std::vector<double> u,
            int samples);

}  // namespace holdfast::galaxy_shear::oracle
