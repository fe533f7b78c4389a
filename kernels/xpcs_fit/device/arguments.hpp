// SPDX-License-Identifier: Apache-2.0
// The arguments of the optimized variant's kernels; for g++ and NVRTC.
#pragma once

namespace holdfast::xpcs_fit {

// Threads per block of the kernels that visit pairs, of those that add up, and of the one that
// integrates.
inline constexpr int pair_threads = 128, sum_threads = 128, frame_threads = 256;

// Sets of parameters whose costs are computed in one reading of the data.
inline constexpr int set_tile = 8;

// The frames and the physics between them. count: frames.
struct Grid {
  double kappa = 0, flow = 0, dt = 0;
  int angles = 0, count = 0;
  int laminar = 0, per_angle = 0;
};

// One angle's factors; a row of T each.
template <class T>
struct AngleRow {
  T cosine = 0, sine = 0, inverse = 0;  // P cos psi, P sin psi pi / 180, 1 / (P cos psi)
  T contrast = 0, offset = 0;
};

// Rows of every angle: pair q is frames first_row + q / frames and q % frames.
template <class T>
struct Points {
  const T* data = nullptr;
  const T* weights = nullptr;  // null: all are 1
  long long pairs = 0;
  long long angle_pitch = 0;  // of data, from one angle to the next
  int first_row = 0;
};

}  // namespace holdfast::xpcs_fit
