// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "galaxy_shear/galaxy_shear.hpp"

namespace holdfast::galaxy_shear {

// Flops of samples, of transforms along y and of those along x; exponentials and roots are counted
// in multiply-adds. Bytes: a batch's inputs and outputs, once.
Work work_of(Unit unit, const Options& options) {
  const double n = options.fft, half = n / 2, s = options.image, batch = options.batch;
  const double samples = (n + 1) * (half + 1), transform = 5 * n * std::log2(n);
  const double along = (half + 1) * transform + s * transform / 2;
  const double forward = 26 * samples + along + 4 * s * s, back = 45 * samples + along;
  const double value = options.precision == Precision::f32 ? 4 : 8;
  const double image = s * s * value, latents = options.latents;
  Work work = {.phases = 1, .precision = options.precision};
  switch (unit) {
    // A term of a trapezoid sum has two exponentials and a hyperbolic cosine; it has at least 40
    // terms.
    case Unit::psf_table: {
      const double pairs = (half + 1) * (half + 2) / 2;
      const bool closed = options.beta == std::floor(options.beta) + 0.5;
      work.flops = pairs * (closed ? 60 : 40 * 60);
      work.bytes = (half + 1) * (half + 1) * value;
      break;
    }
    case Unit::render:
      work.flops = batch * forward;
      work.bytes = batch * (image + 64);
      break;
    case Unit::render_grad:
      work.flops = batch * (forward + back);
      work.bytes = batch * 136 + image;
      break;
    case Unit::forward:
      work.flops = batch * forward;
      work.bytes = batch * (image + 8 * latents + 8);
      break;
    case Unit::svi_step:
      work.flops = batch * (forward + back);
      work.bytes = batch * (image + 48 * latents + 8);
      break;
    case Unit::vi_step:
    case Unit::hmc_sample:
      work.flops = evaluations_of(unit) * batch * (forward + back);
      work.bytes = batch * (image + 48 * latents + 8);
      break;
    case Unit::scene_step:
      work.flops = 71 * samples * options.objects + 2 * along;
      work.bytes = image + 48 * (2 + 6. * options.objects) + 8;
      break;
    case Unit::map:
      work.flops = options.steps * batch * (forward + back);
      work.bytes = batch * (image + 16 * latents + 8 * options.steps);
      break;
  }
  return work;
}

}  // namespace holdfast::galaxy_shear
