// SPDX-License-Identifier: Apache-2.0
// Private to optimized.cu: the first hop, or on the dense path the only one. Every decoding spike
// against every encoding spike of its electrode; the kernel values of their marks exist in
// registers alone.
#pragma once

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/warp_product.cuh"
#include "clusterless_kde/problem/formulas.hpp"

// The stages that a block visits; a stage is the groups of 16 encoding spikes in shared memory at a
// time. All of them, or with a cut those that are not certainly negligible. Every warp visits the
// same ones. limit: squared distance from the places, see spike_cut.hpp.
template <class T, int d, bool cut>
class StageWalk {
 public:
  __device__ StageWalk(int groups, int stage_groups, const T* boxes, T limit, const T* places,
                       int columns)
      : groups_(groups), stage_groups_(stage_groups), boxes_(boxes), limit_(limit) {
    if constexpr (cut) enclose(places, columns);
  }

  // The first stage after `stage` that is not certainly negligible; count() if none.
  __device__ int next(int stage) {
    const int end = count();
    if constexpr (cut) {
      for (++stage; stage < end; stage = (stage | 31) + 1) {
        if (stage % 32 == 0) near_ = __ballot_sync(0xffffffffu, near(stage + threadIdx.x % 32));
        for (unsigned rest = near_ >> stage % 32; rest != 0; rest >>= 1, ++stage)
          if (rest & 1) return stage;
      }
      return end;
    }
    return stage + 1;
  }
  __device__ int count() const { return (groups_ + stage_groups_ - 1) / stage_groups_; }

 private:
  __device__ void enclose(const T* places, int columns) {
#pragma unroll
    for (int j = 0; j < d; ++j) {
      lowest_[j] = highest_[j] = places[j];
      for (int p = threadIdx.x % 32; p < columns; p += 32) {
        lowest_[j] = min(lowest_[j], places[p * d + j]);
        highest_[j] = max(highest_[j], places[p * d + j]);
      }
      for (int lanes = 16; lanes > 0; lanes /= 2) {
        lowest_[j] = min(lowest_[j], __shfl_xor_sync(0xffffffffu, lowest_[j], lanes));
        highest_[j] = max(highest_[j], __shfl_xor_sync(0xffffffffu, highest_[j], lanes));
      }
    }
  }
  __device__ bool near(int stage) const {
    const int begin = stage * stage_groups_, end = min(begin + stage_groups_, groups_);
    bool any = false;
    for (int group = begin; group < end; ++group)
      any = any || kde::box_distance<d>(boxes_ + static_cast<long long>(group) * 2 * d, lowest_,
                                        highest_) <= limit_;
    return any;
  }

  int groups_, stage_groups_;
  const T* boxes_;
  T limit_;
  T lowest_[d] = {}, highest_[d] = {};  // of the places
  unsigned near_ = 0;
};

// Contents of a stage in shared memory: features [groups, D, 4] and values [groups, columns,
// column_quads].
template <class T, class V>
struct Stage {
  kde::Quad<T>* features;
  kde::Quad<V>* values;
};

// Kernel values of a lane's rows and four encoding spikes, in the order of WarpProduct.
template <class T, int features, int rows, bool expanded>
struct Marks {
  T x[rows][features];
  T squares[rows];  // |x|^2

  __device__ void set(int r, const T* spike) {
    squares[r] = 0;
#pragma unroll
    for (int f = 0; f < features; ++f) {
      x[r][f] = spike[f];
      squares[r] = fma(x[r][f], x[r][f], squares[r]);
    }
  }

  // y: [features, 4 quads], starting at this lane's quad.
  __device__ void kernel_values(const kde::Quad<T>* y, T (&a)[rows][4]) const {
    T sum[rows][4] = {}, own[4] = {};
#pragma unroll
    for (int f = 0; f < features; ++f) {
      const kde::Quad<T> at = y[4 * f];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if constexpr (expanded) own[k] = fma(at.values[k], at.values[k], own[k]);
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const T distance = expanded ? at.values[k] : x[r][f] - at.values[k];
          sum[r][k] = fma(expanded ? x[r][f] : distance, distance, sum[r][k]);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const T square = expanded ? max(T(0), squares[r] + own[k] - 2 * sum[r][k]) : sum[r][k];
        a[r][k] = kde::exp2_minus(square);
      }
  }
};

// The part of each stage that a lane fills: every groups-th group from `group` on, every columns-th
// column from `column` on. Precomputed, so that the loops need no division.
struct Share {
  int group, groups;
  int column, columns;
};
__device__ inline Share share_of(int warp, int stage_groups) {
  const int warps = blockDim.x / 32, together = max(1, warps / stage_groups);
  return {warp / together, warps / together,
          warp % together * 8 + static_cast<int>(threadIdx.x) % 32 / 4, together * 8};
}

// Fills a stage with `count` groups from `group` on; columns behind `used` stay as they are or
// repeat the last one.
template <class V, int features, int d, kde::ValueSource source, int columns, class T>
__device__ inline void fill(const Stage<T, V>& stage, const Share& share,
                            const kde::MarkProduct<T, V>& a, int group, int count, int first_column,
                            int used) {
  constexpr int pieces = sizeof(kde::Quad<T>) / 16;
  const int4* from =
      reinterpret_cast<const int4*>(a.features + static_cast<long long>(group) * features * 4);
  int4* to = reinterpret_cast<int4*>(stage.features);
  for (int i = threadIdx.x; i < count * features * 4 * pieces; i += blockDim.x)
    holdfast::copy_async(to + i, from + i);
  const int t = threadIdx.x % 4, filled = (used + 15) / 16 * 16;
  for (int of = share.group; of < count; of += share.groups) {
    kde::Quad<V>* values = stage.values + of * columns * kde::column_quads<V> + t;
    if constexpr (source == kde::stored_nodes) {
      const kde::Quad<V>* stored =
          a.values + ((group + of) * static_cast<long long>(a.width) + first_column) * 4 + t;
      for (int column = share.column; column < filled; column += share.columns)
#pragma unroll
        for (int part = 0; part < static_cast<int>(sizeof(kde::Quad<V>) / 16); ++part)
          holdfast::copy_async(
              reinterpret_cast<int4*>(values + column * kde::column_quads<V>) + part,
              reinterpret_cast<const int4*>(stored + 4 * column) + part);
    } else {
      kde::Quad<T> u[d];
#pragma unroll
      for (int j = 0; j < d; ++j)
        u[j] = a.positions[(static_cast<long long>(group + of) * d + j) * 4 + t];
      for (int column = share.column; column < filled; column += share.columns) {
        const int at = first_column + min(column, used - 1);
        T formed[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if constexpr (source == kde::formed_nodes) {
            formed[k] = kde::node_value(u[0].values[k], at, a.spacing);
          } else {
            T square = 0;
#pragma unroll
            for (int j = 0; j < d; ++j) {
              const T distance = a.places[at * d + j] - u[j].values[k];
              square = fma(distance, distance, square);
            }
            formed[k] = kde::exp2_minus(square);
          }
        }
        kde::store_quad(values + column * kde::column_quads<V>, formed[0], formed[1], formed[2],
                        formed[3]);
      }
    }
  }
}

// Grid: spike tiles, runs of `run` columns. Block: `parts` warps for every 16 tiles spikes of a
// tile, each with every parts-th group of encoding spikes, counted over all stages. Shared memory:
// two stages and the exchange of WarpProduct; afterwards that of add_parts().
template <class T, class V, int features, int d, kde::ValueSource source, int columns, int tiles,
          bool expanded, bool cut>
__global__ void __launch_bounds__(32 * kde::most_mark_warps) hop_a(kde::MarkProduct<T, V> a) {
  using Product = WarpProduct<V, tiles, columns>;
  constexpr int mark_rows = 2 * tiles, feature_quads = features * 4,
                value_quads = columns * kde::column_quads<V>;
  const kde::SpikeTile tile = a.tiles[blockIdx.x];
  const int first_column = blockIdx.y * a.run, used = min(a.run, a.width - first_column);
  // The shuffle lets the compiler see that loops over a warp's groups are uniform.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const int rows_of = warp / a.parts, part = warp % a.parts, first_row = rows_of * 16 * tiles;

  const auto stage = [&](int number) -> Stage<T, V> {
    auto* features_at = reinterpret_cast<kde::Quad<T>*>(shared_memory) +
                        number % 2 * a.stage_groups * feature_quads;
    auto* values_at = reinterpret_cast<kde::Quad<V>*>(
        reinterpret_cast<kde::Quad<T>*>(shared_memory) + 2 * a.stage_groups * feature_quads);
    return {features_at, values_at + number % 2 * a.stage_groups * value_quads};
  };
  kde::Quad<float>* exchange =
      reinterpret_cast<kde::Quad<float>*>(stage(0).values + 2 * a.stage_groups * value_quads) +
      warp * kde::exchange_quads<V>(tiles);

  Marks<T, features, mark_rows, expanded> marks;
#pragma unroll
  for (int r = 0; r < mark_rows; ++r) {
    const int row = min(first_row + lane / 4 + 8 * r, tile.spikes - 1);
    marks.set(r, a.spikes + static_cast<long long>(tile.spike + row) * features);
  }

  int in_time[Product::rows];  // loaded long before it is used
#pragma unroll
  for (int r = 0; r < Product::rows; ++r)
    in_time[r] = a.order[tile.spike + min(first_row + Product::row(r), tile.spikes - 1)];

  StageWalk<T, d, cut> walk(tile.groups, a.stage_groups,
                            a.boxes + static_cast<long long>(tile.group) * 2 * d,
                            a.cut + log2(T(16) * tile.groups), a.places + first_column * d, used);
  const Share share = share_of(warp, a.stage_groups);
  const auto fill_stage = [&](int number, int buffer) {
    const int group = number * a.stage_groups;
    fill<V, features, d, source, columns>(stage(buffer), share, a, tile.group + group,
                                          min(a.stage_groups, tile.groups - group), first_column,
                                          used);
  };

  Product product;
  int number = walk.next(-1), buffer = 0;
  if (number < walk.count()) fill_stage(number, buffer);
  while (number < walk.count()) {
    const int next = walk.next(number);
    holdfast::copies_done();
    __syncthreads();  // this stage is full, and the other one no longer read
    if (next < walk.count()) fill_stage(next, buffer + 1);
    __syncwarp();  // lanes fill unequal shares, and the matrix unit needs the whole warp converged
    const Stage<T, V> full = stage(buffer);
    const int before = number * a.stage_groups, count = min(a.stage_groups, tile.groups - before);
#pragma unroll 1
    for (int group = (part - before) & (a.parts - 1); group < count; group += a.parts) {
      T values[mark_rows][4];
      marks.kernel_values(full.features + group * feature_quads + lane % 4, values);
      product.multiply(values, full.values + group * value_quads, used, exchange);
    }
    number = next;
    ++buffer;
  }

  add_parts(product, used, part, a.parts,
            reinterpret_cast<kde::Quad<T>*>(shared_memory) +
                rows_of * (a.parts / 2) * Product::eights * Product::lane_quads * 32);
  if (part != 0) return;
  product.each([&](int r, int column, const T(&sums)[Product::adjacent]) {
    if (first_row + Product::row(r) < tile.spikes && column < used)
      store(
          a.sums + static_cast<long long>(in_time[r] - a.first) * a.stride + first_column + column,
          sums);
  });
}
