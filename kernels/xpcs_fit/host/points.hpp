// SPDX-License-Identifier: Apache-2.0
// The model of whole vectors of points: row i of pairs (i, j .. j + lanes), and the angles of each
// pair. An exponential and a division per pair; a sine and, for slopes, a cosine per point.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/host/signs_and_roots.hpp"
#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/problem/model.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

// Frames scaled for the points, each array padded for a vector that begins at its last value.
// E^2 = 2^-|exponent_i - exponent_j|. Derivatives are for a contrast of one.
template <class T>
class ScaledFrames {
 public:
  ScaledFrames(Backend& backend, const Physics& physics, int count, Mode mode)
      : physics_(physics),
        count_(count),
        mode_(mode),
        pitch_(static_cast<std::size_t>(count) + Lanes<T>::count),
        memory_(backend, 8 * pitch_, "frames") {}

  void set(const double* parameters) {
    const Frames all = frames(physics_, count_, mode_, parameters);
    const double kappa = physics_.kappa();
    put(0, all.s, 2 * kappa * 1.4426950408889634);
    for (int k = 0; k < 3; ++k) put(1 + k, all.s_by[k], -2 * kappa);
    if (mode_ == Mode::at_rest) return;
    put(4, all.q, 1);
    for (int k = 0; k < 3; ++k) put(5 + k, all.q_by[k], 4);
  }
  const T* exponent() const { return row(0); }
  const T* transport_by(int k) const { return row(1 + k); }
  const T* shear() const { return row(4); }
  const T* shear_by(int k) const { return row(5 + k); }
  double widest_shear() const {
    return mode_ == Mode::at_rest ? 0 : std::abs(double{shear()[count_ - 1]} - shear()[0]);
  }

 private:
  const T* row(int k) const { return memory_.data() + k * pitch_; }
  void put(int k, const std::vector<double>& values, double scale) {
    T* to = memory_.data() + k * pitch_;
    for (std::size_t i = 0; i < pitch_; ++i)
      to[i] = static_cast<T>(scale * values[std::min(i, values.size() - 1)]);
  }

  Physics physics_;
  int count_;
  Mode mode_;
  std::size_t pitch_;
  Buffer<T> memory_;
};

// The factors of one angle.
template <class T>
struct Angle {
  T cosine = 0, sine = 0, inverse = 0;  // P cos psi, P sin psi pi / 180, 1 / (P cos psi)
  T contrast = 0, offset = 0;
};

template <class T>
struct Ray {
  Vector<T> value, slope;  // sin x / x and its derivative
};
template <class T, bool slopes>
inline Ray<T> sinc(Vector<T> x, Vector<T> inverse) {
  const SineCosine<T> circle = host::HOLDFAST_ISA::sine_cosine<T>(x);
  Ray<T> ray = {circle.sine * inverse, {}};
  if constexpr (slopes) ray.slope = (circle.cosine - ray.value) * inverse;
  const auto small = magnitude<T>(x) < T(0.1);
  if (!any(static_cast<Integers<T>>(small))) return ray;
  const Vector<T> y = x * x;
  constexpr T value[] = {T(1), T(-1. / 6), T(1. / 120), T(-1. / 5040), T(1. / 362880)};
  constexpr T slope[] = {T(-1. / 3), T(1. / 30), T(-1. / 840), T(1. / 45360), T(-1. / 3991680)};
  ray.value = small ? polynomial(value, y) : ray.value;
  if constexpr (slopes) ray.slope = small ? x * polynomial(slope, y) : ray.slope;
  return ray;
}

// The values that a vector of pairs (i, j ..) shares at all angles.
template <class T, Mode mode>
struct Pairs {
  Vector<T> power, shear = {}, inverse = {};  // E^2, B, 1 / B

  Pairs(const ScaledFrames<T>& frames, int i, int j) {
    power = exp2<T>(-magnitude<T>(frames.exponent()[i] - load(frames.exponent() + j)));
    if constexpr (mode == Mode::laminar) {
      shear = magnitude<T>(frames.shear()[i] - load(frames.shear() + j));
      inverse = T(1) / shear;  // infinite on the diagonal, where a series is used instead
    }
  }
};

// G, and with slopes also h and e. `careful` also allows phases beyond 2^20.
template <class T>
struct Factors {
  Vector<T> g, h = {}, e = {};
};
template <class T, Mode mode, bool slopes, bool careful>
inline Factors<T> factors(const Pairs<T, mode>& pairs, const Angle<T>& angle) {
  if constexpr (mode == Mode::at_rest) return {pairs.power};
  Vector<T> x = pairs.shear * angle.cosine;
  Vector<T> inverse = pairs.inverse * angle.inverse;
  Integers<T> far = {};
  if constexpr (careful) {
    far = magnitude<T>(x) > T(largest_phase);
    x = far ? Vector<T>{} : x;
  }
  Ray<T> ray = sinc<T, slopes>(x, inverse);
  if constexpr (careful) ray = {far ? Vector<T>{} : ray.value, far ? Vector<T>{} : ray.slope};
  const Vector<T> square = ray.value * ray.value, less = pairs.power * square;
  if constexpr (!slopes) return {less * square};
  const Vector<T> bent = less * ray.value * ray.slope;
  return {less * square, bent * angle.cosine, bent * angle.sine};
}

// Whether no point can be clipped or have a phase beyond 2^20.
template <class T>
bool is_tame(const std::vector<Angle<T>>& angles, double widest_shear) {
  for (const Angle<T>& one : angles) {
    const bool inside = one.contrast >= 0 && one.offset >= model_floor &&
                        one.offset + one.contrast <= model_ceiling - 1e-6;
    if (!inside || !(std::abs(one.cosine) * widest_shear < largest_phase)) return false;
  }
  return true;
}

template <class T>
inline Vector<T> clipped(Vector<T> m) {
  m = m < T(model_floor) ? everywhere<T>(T(model_floor)) : m;
  return m > T(model_ceiling) ? everywhere<T>(T(model_ceiling)) : m;
}

// Loads the first `count` lanes, at least one.
template <class T>
inline Vector<T> load_some(const T* x, int count) {
  Vector<T> some = {};
  for (int k = 0; k < count && k < Lanes<T>::count; ++k) some[k] = x[k];
  return some;
}
template <class T>
inline void store_some(T* x, Vector<T> value, int count) {
  for (int k = 0; k < count && k < Lanes<T>::count; ++k) x[k] = value[k];
}

template <class T>
inline Vector<T> lane_numbers() {
  Vector<T> numbers = {};
  for (int k = 0; k < Lanes<T>::count; ++k) numbers[k] = static_cast<T>(k);
  return numbers;
}
// One in the first `count` lanes, zero in the others.
template <class T>
inline Vector<T> first_lanes(int count) {
  return lane_numbers<T>() < static_cast<T>(count) ? everywhere<T>(T(1)) : Vector<T>{};
}

template <class T>
std::vector<Angle<T>> angles_at(const Problem& problem, const std::vector<double>& parameters) {
  std::vector<Angle<T>> all;
  const int count = problem.input->size.angles;
  for (int a = 0; a < count; ++a) {
    const std::vector<double> own = local(problem.options, count, a, parameters);
    Angle<T> one = {.contrast = static_cast<T>(own[0]), .offset = static_cast<T>(own[1])};
    if (problem.options.mode == Mode::laminar) {
      const Direction along = direction(problem.input->physics, problem.input->angles[a], own[8]);
      // A cosine of zero gives phases of zero, for which the series is used.
      one.cosine = static_cast<T>(along.cosine);
      one.sine = static_cast<T>(along.sine);
      one.inverse = static_cast<T>(1 / along.cosine);
    }
    all.push_back(one);
  }
  return all;
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
