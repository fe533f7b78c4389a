// SPDX-License-Identifier: Apache-2.0
// Device code: computes and packs the factors of matrix products.
#pragma once

#include "clusterless_kde/device/values.hpp"
#include "runtime/device_code/tensor_core.cuh"

namespace holdfast::clusterless_kde {

__device__ inline Quad<SplitBf16> quad(SplitBf16, float a, float b, float c, float d) {
  const SplitPair ab = split_pair(a, b), cd = split_pair(c, d);
  return {{ab.high, cd.high}, {ab.low, cd.low}};
}
__device__ inline Quad<Tf32> quad(Tf32, float a, float b, float c, float d) {
  return {{{round_tf32(a)}, {round_tf32(b)}, {round_tf32(c)}, {round_tf32(d)}}};
}
__device__ inline Quad<float> quad(float, float a, float b, float c, float d) {
  return {{a, b, c, d}};
}
__device__ inline Quad<double> quad(double, double a, double b, double c, double d) {
  return {{a, b, c, d}};
}

// Values k = 4 t .. 4 t + 3 of a column, packed as V.
template <class V, class T>
__device__ inline void store_quad(Quad<V>* to, T a, T b, T c, T d) {
  *to = quad(V{}, a, b, c, d);
}

// exp2(-x), x >= 0; 0 where f32 would be denormal.
__device__ inline float exp2_minus(float x) {
  return exp2_approximate(-x);
}
__device__ inline double exp2_minus(double x) {
  return exp2(-x);
}

// The Gaussian of a spike or sample at u at node q of a NodeGrid, without weight: one half of the
// two hops.
template <class T>
__device__ inline T node_value(T u, int q, T spacing) {
  const T distance = fma(-T(q), spacing, u);
  return exp2_minus(2 * distance * distance);
}

}  // namespace holdfast::clusterless_kde
