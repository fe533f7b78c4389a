// SPDX-License-Identifier: Apache-2.0
// A caller's choices: the sizes of a stamp, the point-spread function, the fitted parameters, and
// how steps reach a device.
#pragma once

#include <compare>

#include "runtime/base/precision.hpp"

namespace holdfast::galaxy_shear {

enum class Psf { gaussian, moffat };
// How the steps of a fit reach a device: one launch each, recorded and replayed, or one launch for
// all.
enum class Launch { host, graph, persistent };

struct Options {
  int fft = 128;   // samples of the transform along either axis: a power of two, 16 to 1024
  int image = 48;  // pixels of the stamp along either axis
  int batch = 1;   // realisations, each with its own shear, position and noise
  Psf psf = Psf::gaussian;
  double beta = 2.5;    // of a Moffat profile
  int latents = 4;      // fitted: (g1, g2, x, y) or all eight parameters
  int objects = 0;      // galaxies of one image that share one shear; 0: no such scene
  int steps = 200;      // of a whole fit
  bool sample = false;  // forward: latents are drawn from their priors
  Launch launch = Launch::host;
  double learning_rate = 0;  // 0: the default for the latents
  Precision precision = Precision::f64;

  auto operator<=>(const Options&) const = default;
};

}  // namespace holdfast::galaxy_shear
