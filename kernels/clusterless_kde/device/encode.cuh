// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: encoding. Every density is a sum of Gaussians of *items* (encoding
// spikes, or samples of the trajectory) at *columns* (nodes, or places), computed without atomics
// in two steps: `column_sums` for tiles of items, then a sum over tiles in order.
#pragma once

#include "clusterless_kde/device/model_arguments.hpp"
#include "clusterless_kde/device/value_quads.cuh"
#include "clusterless_kde/problem/formulas.hpp"

namespace kde = holdfast::clusterless_kde;

// Gaussians of four items at column `number`, without their weight.
template <class T, int d, kde::Columns columns>
struct Column {
  int number;
  T spacing;
  T place[d];

  __device__ Column(const T* places, T spacing, int number) : number(number), spacing(spacing) {
    for (int j = 0; j < d && columns == kde::at_places; ++j) place[j] = places[number * d + j];
  }
  // items: [d, 4 quads], starting at this lane's quad.
  __device__ void values(const kde::Quad<T>* items, T (&value)[4]) const {
    kde::Quad<T> at[d];
    for (int j = 0; j < d; ++j) at[j] = items[4 * j];
    for (int k = 0; k < 4; ++k) {
      if (columns == kde::at_places) {
        T square = 0;
        for (int j = 0; j < d; ++j) {
          const T distance = at[j].values[k] - place[j];
          square += distance * distance;
        }
        value[k] = kde::exp2_minus(square);
      } else {
        value[k] = kde::node_value(at[0].values[k], number, spacing);
      }
    }
  }
};

// spikes: [groups, d, 4 quads], samples: the same for the trajectory, places: [P, d]; psi: [groups,
// count, 4 quads], null if not kept; partial: [tiles, count]. Grid: tiles, 64 columns each. Block:
// 4 quads, 64 columns. Sums of 16 terms are in T, sums of those in double.
template <class T, class V, int d, kde::Columns columns>
__global__ void __launch_bounds__(kde::group_quads* kde::summed_columns)
    column_sums(const kde::Quad<T>* __restrict__ spikes, const kde::Quad<T>* __restrict__ samples,
                const kde::ItemTile* __restrict__ tiles, int electrodes,
                const T* __restrict__ places, T spacing, int count, kde::Quad<V>* psi,
                double* partial) {
  constexpr int run = 4;  // groups
  const kde::ItemTile tile = tiles[blockIdx.x];
  const bool of_spikes = tile.group < electrodes;
  const auto* items = (of_spikes ? spikes : samples) + static_cast<size_t>(tile.begin) * d * 4;
  const int quad = threadIdx.x, wanted = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = min(wanted, count - 1);  // all lanes take part in the exchange below
  const Column<T, d, columns> here(places, spacing, column);
  double sum = 0;
  for (int first = 0; first < tile.count; first += run) {
    T part = 0;
    for (int group = first; group < min(first + run, tile.count); ++group) {
      T value[4];
      here.values(items + static_cast<size_t>(group) * d * 4 + quad, value);
      part += (value[0] + value[1]) + (value[2] + value[3]);
      if (columns == kde::at_stored_nodes && of_spikes && wanted < count)
        kde::store_quad(psi + (static_cast<size_t>(tile.begin + group) * count + column) * 4 + quad,
                        value[0], value[1], value[2], value[3]);
    }
    sum += part;
  }
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  if (quad == 0 && wanted < count) partial[static_cast<size_t>(blockIdx.x) * count + column] = sum;
}

// The sum of a column's eight partial sums in order, returned to all its threads.
__device__ inline double sum_of_lanes(double (&parts)[kde::finish_lanes][kde::finish_columns],
                                      double mine) {
  __syncthreads();
  parts[threadIdx.y][threadIdx.x] = mine;
  __syncthreads();
  double sum = 0;
  for (int lane = 0; lane < kde::finish_lanes; ++lane) sum += parts[lane][threadIdx.x];
  return sum;
}

// sums: [groups, count] over the tiles first[group] .. first[group + 1] of a group. Grid: groups of
// 32 columns, groups. Block: 32 columns, 8 tiles at a time.
template <class T>
__global__ void __launch_bounds__(kde::finish_columns* kde::finish_lanes)
    group_sums(const double* __restrict__ partial, const int* __restrict__ first, int count,
               double* sums) {
  __shared__ double parts[kde::finish_lanes][kde::finish_columns];
  const int column = blockIdx.x * kde::finish_columns + threadIdx.x, group = blockIdx.y;
  double mine = 0;
  if (column < count)
    for (int tile = first[group] + threadIdx.y; tile < first[group + 1]; tile += kde::finish_lanes)
      mine += partial[static_cast<size_t>(tile) * count + column];
  const double sum = sum_of_lanes(parts, mine);
  if (threadIdx.y == 0 && column < count) sums[static_cast<size_t>(group) * count + column] = sum;
}

// Unnormalised densities at one place, shared by the eight lanes of its column.
template <class T, class V, kde::Columns columns>
struct Densities {
  const double* sums;  // at places: [tiles, bins]; at nodes: [groups, nodes]
  const int* first;    // at places: first tile of each group
  int bins, nodes;
  double spacing, weight;

  __device__ double phi(double place, int node) const {
    const double distance = place - node * spacing;
    return weight * exp2(-2 * distance * distance);
  }
  // This lane's share of O, the density of the last group; stores its share of Phi, a quad of nodes
  // at a time: [nodes / 16, bins, 4 quads].
  __device__ double occupancy(int group, int bin, double place, kde::Quad<V>* kept) const {
    double mine = 0;
    if (columns == kde::at_places) {
      for (int tile = first[group] + threadIdx.y; tile < first[group + 1];
           tile += kde::finish_lanes)
        mine += sums[static_cast<size_t>(tile) * bins + bin];
      return mine;
    }
    for (int quad = threadIdx.y; 4 * quad < nodes; quad += kde::finish_lanes) {
      T factor[4];
      for (int k = 0; k < 4; ++k) {
        const double exact = phi(place, 4 * quad + k);
        mine += exact * sums[static_cast<size_t>(group) * nodes + 4 * quad + k];
        factor[k] = static_cast<T>(exact);
      }
      kde::store_quad(kept + (static_cast<size_t>(quad / 4) * bins + bin) * 4 + quad % 4, factor[0],
                      factor[1], factor[2], factor[3]);
    }
    return mine;
  }
  // For `width` electrodes from `group` on, of which `electrodes` exist.
  template <int width>
  __device__ void spikes(int group, int electrodes, int bin, double place,
                         double (&density)[width]) const {
    for (int j = 0; j < width; ++j) density[j] = 0;
    if (columns == kde::at_places) {
      for (int j = 0; j < width && group + j < electrodes; ++j)
        for (int tile = first[group + j]; tile < first[group + j + 1]; ++tile)
          density[j] += sums[static_cast<size_t>(tile) * bins + bin];
      return;
    }
    for (int node = 0; node < nodes; ++node) {
      const double factor = phi(place, node);
      for (int j = 0; j < width; ++j)
        if (group + j < electrodes)
          density[j] += factor * sums[static_cast<size_t>(group + j) * nodes + node];
    }
  }
};

// beta = lcw - ln O and G = sum_e max(floor, density_e / O) of each place, and on the way Phi.
// Grid: groups of 32 bins. Block: 32 bins, 8 lanes.
template <class T, class V, int d, kde::Columns columns>
__global__ void __launch_bounds__(kde::finish_columns* kde::finish_lanes)
    finish(const double* __restrict__ sums, const int* __restrict__ first,
           const T* __restrict__ places, int electrodes, int bins, int nodes, T spacing, T weight,
           double log_mark_norm, kde::Quad<V>* phi, T* beta, T* ground) {
  __shared__ double parts[kde::finish_lanes][kde::finish_columns];
  constexpr int width = 4;  // electrodes per pass over the nodes
  const int bin = blockIdx.x * kde::finish_columns + threadIdx.x, lane = threadIdx.y;
  const bool inside = bin < bins;
  const double place = inside ? places[static_cast<size_t>(bin) * d] : 0;
  const Densities<T, V, columns> densities = {sums, first, bins, nodes, spacing, weight};

  const double occupancy =
      sum_of_lanes(parts, inside ? densities.occupancy(electrodes, bin, place, phi) : 0);
  double mine = 0;
  if (inside) {
    for (int group = lane * width; group < electrodes; group += kde::finish_lanes * width) {
      double density[width];
      densities.template spikes<width>(group, electrodes, bin, place, density);
      for (int j = 0; j < width && group + j < electrodes; ++j)
        mine += max(kde::rate_floor, occupancy > 0 ? density[j] / occupancy : 0.);
    }
  }
  const double rate = sum_of_lanes(parts, mine);
  if (!inside || lane != 0) return;
  const double log_occupancy = log(occupancy);  // -inf where the animal never was
  beta[bin] = static_cast<T>(occupancy > 0 ? log_mark_norm - log_occupancy : log_occupancy);
  ground[bin] = static_cast<T>(rate);
}
