// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: the likelihood at the animal's own position. A warp sums over the
// encoding spikes for one decoding spike; a density goes through the nodes, or directly over the
// items if they are few or lie in a plane.
#pragma once

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/model_arguments.hpp"
#include "clusterless_kde/device/value_quads.cuh"
#include "clusterless_kde/problem/formulas.hpp"

// Returns the same bits in all lanes.
__device__ inline double warp_sum(double mine) {
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lanes);
  return mine;
}
template <class T>
__device__ inline T warp_least(T mine) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    mine = min(mine, __shfl_xor_sync(0xffffffffu, mine, lanes));
  return mine;
}

// Adds the squared distances of four items from `point`. items: [axes, 4 quads], from the quad on.
template <class T, int axes>
__device__ inline void add_squares(const kde::Quad<T>* items, const T (&point)[axes],
                                   T (&square)[4]) {
  for (int j = 0; j < axes; ++j) {
    const kde::Quad<T> at = items[4 * j];
    for (int k = 0; k < 4; ++k) {
      const T distance = at.values[k] - point[j];
      square[k] += distance * distance;
    }
  }
}

// Sum of the kernel at a point over `groups` of items, by all lanes of a warp: eight groups at a
// time, a quad per lane. `squares(group, square)` adds to a lane's four squared distances. Sums of
// 16 terms are in T, sums of those in double.
template <class T, class Squares>
__device__ inline double kernel_sum(int groups, T least, const Squares& squares) {
  constexpr int run = 4;
  double sum = 0;
  const int lane = threadIdx.x % 32;
  for (int first = lane / 4; first < groups; first += 8 * run) {
    T part = 0;
    for (int group = first; group < min(first + 8 * run, groups); group += 8) {
      T square[4] = {};
      squares(group, square);
      for (int k = 0; k < 4; ++k) part += kde::exp2_minus(square[k] - least);
    }
    sum += part;
  }
  return warp_sum(sum);
}

// Unnormalised density of spikes (which = 0) or of samples (1) at a place.
template <class T, int d>
__device__ inline double density(const kde::LocalModel<T>& model, const T (&place)[d], int which) {
  const int lane = threadIdx.x % 32;
  if (model.nodes > 0) {
    double sum = 0;
    for (int node = lane; node < model.nodes; node += 32) {
      const double distance = place[0] - node * static_cast<double>(model.spacing);
      sum += exp2(-2 * distance * distance) * model.sums[which * model.nodes + node];
    }
    return model.weight * warp_sum(sum);
  }
  const kde::Quad<T>* items = which == 0 ? model.positions : model.samples;
  return kernel_sum(
      which == 0 ? model.groups : model.sample_groups, T(0), [&](int group, T(&square)[4]) {
        add_squares(items + static_cast<size_t>(group) * d * 4 + lane % 4, place, square);
      });
}

// logs: [M], ln(r J / o) of each spike, floored or, where it has encoding spikes and the animal was
// ever seen there, however small. Grid and block: a warp per spike.
template <class T, int D, int d, bool floor>
__global__ void __launch_bounds__(32 * kde::local_warps)
    local_spikes(kde::LocalModel<T> model, kde::LocalDecoding<T> heard, T* logs) {
  const int spike = blockIdx.x * kde::local_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (spike >= heard.spikes) return;
  T mark[D], place[d];
  for (int f = 0; f < D; ++f) mark[f] = heard.features[static_cast<size_t>(spike) * D + f];
  for (int j = 0; j < d; ++j) place[j] = heard.at_spikes[static_cast<size_t>(spike) * d + j];

  const int electrode = heard.electrode[spike];
  const int begin = heard.group_begin[electrode];
  const int groups = heard.group_begin[electrode + 1] - begin;
  const auto squares = [&](int group, T(&square)[4]) {
    const auto at = static_cast<size_t>(begin + group);
    add_squares(model.features + at * D * 4 + lane % 4, mark, square);
    add_squares(model.positions + at * d * 4 + lane % 4, place, square);
  };
  T least = 0;
  if (!floor) {
    least = T(1e30);
    for (int group = lane / 4; group < groups; group += 8) {
      T square[4] = {};
      squares(group, square);
      least = min(least, min(min(square[0], square[1]), min(square[2], square[3])));
    }
    least = warp_least(least);
  }
  const double sum = kernel_sum(groups, least, squares);
  const double occupancy = density(model, place, 1);
  if (lane != 0) return;
  double log_rate = kde::log_rate_floor;
  if (occupancy > 0 && sum > 0)
    log_rate = log(sum) - static_cast<double>(least) / kde::log2_of_e + model.log_mark_norm -
               log(occupancy);
  logs[spike] = static_cast<T>(floor ? kde::floored(log_rate) : log_rate);
}

// out: [T]. Adds the row's spikes in order and subtracts the ground process. Grid and block: a warp
// per row.
template <class T, int d>
__global__ void __launch_bounds__(32 * kde::local_warps)
    local_rows(kde::LocalModel<T> model, kde::LocalDecoding<T> heard, const T* __restrict__ logs,
               T* out) {
  const int row = blockIdx.x * kde::local_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= heard.rows) return;
  T place[d];
  for (int j = 0; j < d; ++j) place[j] = heard.at_edges[static_cast<size_t>(row) * d + j];
  const double occupancy = density(model, place, 1), spikes = density(model, place, 0);
  if (lane != 0) return;
  double sum = 0;
  for (int spike = heard.row_begin[row]; spike < heard.row_begin[row + 1]; ++spike)
    sum += logs[spike];
  out[row] = static_cast<T>(sum - (occupancy > 0 ? spikes / occupancy : 0));
}
