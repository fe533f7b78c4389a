// SPDX-License-Identifier: Apache-2.0
// The scalar mathematics, compiled by g++ for the host and by NVRTC for the device. Uses nothing
// from the standard library, not even a square root: d = sqrt(1 + t1^2 + t2^2) is an argument.
#pragma once

#include "runtime/device_code/both.hpp"

namespace holdfast::cubed_sphere_swe {

// g H0 = c^2 = 1 on the unit sphere.
inline constexpr double gravity = 1;
inline constexpr double mean_depth = 1;

// J = sqrt(det a_i . a_j) and J times its inverse, at a point with tangents t1 = tan x1, t2 = tan
// x2.
template <class T>
struct Metric {
  T j = 0, jq11 = 0, jq22 = 0, jq12 = 0;
};

// q12_sign: +1, or -1 for the metric of the published logs, which is wrong.
template <class T>
HOLDFAST_BOTH constexpr Metric<T> metric(T t1, T t2, T d, T q12_sign) {
  const T s1 = 1 + t1 * t1, s2 = 1 + t2 * t2;
  return {s1 * s2 / (d * d * d), s2 / d, s1 / d, q12_sign * t1 * t2 / d};
}

template <class T>
struct Vector {
  T x = 0, y = 0, z = 0;
};

template <class T>
HOLDFAST_BOTH constexpr T dot(Vector<T> a, Vector<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// From a panel's own axes (along t1, along t2, outward) to the common Cartesian axes.
template <class T>
HOLDFAST_BOTH constexpr Vector<T> to_world(int panel, Vector<T> v) {
  switch (panel) {
    case 0:
      return {v.x, v.y, v.z};
    case 1:
      return {-v.x, v.z, v.y};
    case 2:
      return {-v.z, -v.x, v.y};
    case 3:
      return {v.x, -v.z, v.y};
    case 4:
      return {v.z, v.x, v.y};
    default:
      return {-v.x, v.y, -v.z};
  }
}

template <class T>
HOLDFAST_BOTH constexpr Vector<T> point(int panel, T t1, T t2, T d) {
  return to_world(panel, Vector<T>{t1 / d, t2 / d, 1 / d});
}

// a_1 = dr/dx1 and a_2 = dr/dx2.
template <class T>
HOLDFAST_BOTH constexpr Vector<T> basis1(int panel, T t1, T t2, T d) {
  const T s1 = 1 + t1 * t1, s2 = 1 + t2 * t2, d3 = d * d * d;
  return to_world(panel, Vector<T>{s1 * s2 / d3, -t1 * t2 * s1 / d3, -t1 * s1 / d3});
}
template <class T>
HOLDFAST_BOTH constexpr Vector<T> basis2(int panel, T t1, T t2, T d) {
  const T s1 = 1 + t1 * t1, s2 = 1 + t2 * t2, d3 = d * d * d;
  return to_world(panel, Vector<T>{-t1 * t2 * s2 / d3, s1 * s2 / d3, -t2 * s2 / d3});
}

// The tangent vector whose covariant components are v1, v2.
template <class T>
HOLDFAST_BOTH constexpr Vector<T> velocity(int panel, T t1, T t2, T d, T q12_sign, T v1, T v2) {
  const Metric<T> m = metric(t1, t2, d, q12_sign);
  const T up1 = (m.jq11 * v1 + m.jq12 * v2) / m.j, up2 = (m.jq12 * v1 + m.jq22 * v2) / m.j;
  const Vector<T> a1 = basis1(panel, t1, t2, d), a2 = basis2(panel, t1, t2, d);
  return {up1 * a1.x + up2 * a2.x, up1 * a1.y + up2 * a2.y, up1 * a1.z + up2 * a2.z};
}

// J v^n across a line of constant x1 (normal_is_x1) or x2.
template <class T>
HOLDFAST_BOTH constexpr T flux(Metric<T> m, bool normal_is_x1, T v1, T v2) {
  return normal_is_x1 ? m.jq11 * v1 + m.jq12 * v2 : m.jq12 * v1 + m.jq22 * v2;
}

// Consensus flux F*, in A's frame: the flux of the sides' mean velocity vector through the edge.
template <class T>
HOLDFAST_BOTH constexpr T consensus_flux(int panel_a, bool normal_is_x1, T t1, T t2, T d,
                                         T q12_sign, Vector<T> side_a, Vector<T> side_b) {
  const Vector<T> mean = {(side_a.x + side_b.x) / 2, (side_a.y + side_b.y) / 2,
                          (side_a.z + side_b.z) / 2};
  return flux(metric(t1, t2, d, q12_sign), normal_is_x1, dot(mean, basis1(panel_a, t1, t2, d)),
              dot(mean, basis2(panel_a, t1, t2, d)));
}

// The three copies of a corner, panels ascending: a fixed order of summation makes the copies equal
// to the last bit.
template <class T>
HOLDFAST_BOTH constexpr T corner_mean(T first, T second, T third) {
  return (first + second + third) / 3;
}

// Projection of one border point by its row of the neighbour table (sphere.hpp): own copy at `own`,
// others at `first` and, at a corner, `second` (else -1); first < second. h: [6, n+1, n+1].
template <class T>
HOLDFAST_BOTH constexpr T projected(const T* h, int own, int first, int second) {
  if (second < 0) return (h[own] + h[first]) / 2;
  return own < second ? corner_mean(own < first ? h[own] : h[first],
                                    own < first ? h[first] : h[own], h[second])
                      : corner_mean(h[first], h[second], h[own]);
}

// Extrapolation to the border from the three nearest centres, border outwards in. Exact on
// quadratics.
template <class T>
HOLDFAST_BOTH constexpr T extrapolate(T first, T second, T third) {
  return (15 * first - 10 * second + 3 * third) / 8;
}

// 1 / Hv_0 times dx: the strength of the boundary penalty.
inline constexpr double penalty = 18.0 / 7;

// Hv at one of the n + 1 vertices along an axis, per unit spacing.
template <class T>
HOLDFAST_BOTH constexpr T vertex_weight(int row, int n) {
  const int from_border = row < n - row ? row : n - row;
  return from_border == 0   ? T(7. / 18)
         : from_border == 1 ? T(9. / 8)
         : from_border == 3 ? T(71. / 72)
                            : T(1);
}

// Every row of every operator is five coefficients on consecutive columns. Rows fall into few
// classes: cv operators (centres -> vertices, [n+1, n]) have 9, vc operators (vertices -> centres,
// [n, n+1]) have 7; the middle one is the interior. For unit spacing: derivatives still need 1/dx.
inline constexpr int cv_classes = 9, vc_classes = 7;

HOLDFAST_BOTH constexpr int cv_class(int row, int n) {
  return row < 4 ? row : row > n - 4 ? 8 - (n - row) : 4;
}
HOLDFAST_BOTH constexpr int cv_start(int row, int n) {
  return row < 4 ? 0 : row > n - 4 ? n - 5 : row - 2;
}
HOLDFAST_BOTH constexpr int vc_class(int row, int n) {
  return row < 3 ? row : row > n - 4 ? 6 - (n - 1 - row) : 3;
}
HOLDFAST_BOTH constexpr int vc_start(int row, int n) {
  return row < 3 ? 0 : row > n - 4 ? n - 4 : row - 1;
}

template <class T>
struct Operators {
  T dcv[cv_classes][5] = {};      // derivative
  T pcv[cv_classes][5] = {};      // interpolation
  T adjoint[cv_classes][5] = {};  // D~: dcv with the penalty folded in, -Hv^-1 dvc^T Hc
  T dvc[vc_classes][5] = {};
  T pvc[vc_classes][5] = {};
};

// The lower half of an operator mirrors its upper half: row n-i reversed, derivatives with the
// opposite sign.
template <class T, int classes>
HOLDFAST_BOTH constexpr void mirror(T (&rows)[classes][5], T sign) {
  for (int row = 0; row < classes / 2; ++row)
    for (int tap = 0; tap < 5; ++tap) rows[classes - 1 - row][tap] = sign * rows[row][4 - tap];
}

template <class T, int classes>
HOLDFAST_BOTH constexpr void fill(T (&rows)[classes][5], const double (&upper)[classes / 2 + 1][5],
                                  T sign) {
  for (int row = 0; row <= classes / 2; ++row)
    for (int tap = 0; tap < 5; ++tap) rows[row][tap] = T(upper[row][tap]);
  mirror(rows, sign);
}

template <class T>
HOLDFAST_BOTH constexpr Operators<T> make_operators() {
  constexpr double a = 102207746025903.0 / 808013506696916.0;
  constexpr double b = -289843969221617.0 / 9696162080362992.0;
  constexpr double dcv[5][5] = {{-2, 3, -1},
                                {-1, 1},
                                {1. / 24, -9. / 8, 9. / 8, -1. / 24},
                                {-1. / 71, 6. / 71, -83. / 71, 81. / 71, -3. / 71},
                                {1. / 24, -9. / 8, 9. / 8, -1. / 24}};
  constexpr double adjoint[5][5] = {{79. / 28, -3. / 14, -1. / 28},
                                    {-1, 1},
                                    {1. / 24, -9. / 8, 9. / 8, -1. / 24},
                                    {-1. / 71, 6. / 71, -83. / 71, 81. / 71, -3. / 71},
                                    {1. / 24, -9. / 8, 9. / 8, -1. / 24}};
  constexpr double dvc[4][5] = {{-79. / 78, 27. / 26, -1. / 26, 1. / 78},
                                {2. / 21, -9. / 7, 9. / 7, -2. / 21},
                                {1. / 75, 0, -27. / 25, 83. / 75, -1. / 25},
                                {1. / 24, -9. / 8, 9. / 8, -1. / 24}};
  constexpr double pvc[4][5] = {
      {1. / 2 + a + 2 * b, 1. / 2 - 2 * a - 3 * b, a, b},
      {-8. / 63 - 52 * a / 21 - 104 * b / 21, 29. / 42 + 104 * a / 21 + 52 * b / 7,
       1. / 2 - 52 * a / 21, -4. / 63 - 52 * b / 21},
      {-1. / 25 + 26 * a / 25 + 52 * b / 25, -1. / 50 - 52 * a / 25 - 78 * b / 25,
       3. / 5 + 26 * a / 25, 13. / 25 + 26 * b / 25, -3. / 50},
      {-1. / 16, 9. / 16, 9. / 16, -1. / 16}};
  // Hv pcv = pvc^T Hc, with the weights of the first rows: Hv = 7/18, 9/8, 1, 71/72, 1 and Hc =
  // 13/12, 7/8, 25/24, 1, 1.
  constexpr double hv[4] = {7. / 18, 9. / 8, 1, 71. / 72},
                   hc[5] = {13. / 12, 7. / 8, 25. / 24, 1, 1};
  double pcv[5][5] = {{}, {}, {}, {}, {-1. / 16, 9. / 16, 9. / 16, -1. / 16}};
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 5; ++column) {
      const int tap =
          column < 3 ? row : row - (column - 1);  // where row `column` of pvc holds column `row`
      if (tap >= 0) pcv[row][column] = hc[column] * pvc[column < 3 ? column : 3][tap] / hv[row];
    }

  Operators<T> all = {};
  fill<T, cv_classes>(all.dcv, dcv, T(-1));
  fill<T, cv_classes>(all.pcv, pcv, T(1));
  fill<T, cv_classes>(all.adjoint, adjoint, T(-1));
  fill<T, vc_classes>(all.dvc, dvc, T(-1));
  fill<T, vc_classes>(all.pvc, pvc, T(1));
  return all;
}

// Factors by which a stage multiplies its tendency; they include -H0/dx and -g/dx.
template <class T>
struct Slopes {
  T height = 0, velocity = 0;
};

// One stage of a Runge-Kutta step: out = A base + slopes L z; in the classical method also sum +=
// shares L z, or sum = A base + shares L z if z is the base. A null base means zero, a null sum
// none. Arrays: h [6, n+1, n+1], v1 [6, n, n+1] and v2 [6, n+1, n], concatenated, h one-sided.
template <class T>
struct StageArrays {
  const T* z = nullptr;
  const T* base = nullptr;
  T* out = nullptr;
  T* sum = nullptr;
  Slopes<T> slopes = {}, shares = {};
};

// The stages of one step and of the next, whose arrays may be swapped.
inline constexpr int stages_per_step = 4;
template <class T>
struct LoopStages {
  StageArrays<T> of_step[2][stages_per_step] = {};
};

// Output of masses. `masses` [1 + capacity]: that of the start, then a ring of those after the last
// `capacity` steps. `partials`: one per block. `counters`: blocks that have arrived, masses so far.
struct MassHistory {
  double* masses = nullptr;
  double* partials = nullptr;
  unsigned* counters = nullptr;
  unsigned capacity = 1;
  double cell = 0;  // dx^2
};
HOLDFAST_BOTH constexpr unsigned mass_slot(unsigned recorded, unsigned capacity) {
  return recorded == 0 ? 0 : 1 + (recorded - 1) % capacity;
}

}  // namespace holdfast::cubed_sphere_swe
