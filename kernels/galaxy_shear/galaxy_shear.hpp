// SPDX-License-Identifier: Apache-2.0
// Images of sheared galaxies through a Fourier-space model, its gradient by hand, and fits of shear
// that stay on the device (README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "computation.hpp"
#include "galaxy_shear/problem/options.hpp"
#include "galaxy_shear/problem/problem.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::galaxy_shear {

// A unit of work on a batch of realisations, each with its own truth, drawn and observed as in
// problem/scene.hpp and data/data.hpp. A step and its result:
//   render       draws the truth: images [batch, S, S]
//   render_grad  draws the truth and sums its pixels, weighted by a cotangent of ones, with the
//                derivative of the sum by each parameter: [batch], [batch, 8]
//   forward      the loss at the start of a fit: [batch]; with options.sample at latents drawn from
//                their priors: u [batch, latents], loss
//   svi_step     one step of Adam, chained: u, m, v [batch, latents], loss, t, status [batch]
//   map          a whole fit from its start: u [batch, latents], losses [batch, steps], status
//   vi_step      one step of Adam on a normal distribution of the latents, chained: location, rho
//                and the means of their slopes [batch, latents] each, loss, evaluations, status
//   hmc_sample   one sample of 16 leapfrogs from the truth, chained: u, the trajectory's end and
//                its momentum [batch, latents] each, loss, error of energy, samples accepted,
//                evaluations
//   scene_step   one step of Adam on a scene of several objects, chained: u, m, v [2 + 6 objects]
//                (the shear, then flux, hlr, e1, e2, x, y of each), loss, t, status
//   psf_table    attenuation by a Moffat profile and a pixel: [H + 1, H + 1]
// Throws Error{bad_input} for invalid options, naming field, value and limit.
std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Options& options);

// Refuses what `make` refuses, except what only a backend lacks.
void validate(const Options& options);

// The problem that `make` solves; its data are zeros if nothing executes.
Problem problem_of(Unit unit, const Options& options, bool executes);
// The same for a given problem, checked likewise.
std::unique_ptr<Computation> make(Backend& backend, Variant variant, Problem problem);

// The minimum work of one step, from the sizes alone.
Work work_of(Unit unit, const Options& options);
// The bytes that one computation holds, by formula.
std::int64_t formula_peak_bytes(const Backend& backend, Variant variant, Unit unit,
                                const Options& options);

// Lengths of the fields of a result.
std::vector<std::size_t> fields_of(Unit unit, const Options& options);

}  // namespace holdfast::galaxy_shear
