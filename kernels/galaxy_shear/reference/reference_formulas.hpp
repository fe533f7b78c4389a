// SPDX-License-Identifier: Apache-2.0
// One element of each operation of the reference, compiled by g++ and NVRTC. Here the chain from a
// galaxy's matrix back to shear and shape uses the product of the matrices.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"
#include "galaxy_shear/problem/objects.hpp"
#include "galaxy_shear/problem/optics.hpp"
#include "galaxy_shear/problem/sampling.hpp"

namespace holdfast::galaxy_shear {

template <class T>
struct Value {
  T re, im;
};

template <class T>
HOLDFAST_BOTH constexpr Value<T> times(Value<T> a, Value<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
HOLDFAST_BOTH constexpr Value<T> times_conjugate(Value<T> a, Value<T> b) {
  return {a.re * b.re + a.im * b.im, a.im * b.re - a.re * b.im};
}

// A galaxy: the point of its latents, and J = S_e S_g / pixel scale, which maps k to the
// coordinates in which the galaxy is round.
struct Placed {
  Point point;
  int shaped;
  double j11, j12, j21, j22;
  double light, radius, dx, dy;
};

// The matrix whose square is that of the distortion e.
HOLDFAST_BOTH inline Symmetric intrinsic(double p, double q) {
  const double share = 1 / (1 + sqrt(1 - p * p - q * q));
  return unit_determinant(p * share, q * share);
}

HOLDFAST_BOTH inline void place(const Model& model, Placed& placed) {
  const double* z = placed.point.z;
  placed.shaped = admissible(z);
  const Symmetric shear = unit_determinant(z[0], z[1]), shape = intrinsic(z[4], z[5]);
  placed.j11 = (shape.a * shear.a + shape.b * shear.b) / model.pixel_scale;
  placed.j12 = (shape.a * shear.b + shape.b * shear.c) / model.pixel_scale;
  placed.j21 = (shape.b * shear.a + shape.c * shear.b) / model.pixel_scale;
  placed.j22 = (shape.b * shear.b + shape.c * shear.c) / model.pixel_scale;
  placed.light = z[2];
  placed.radius = z[3] / half_light;
  placed.dx = z[6] - model.origin;
  placed.dy = z[7] - model.origin;
}
HOLDFAST_BOTH inline void place_truth(const Model& model, const double* z, Placed& placed) {
  for (int k = 0; k < 8; ++k) placed.point.z[k] = z[k];
  place(model, placed);
}
HOLDFAST_BOTH inline void place_latents(const Model& model, const FitState& state, Placed& placed) {
  placed.point = constrained(model, state.u);
  place(model, placed);
}

HOLDFAST_BOTH inline void place_object(const SceneModel& model, const FitState* states, int j,
                                       Placed& placed) {
  placed.point = object_at(model, states, j);
  place(model.object, placed);
}

// The frequency at column c and line of the half plane [N + 1, H + 1].
struct Wave {
  double kx, ky;
};
HOLDFAST_BOTH inline Wave wave_at(int line, int c, int n, double step) {
  return {step * c, step * (line - n / 2)};  // NOLINT(bugprone-integer-division): a line
}

template <class T>
HOLDFAST_BOTH inline Value<T> coordinates_at(const Placed& placed, int line, int c, int n,
                                             double step) {
  const Wave k = wave_at(line, c, n, step);
  return {T(placed.j11 * k.kx + placed.j12 * k.ky), T(placed.j21 * k.kx + placed.j22 * k.ky)};
}
template <class T>
HOLDFAST_BOTH inline T form_at(const Placed& placed, Value<T> coordinates) {
  const T square = T(placed.radius * placed.radius);
  return T(1) + square * (coordinates.re * coordinates.re + coordinates.im * coordinates.im);
}
template <class T>
HOLDFAST_BOTH inline Value<T> profile_at(const Placed& placed, T t) {
  return {T(placed.light) / (t * T(sqrt(t))), T(0)};
}
// The angle is formed and reduced in double, whatever T is.
template <class T>
HOLDFAST_BOTH inline Value<T> phase_at(const Placed& placed, int line, int c, int n, double step) {
  const Wave k = wave_at(line, c, n, step);
  const double turns = (k.kx * placed.dx + k.ky * placed.dy) / two_pi;
  const T angle = T(two_pi * (turns - rint(turns)));
  return {T(cos(angle)), T(-sin(angle))};
}
template <class T>
HOLDFAST_BOTH inline Value<T> psf_value(const Optics& optics, double pixel_scale, int line, int c,
                                        int n, double step) {
  const Wave k = wave_at(line, c, n, step);
  return {T(psf_at(optics, sqrt(k.kx * k.kx + k.ky * k.ky) / pixel_scale)), T(0)};
}
template <class T>
HOLDFAST_BOTH inline Value<T> pixel_value(int line, int c, int n, double step) {
  const Wave k = wave_at(line, c, n, step);
  return {T(pixel_at(k.kx) * pixel_at(k.ky)), T(0)};
}

// One galaxy's whole plane [N + 1, N + 1]: its left half is conjugates.
template <class T>
HOLDFAST_BOTH inline Value<T> expanded_at(const Value<T>* half_plane, int line, int c, int n) {
  const int column = c - n / 2, columns = n / 2 + 1;
  if (column >= 0) return half_plane[line * columns + column];
  const Value<T> mirrored = half_plane[(n - line) * columns - column];
  return {mirrored.re, -mirrored.im};
}
template <class T>
HOLDFAST_BOTH inline Value<T> padded_at(const Value<T>* whole, int line, int c, int n) {
  return line <= n && c <= n ? whole[line * (n + 1) + c] : Value<T>{T(0), T(0)};
}
template <class T>
HOLDFAST_BOTH inline Value<T> wrapped_at(const Value<T>* padded, int line, int c, int n) {
  const Value<T>* at = padded + line * 2 * n + c;
  const Value<T>* below = at + 2 * n * n;
  return {at[0].re + at[n].re + below[0].re + below[n].re,
          at[0].im + at[n].im + below[0].im + below[n].im};
}
// [N, H + 1] in the order of transforms: line 0 is frequency 0.
template <class T>
HOLDFAST_BOTH inline Value<T> contracted_at(const Value<T>* wrapped, int line, int c, int n) {
  const int row = line < n / 2 ? line + n / 2 : line - n / 2;
  return wrapped[row * n + (c < n / 2 ? c + n / 2 : 0)];
}

// The way back: each is the transpose of one above.
template <class T>
HOLDFAST_BOTH inline Value<T> weighed_at(Value<T> residual, int c, int n) {
  const T weight = T(c == 0 || c == n / 2 ? 1 : 2) / (T(n) * T(n));
  return {weight * residual.re, weight * residual.im};
}
template <class T>
HOLDFAST_BOTH inline Value<T> uncontracted_at(const Value<T>* half, int line, int c, int n) {
  const Value<T>* row = half + (line < n / 2 ? line + n / 2 : line - n / 2) * (n / 2 + 1);
  if (c == 0) return row[n / 2];
  return c < n / 2 ? Value<T>{T(0), T(0)} : row[c - n / 2];
}
template <class T>
HOLDFAST_BOTH inline Value<T> broadcast_at(const Value<T>* wrapped, int line, int c, int n) {
  return wrapped[(line < n ? line : line - n) * n + (c < n ? c : c - n)];
}
template <class T>
HOLDFAST_BOTH inline Value<T> cut_at(const Value<T>* padded, int line, int c, int n) {
  return padded[line * 2 * n + c];
}
template <class T>
HOLDFAST_BOTH inline Value<T> folded_at(const Value<T>* whole, int line, int c, int n) {
  const Value<T> right = whole[line * (n + 1) + n / 2 + c];
  if (c == 0) return right;
  const Value<T> left = whole[(n - line) * (n + 1) + n / 2 - c];
  return {right.re + left.re, right.im - left.im};
}
template <class T>
HOLDFAST_BOTH inline T form_slope_at(const Placed& placed, Value<T> slope, T t) {
  return slope.re * T(placed.light) * T(-1.5) / (t * t * T(sqrt(t)));
}

// Sums of a galaxy over the half plane.
struct Slopes {
  double j11 = 0, j12 = 0, j21 = 0, j22 = 0, dx = 0, dy = 0, light = 0, radius = 0;
};

// The gradient by z from the sums.
HOLDFAST_BOTH inline void chain_back(const Model& model, const Placed& placed, const Slopes& sums,
                                     double* gradient) {
  const double* z = placed.point.z;
  const Symmetric s = unit_determinant(z[0], z[1]), i = intrinsic(z[4], z[5]);
  const double scale = 1 / model.pixel_scale;
  const double d = 1 - z[0] * z[0] - z[1] * z[1], w = sqrt(1 - z[4] * z[4] - z[5] * z[5]);
  // dL/dS_g = S_e^T J', dL/dS_e = J' S_g^T
  const double g11 = scale * (i.a * sums.j11 + i.b * sums.j21);
  const double g12 = scale * (i.a * sums.j12 + i.b * sums.j22);
  const double g21 = scale * (i.b * sums.j11 + i.c * sums.j21);
  const double g22 = scale * (i.b * sums.j12 + i.c * sums.j22);
  const double with_s = g11 * s.a + (g12 + g21) * s.b + g22 * s.c;
  gradient[0] = by_shear(g11 - g22, with_s, z[0], d);
  gradient[1] = by_shear(g12 + g21, with_s, z[1], d);
  const double e11 = scale * (sums.j11 * s.a + sums.j12 * s.b);
  const double e12 = scale * (sums.j11 * s.b + sums.j12 * s.c);
  const double e21 = scale * (sums.j21 * s.a + sums.j22 * s.b);
  const double e22 = scale * (sums.j21 * s.b + sums.j22 * s.c);
  const double with_e = e11 * i.a + (e12 + e21) * i.b + e22 * i.c;
  const double share = 1 / (1 + w), p = z[4] * share, q = z[5] * share;
  const double rest = 1 - p * p - q * q;
  const double by_p = by_shear(e11 - e22, with_e, p, rest);
  const double by_q = by_shear(e12 + e21, with_e, q, rest);
  const double along = (by_p * z[4] + by_q * z[5]) * share * share / w;
  gradient[4] = by_p * share + z[4] * along;
  gradient[5] = by_q * share + z[5] * along;
  gradient[2] = sums.light;
  gradient[3] = sums.radius / half_light;
  gradient[6] = sums.dx;
  gradient[7] = sums.dy;
}

// An object's share in a scene, given its gradient.
HOLDFAST_BOTH inline Share share_of(const Placed& placed, const double* gradient) {
  Share share;
  for (int k = 0; k < 8; ++k) share.gradient[k] = gradient[k];
  share.prior = placed.point.prior;
  share.sound = sound(share, placed.shaped);
  return share;
}

}  // namespace holdfast::galaxy_shear
