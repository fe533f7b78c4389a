// SPDX-License-Identifier: Apache-2.0
// The published formulation as an eager array program: one kernel per array operation, each reads
// whole arrays and writes a fresh one. The library computes matrix products.
#include "arrays/arrays.cu"  // every kernel but those of the table and of joint_* below
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/reference/reference_verbs.hpp"

CLUSTERLESS_KDE_VERBS(HOLDFAST_KERNEL, HOLDFAST_NOTHING)

// Maxima of marks[n, w] + places[n, bins] along n, for every spike j < w and `count` places from
// `first`: out[w, bins].
template <class T>
__global__ void joint_maximum(const T* marks, const T* places, T* out, long long n, int w, int bins,
                              int first, int count) {
  const long long j = global_row();
  const int p = first + global_column();
  if (j >= w || p >= first + count) return;
  T most = marks[j] + places[p];
  for (long long i = 1; i < n; ++i)
    most = Maximum<T>()(most, marks[i * w + j] + places[i * bins + p]);
  out[j * bins + p] = most;
}
template <class T>
__global__ void joint_log_sum(const T* marks, const T* places, const T* most, T* out, long long n,
                              int w, int bins, int first, int count) {
  const long long j = global_row();
  const int p = first + global_column();
  if (j >= w || p >= first + count) return;
  const T top = most[j * bins + p];
  T sum = 0;
  for (long long i = 0; i < n; ++i) sum += exp(marks[i * w + j] + places[i * bins + p] - top);
  out[j * bins + p] = top + log(sum);
}
