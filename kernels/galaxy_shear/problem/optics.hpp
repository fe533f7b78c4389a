// SPDX-License-Identifier: Apache-2.0
// The attenuation of a sample of the Fourier plane by point-spread function and pixel; compiled by
// g++ and NVRTC.
#pragma once

#ifndef __CUDACC__
#include <math.h>
#endif

#include "runtime/device_code/both.hpp"

namespace holdfast::galaxy_shear {

// A Gaussian of standard deviation `radius`, or the Moffat profile with scale radius `radius` and
// exponent nu + 1: scale X^nu K_nu(X), X = |q| radius.
struct Optics {
  bool gaussian = true;
  double radius = 0, nu = 0, scale = 1;
};

// X^nu K_nu(X) for nu = order + 1/2: a polynomial times an exponential.
HOLDFAST_BOTH inline double half_integer_bessel(int order, double argument) {
  double sum = 0, term = 1;  // (order + j)! / (j! (order - j)! 2^j)
  for (int j = 0; j <= order; ++j) {
    double power = 1;
    for (int k = j; k < order; ++k) power *= argument;
    sum += term * power;
    term *= (order + j + 1.) * (order - j) / (2 * (j + 1.));
  }
  return 1.2533141373155003 * exp(-argument) * sum;  // sqrt(pi / 2)
}

// X^nu K_nu(X), K_nu(X) = the integral of exp(-X cosh t) cosh(nu t) over t > 0 by the trapezoid
// rule, which converges geometrically here.
HOLDFAST_BOTH inline double any_bessel(double nu, double argument) {
  constexpr double step = 1. / 16;
  double sum = exp(-argument) / 2;
  for (int k = 1; k < 4096; ++k) {
    const double t = k * step, exponent = -argument * cosh(t);
    const double term = (exp(exponent + nu * t) + exp(exponent - nu * t)) / 2;
    sum += term;
    if (term < 1e-18 * sum && argument * sinh(t) > nu) break;
  }
  return pow(argument, nu) * sum * step;
}

// The transform of the point-spread function at q = |k| / pixel scale.
HOLDFAST_BOTH inline double psf_at(const Optics& optics, double q) {
  const double argument = q * optics.radius;
  if (optics.gaussian) return exp(-argument * argument / 2);
  if (argument == 0) return 1;
  const int order = static_cast<int>(optics.nu);
  if (optics.nu == order + 0.5) return optics.scale * half_integer_bessel(order, argument);
  return optics.scale * any_bessel(optics.nu, argument);
}

// The transform of a square pixel along one axis.
HOLDFAST_BOTH inline double pixel_at(double k) {
  return k == 0 ? 1 : sin(k / 2) / (k / 2);
}

HOLDFAST_BOTH inline double response_at(const Optics& optics, double pixel_scale, double kx,
                                        double ky) {
  return psf_at(optics, sqrt(kx * kx + ky * ky) / pixel_scale) * pixel_at(kx) * pixel_at(ky);
}

}  // namespace holdfast::galaxy_shear
