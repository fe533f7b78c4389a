// SPDX-License-Identifier: Apache-2.0
// The problem of a fit: two-time correlations at some angles over some frames, the physics between
// them, and the forms of a fit.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/precision.hpp"

namespace holdfast::xpcs_fit {

struct Size {
  int angles = 4;
  int frames = 48;

  std::int64_t plane() const { return std::int64_t{frames} * frames; }
  std::int64_t points() const { return angles * plane(); }
};

// At rest the sample only diffuses; in laminar flow it is also sheared.
enum class Mode { at_rest, laminar };
// Contrast and offset: one pair for all angles, or one for each.
enum class Scaling { shared, per_angle };
enum class Loss { linear, soft_l1 };
enum class Weights { unit, array };

struct Options {
  Mode mode = Mode::laminar;
  Scaling scaling = Scaling::shared;
  Loss loss = Loss::linear;
  Weights weights = Weights::unit;
  Precision precision = Precision::f64;  // of data, model and Jacobian; sums are f64
  double loss_scale = 1;                 // C of soft_l1
  int threads = 0;                       // of a host; 0: as many as available
};

struct Physics {
  double q = 0.0054;  // 1/Angstrom
  double gap = 2e6;   // Angstrom, from stator to rotor
  double dt = 1;      // s between frames

  double kappa() const;  // q^2 dt / 2
  double flow() const;   // q gap dt / (2 pi)
};

// Parameters in their order: contrast, offset (all contrasts, then all offsets, if each angle has
// its own), D0, alpha, D_offset and, for laminar flow, gamma_dot_0, beta, gamma_dot_offset, phi_0.
int parameter_count(const Options& options, int angles);
// The parameters of one angle: 5 or 9.
constexpr int local_parameters(Mode mode) {
  return mode == Mode::laminar ? 9 : 5;
}

struct Box {
  std::vector<double> start = {}, lower = {}, upper = {};
};
std::vector<double> truth(const Options& options, int angles);
Box default_box(const Options& options, int angles);

struct Input {
  Size size = {};
  Physics physics = {};
  std::vector<double> angles = {};   // [angles] degrees
  std::vector<double> data = {};     // [angles, frames, frames]
  std::vector<double> weights = {};  // the same shape, 1 / sigma; empty: all are 1
  // True if nothing executes or data are generated: then data and weights are empty.
  bool sized_only = false;
  Box box = {};
  // Generated data are the model at the truth, times 1 + noise z, with this seed.
  double noise = 0.01;
  std::uint64_t seed = 20251022;
};
struct Problem {
  std::shared_ptr<const Input> input = {};
  Options options = {};
};

// -90 + (a + 1/2) 180 / angles.
std::vector<double> default_angles(int angles);

// Throws Error{bad_input} that begins with a word for the error (invalid_physics, empty_data,
// shape_mismatch, invalid_bounds, nonfinite_start, too_few_points, invalid_weights, invalid_option)
// and names the offender.
void validate(const Size& size, const Physics& physics);
void validate(const Problem& problem);

}  // namespace holdfast::xpcs_fit
