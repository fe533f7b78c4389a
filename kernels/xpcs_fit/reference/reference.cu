// SPDX-License-Identifier: Apache-2.0
// The plain formulation on a device: one kernel per box of the formula, every array stored, sizes
// known at compile time as in a program traced for one shape: REAL, ANGLES, FRAMES, LAMINAR,
// PER_ANGLE and POINTS, the number of points from `first` on.
#include "xpcs_fit/problem/formulas.hpp"

namespace xpcs = holdfast::xpcs_fit;

constexpr long long plane = static_cast<long long>(FRAMES) * FRAMES, points = POINTS;

__device__ inline long long element() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// rates: [8, FRAMES]: D and its derivatives, Gamma and its derivatives.
__global__ void rates(double dt, const double* physical, double* out) {
  const long long i = element();
  if (i >= FRAMES) return;
  const double t = static_cast<double>(i) * dt;
  const xpcs::Rate d = xpcs::diffusion_rate(t, physical);
  out[i] = d.value;
  for (int k = 0; k < 3; ++k) out[(1 + k) * FRAMES + i] = d.by[k];
#if LAMINAR
  const xpcs::Rate g = xpcs::shear_rate(t, dt, physical + 3);
  out[4 * FRAMES + i] = g.value;
  for (int k = 0; k < 3; ++k) out[(5 + k) * FRAMES + i] = g.by[k];
#endif
}

// Cumulative trapezoids, zero at frame 1; one thread per array.
__global__ void accumulate(const double* from, double* out) {
  const int array = static_cast<int>(threadIdx.x);
  if (array >= (LAMINAR ? 8 : 4)) return;
  from += array * FRAMES;
  out += array * FRAMES;
  double sum = 0;
  out[0] = -(from[0] + from[1]) / 2;
  out[1] = 0;
  for (int i = 2; i < FRAMES; ++i) out[i] = sum += (from[i - 1] + from[i]) / 2;
}

// sqrt((of_i - of_j)^2 + 1e-20), [FRAMES, FRAMES].
__global__ void smooth_difference(const double* of, REAL* out) {
  const long long k = element();
  if (k >= plane) return;
  const REAL difference = static_cast<REAL>(of[k / FRAMES] - of[k % FRAMES]);
  out[k] = sqrt(difference * difference + REAL(1e-20));
}

__global__ void decay(double kappa, REAL* in_and_out) {
  const long long k = element();
  if (k >= plane) return;
  const REAL power = -static_cast<REAL>(kappa) * in_and_out[k];
  in_and_out[k] = exp(power < -700 ? REAL(-700) : power);
}

__device__ inline REAL cosine_of(double flow, double phi_0, double angle) {
  return static_cast<REAL>(flow * cos((phi_0 - angle) * xpcs::degree));
}
__device__ inline REAL sinc(REAL x) {
  return fabs(x) > REAL(1e-12) ? sin(x) / x : REAL(1);
}

// s^2, [POINTS].
__global__ void sinc_squared(long long first, double flow, const double* physical,
                             const double* angles, const REAL* shear, REAL* out) {
  const long long k = element();
  if (k >= points) return;
#if LAMINAR
  const REAL s =
      sinc(cosine_of(flow, physical[6], angles[(first + k) / plane]) * shear[(first + k) % plane]);
  out[k] = s * s;
#else
  out[k] = 1;
#endif
}

// In place of s^2.
__global__ void first_order(long long first, const REAL* decayed, REAL* in_and_out) {
  const long long k = element();
  if (k >= points) return;
  const REAL g1 = decayed[(first + k) % plane] * in_and_out[k];
  in_and_out[k] = g1 < REAL(1e-10) ? REAL(1e-10) : g1;
}

__global__ void second_order(long long first, const double* parameters, const REAL* g1, REAL* m) {
  const long long k = element();
  if (k >= points) return;
  const long long a = PER_ANGLE ? (first + k) / plane : 0;
  const REAL value = static_cast<REAL>(parameters[PER_ANGLE ? ANGLES + a : 1]) +
                     static_cast<REAL>(parameters[a]) * g1[k] * g1[k];
  m[k] = value < REAL(xpcs::model_floor)     ? REAL(xpcs::model_floor)
         : value > REAL(xpcs::model_ceiling) ? REAL(xpcs::model_ceiling)
                                             : value;
}

// weights: null where all are 1.
__global__ void residuals(const REAL* m, const REAL* data, const REAL* weights, REAL* r) {
  const long long k = element();
  if (k >= points) return;
  r[k] = (m[k] - data[k]) * (weights ? weights[k] : REAL(1));
}

// Column `which` of the parameters per angle or, from 2 on, of the physical ones; `own`: the angle
// whose contrast or offset it is, -1 for all.
__global__ void column(long long first, int which, int own, double kappa, double flow,
                       const double* parameters, const double* physical, const double* angles,
                       const double* frames, const REAL* decayed, const REAL* shear, const REAL* g1,
                       const REAL* m, const REAL* weights, REAL* out) {
  const long long k = element();
  if (k >= points) return;
  const long long a = (first + k) / plane, pair = (first + k) % plane, i = pair / FRAMES,
                  j = pair % FRAMES;
  const bool live = m[k] > REAL(xpcs::model_floor) && m[k] < REAL(xpcs::model_ceiling);
  const REAL contrast = static_cast<REAL>(parameters[PER_ANGLE ? a : 0]);
  const REAL sign = i < j ? REAL(-1) : i > j ? REAL(1) : REAL(0);
  REAL value = 0;
  if (which < 2) {
    if (own < 0 || own == a) value = which == 0 ? g1[k] * g1[k] : REAL(1);
  } else if (which < 5) {
    const double* const by = frames + (which - 1) * FRAMES;
    value = -2 * static_cast<REAL>(kappa) * contrast * g1[k] * g1[k] * sign *
            static_cast<REAL>(by[i] - by[j]);
  }
#if LAMINAR
  if (which >= 5) {
    const REAL along = cosine_of(flow, physical[6], angles[a]), x = along * shear[pair];
    const REAL s = sinc(x);
    const REAL slope = fabs(x) < REAL(0.1) ? xpcs::sinc_slope_near_zero(x) : (cos(x) - s) / x;
    const REAL bent = 4 * contrast * decayed[pair] * decayed[pair] * s * s * s * slope;
    const double psi = (physical[6] - angles[a]) * xpcs::degree;
    const double* const by = frames + which * FRAMES;
    if (which == 8)
      value = -bent * static_cast<REAL>(flow * sin(psi) * xpcs::degree) * shear[pair];
    else
      value = bent * along * sign * static_cast<REAL>(by[i] - by[j]);
  }
#endif
  out[k] = live ? value * (weights ? weights[k] : REAL(1)) : REAL(0);
}

// For soft_l1: the loss of each residual, then columns and residuals times powers of 1 + z.
__global__ void soft_cost(REAL scale, const REAL* r, REAL* cost) {
  const long long k = element();
  if (k >= points) return;
  const REAL z = r[k] / scale * (r[k] / scale);
  cost[k] = scale * scale * (sqrt(1 + z) - 1);
}
__global__ void soften(REAL scale, REAL power, const REAL* r, REAL* in_and_out) {
  const long long k = element();
  if (k >= points) return;
  const REAL z = r[k] / scale * (r[k] / scale);
  in_and_out[k] *= pow(1 + z, power);
}
