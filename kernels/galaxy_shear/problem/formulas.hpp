// SPDX-License-Identifier: Apache-2.0
// The scalar mathematics of one galaxy, compiled by g++ and NVRTC: the parameters for latents, the
// matrix of its shape, the chain rule back to latents, one step of Adam. Double for any array type.
#pragma once

#ifndef __CUDACC__
#include <math.h>
#endif

#include "runtime/device_code/both.hpp"

namespace holdfast::galaxy_shear {

inline constexpr double two_pi = 6.283185307179586;
inline constexpr double half_light = 1.6783469900166605;  // half-light radius over scale radius

// A prior of problem/scene.hpp, prepared: normal (mean, sd), log_normal (ln median, sd), uniform
// (lower end, width); constant: the part of minus the log density that is independent of u.
struct Prior {
  enum Kind { normal, log_normal, uniform };
  int kind = normal;
  double centre = 0, width = 1, constant = 0;
};

// A scene as variants read it and as kernels take it.
struct Model {
  int latents = 0;
  int latent[8] = {};    // the parameter of latent k
  Prior priors[8] = {};  // of latent k
  double fixed[8] = {};  // parameters that are not latents
  double pixel_scale = 1;
  double step = 0;    // of the Fourier plane, rad per pixel: 2 pi / N
  double pixels = 0;  // N^2, by which a transform is divided
  double origin = 0;  // of pixel indices
  double inverse_noise = 1;
  double constant = 0;  // S^2 (ln noise + ln(2 pi) / 2)
  double learning_rate = 0.1;
};

// A galaxy's values for a transform. The form is r0^2 k^T M k in steps of the Fourier plane:
// xx c^2 + xy c r + yy r^2.
struct Galaxy {
  double flux = 1;
  double xx = 0, xy = 0, yy = 0;
  double dx = 0, dy = 0;  // of the centre from pixel (0, 0)
};

// Six sums over the Fourier plane, c and r in steps: of P a^3; of P a^5 times c^2, 2 c r and r^2;
// of V a^3 times c and r (README.md).
struct Sums {
  double flux = 0, xx = 0, xy = 0, yy = 0, x = 0, y = 0;
};

HOLDFAST_BOTH inline void add(Sums& to, const Sums& part) {
  to.flux += part.flux;
  to.xx += part.xx;
  to.xy += part.xy;
  to.yy += part.yy;
  to.x += part.x;
  to.y += part.y;
}

// The values for latents: parameters, dz/du of each latent, minus the log prior and its slope by u.
struct Point {
  double z[8], slope[8];
  double prior, prior_slope[8];
};

HOLDFAST_BOTH inline double sigmoid(double u) {
  constexpr double least = 2.2250738585072014e-308, most = 1 - 2.220446049250313e-16;
  const double value = 1 / (1 + exp(-u));
  return value < least ? least : value > most ? most : value;
}

// For one latent: z, dz/du, the part of minus the log prior that depends on u, its slope by u.
struct Latent {
  double value, slope, density, density_slope;
};
HOLDFAST_BOTH inline Latent latent_of(const Prior& prior, double u) {
  const double distance = (u - prior.centre) / prior.width;
  Latent latent = {u, 1, distance * distance / 2, distance / prior.width};
  if (prior.kind == Prior::log_normal) {
    latent.value = latent.slope = exp(u);
    latent.density += u;  // of z, not of its logarithm
    latent.density_slope += 1;
  } else if (prior.kind == Prior::uniform) {
    const double share = sigmoid(u);
    latent.value = prior.centre + prior.width * share;
    latent.slope = prior.width * share * (1 - share);
    latent.density = latent.density_slope = 0;
  }
  return latent;
}

HOLDFAST_BOTH inline Point constrained(const Model& model, const double* u) {
  Point point;
  for (int k = 0; k < 8; ++k) point.z[k] = model.fixed[k];
  point.prior = 0;
  for (int k = 0; k < model.latents; ++k) {
    const Prior& prior = model.priors[k];
    const Latent latent = latent_of(prior, u[k]);
    point.z[model.latent[k]] = latent.value;
    point.slope[k] = latent.slope;
    point.prior += latent.density + prior.constant;
    point.prior_slope[k] = latent.density_slope;
  }
  return point;
}

// Whether all parameters are finite and the shape is valid: |g|^2 and |e|^2 below 1 - 1e-9.
HOLDFAST_BOTH inline bool admissible(const double* z) {
  const double shear = 1 - z[0] * z[0] - z[1] * z[1], shape = 1 - z[4] * z[4] - z[5] * z[5];
  for (int k = 0; k < 8; ++k)
    if (!(z[k] - z[k] == 0)) return false;  // not finite
  return shear > 1e-9 && shape > 1e-9;
}

// A symmetric matrix [[a, b], [b, c]].
struct Symmetric {
  double a, b, c;
};

// [[1 + p, q], [q, 1 - p]] of unit determinant.
HOLDFAST_BOTH inline Symmetric unit_determinant(double p, double q) {
  const double scale = 1 / sqrt(1 - p * p - q * q);
  return {(1 + p) * scale, q * scale, (1 - p) * scale};
}

// S E S.
HOLDFAST_BOTH inline Symmetric congruent(const Symmetric& s, const Symmetric& e) {
  const double first_a = s.a * e.a + s.b * e.b, first_b = s.a * e.b + s.b * e.c;
  const double second_a = s.b * e.a + s.c * e.b, second_b = s.b * e.b + s.c * e.c;
  return {first_a * s.a + first_b * s.b, first_a * s.b + first_b * s.c,
          second_a * s.b + second_b * s.c};
}

HOLDFAST_BOTH inline Galaxy galaxy_of(const Model& model, const double* z) {
  const Symmetric m = congruent(unit_determinant(z[0], z[1]), unit_determinant(z[4], z[5]));
  const double radius = z[3] / half_light * model.step / model.pixel_scale;
  const double square = radius * radius;
  return {.flux = z[2],
          .xx = square * m.a,
          .xy = square * 2 * m.b,
          .yy = square * m.c,
          .dx = z[6] - model.origin,
          .dy = z[7] - model.origin};
}

// trace(G (D / sqrt d + S p / d)), D the pattern of S's parameter p: diag(1, -1) or its
// off-diagonal; `along` is trace(G D).
HOLDFAST_BOTH inline double by_shear(double along, double with_s, double p, double determinant) {
  return along / sqrt(determinant) + with_s * p / determinant;
}

// The gradient by z from the sums (README.md, "the gradient").
HOLDFAST_BOTH inline void chain(const Model& model, const double* z, const Sums& sums,
                                double* gradient) {
  const double scale = model.step / model.pixel_scale;  // of q
  const double radius = z[3] / half_light * scale, share = z[2] / model.pixels;
  const Symmetric s = unit_determinant(z[0], z[1]), e = unit_determinant(z[4], z[5]);
  const Symmetric m = congruent(s, e);
  gradient[2] = sums.flux / model.pixels;
  gradient[3] =
      -3 * share * radius * scale * (m.a * sums.xx + m.b * sums.xy + m.c * sums.yy) / half_light;
  gradient[6] = share * model.step * sums.x;
  gradient[7] = share * model.step * sums.y;

  // G = dL/dM as a symmetric matrix; K = E S G + its transpose; L = S G S.
  const double factor = -1.5 * share * radius * radius;
  const Symmetric g = {factor * sums.xx, factor * sums.xy / 2, factor * sums.yy};
  const double es[] = {e.a * s.a + e.b * s.b, e.a * s.b + e.b * s.c, e.b * s.a + e.c * s.b,
                       e.b * s.b + e.c * s.c};
  const double esg[] = {es[0] * g.a + es[1] * g.b, es[0] * g.b + es[1] * g.c,
                        es[2] * g.a + es[3] * g.b, es[2] * g.b + es[3] * g.c};
  const Symmetric k = {2 * esg[0], esg[1] + esg[2], 2 * esg[3]};
  const Symmetric l = congruent(s, g);
  const double shear = 1 - z[0] * z[0] - z[1] * z[1], shape = 1 - z[4] * z[4] - z[5] * z[5];
  const double k_s = k.a * s.a + 2 * k.b * s.b + k.c * s.c;
  const double l_e = l.a * e.a + 2 * l.b * e.b + l.c * e.c;
  gradient[0] = by_shear(k.a - k.c, k_s, z[0], shear);
  gradient[1] = by_shear(2 * k.b, k_s, z[1], shear);
  gradient[4] = by_shear(l.a - l.c, l_e, z[4], shape);
  gradient[5] = by_shear(2 * l.b, l_e, z[5], shape);
}

// The state of one galaxy's fit between steps; arrays of 8, of which the latents are used.
struct FitState {
  double u[8], m[8], v[8];
  double power1, power2;  // beta1^t, beta2^t
  int t;                  // steps so far
  int status;             // 0, or the step that failed: u keeps its value from before
};

HOLDFAST_BOTH inline void begin(const Model& model, const double* start, FitState& state) {
  for (int k = 0; k < 8; ++k) {
    state.u[k] = k < model.latents ? start[k] : 0;
    state.m[k] = state.v[k] = 0;
  }
  state.power1 = state.power2 = 1;
  state.t = state.status = 0;
}

// d loss / du of latent k, from the gradient by z.
HOLDFAST_BOTH inline double by_latent(const Model& model, const Point& point,
                                      const double* gradient, int k) {
  return gradient[model.latent[k]] * point.slope[k] + point.prior_slope[k];
}

// Adam on one number u with moments m and v; power1 = beta1^t, power2 = beta2^t.
HOLDFAST_BOTH inline void follow(double rate, double slope, double power1, double power2, double& m,
                                 double& v, double& u) {
  constexpr double beta1 = 0.9, beta2 = 0.999;
  m = (1 - beta1) * slope + beta1 * m;
  v = (1 - beta2) * slope * slope + beta2 * v;
  const double mean = m / (1 - power1), square = v / (1 - power2);
  u -= rate * mean / (sqrt(square) + 1e-8);
}

// NaN, the loss after a failure.
HOLDFAST_BOTH inline double no_number(double power) {
  const double nothing = power * 0;
  return nothing / nothing;
}

// Step t of Adam, from the whole loss and its gradient by z. Returns the loss, NaN once a step has
// failed.
HOLDFAST_BOTH inline double advance(const Model& model, const Point& point, bool shaped,
                                    double loss, const double* gradient, FitState& state) {
  constexpr double beta1 = 0.9, beta2 = 0.999;
  ++state.t;
  double slope[8], check = loss;
  for (int k = 0; k < model.latents; ++k) {
    slope[k] = by_latent(model, point, gradient, k);
    check += slope[k];
  }
  if (state.status == 0 && (!shaped || !(check - check == 0))) state.status = state.t;
  state.power1 *= beta1;
  state.power2 *= beta2;
  if (state.status != 0) return no_number(state.power1);
  for (int k = 0; k < model.latents; ++k)
    follow(model.learning_rate, slope[k], state.power1, state.power2, state.m[k], state.v[k],
           state.u[k]);
  return loss;
}

}  // namespace holdfast::galaxy_shear
