// SPDX-License-Identifier: Apache-2.0
// One kernel per Runge-Kutta stage, or one for a whole loop. What changed against reference.cu and
// what each change should bring at n = 384 in f64 on an H200, as predicted from counts:
//   - Rows of four or five taps, not dense products: 240 MFLOP per step instead of 21.9 GFLOP,
//     7 us instead of 640 us at 34 TFLOP/s.
//   - One kernel holds a whole tendency and its update, intermediates stay in shared memory: 4
//     launches per step instead of 888, 11 states (234 MB) of traffic per step instead of about 75.
//   - Heights stay one-sided and are projected where they are read, through the neighbour table;
//     the boundary penalty is folded into the border rows of the divergence (`adjoint`): none of
//     the 816 launches per step that projected and penalised, at 1 to 2 us each.
//   - Horner form z = y + dt/m L z, m = 4, 3, 2, 1, needs no k1 .. k4: three states of memory, not
//     six. `classical` keeps the accumulator: four states, 16 states of traffic instead of 11.
//   - Tiles divide a panel evenly, so that none has fewer than eight rows, closures lie inside one
//     tile and the reach beyond it is that of interior rows, 3 and not 4: reads are 1.4 times the
//     compulsory ones instead of 1.9.
//   - A phase's global operands are fetched before the barrier ahead of it: one exposed memory
//     latency per stage instead of four, which counts at n <= 96.
//   - `stage` is held to 64 registers, so that two blocks share a multiprocessor and one computes
//     while the other waits for memory.
//   - `loop` replaces launches by grid-wide barriers, 4 per step: it should win where a graph node
//     costs more than a barrier, at n <= 96, and lose where 96 registers leave one block per
//     multiprocessor too few loads in flight.
//   - `on_the_fly` reads three lines of tangents instead of four metric tables (4.7 MB): it should
//     win only where those tables fall out of the L2.
//   - The parts alone (optimized_parts.cuh): one launch each instead of 48 (project), 2 (gradient,
//     divergence), 8 (contravariant) and 108 (sat).
// Floor: 234 MB per step at 4.3 TB/s, 54 us; at n <= 96 four graph nodes of about 4 us each.
// Measured there at first, in one process: at n = 48 a step takes 26.2 us launched by the host and
// 23.3 in a recorded loop, at n = 96 37.2 and 33.9, in f32 at n = 48 25.9; at n = 384 197 us, three
// and a half floors, while other programs were being compiled. A stage alone takes 5.3 us at
// n = 48 and 8.1 at n = 96. A graph node costs 0.75 us and a barrier of the grid 1.15, so that
// `loop` does not win at n = 48: 24.7 us; `on_the_fly` takes 29.9 there, `classical` 28.0. The mass
// on the device costs 17 % of a step at n = 48.
#include "cubed_sphere_swe/device/optimized_parts.cuh"
#include "cubed_sphere_swe/device/optimized_stage.cuh"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/problem/mass_sum.hpp"
#include "runtime/device_code/grid_barrier.cuh"

// One stage of a step. metric: as Metric<T, source> reads it; neighbours: [6 panels, 4 sides, n+1,
// 2]. Grid: tiles along x2, tiles along x1, panels.
template <class T, MetricSource source = table, RungeKutta method = horner>
__global__ void __launch_bounds__(THREADS, source == table ? 2 : 1)
    stage(const T* __restrict__ z, const T* __restrict__ base, T* __restrict__ out, T* sum,
          const T* __restrict__ metric, const int* __restrict__ neighbours, int n,
          swe::Slopes<T> slopes, swe::Slopes<T> shares) {
  const int m = n + 1, panel = blockIdx.z;
  __shared__ TileFields<T> fields;
  const Tile tile = tile_at(panel, blockIdx.y, gridDim.y, blockIdx.x, gridDim.x, m);
  stage_tile<T, source, method, false>(fields, {z, base, out, sum, slopes, shares}, tile, metric,
                                       neighbours, n);
}

// A thread's share of the mass of a state's tile.
template <class T, MetricSource source>
__device__ inline double tile_mass(const T* h, const Metric<T, source>& metric, const Tile& tile,
                                   int n) {
  double mass = 0;
  const Part<tile_rows, tile_columns> part = {tile.top, tile.bottom, tile.left, tile.right};
  part.each([&](int, int i, int j) {
    mass += swe::mass_at(h[(tile.panel * (n + 1) + i) * (n + 1) + j],
                         1 / double(metric.inverse_j(i, j)), i, j, n);
  });
  return mass;
}

// All stages of `steps` steps. A cooperative launch: a block that ends a stage waits for all
// others, and each block has the same tiles in every stage. States change while it runs, so none is
// read through __restrict__: such loads need not see other blocks' writes. Stage and tile are in
// shared memory, because they would occupy registers across phases.
template <class T, MetricSource source = table, RungeKutta method = horner>
__global__ void __maxnreg__(96)
    loop(const __grid_constant__ swe::LoopStages<T> stages, const T* metric, const int* neighbours,
         int n, int steps, swe::MassHistory history, unsigned* barrier) {
  __shared__ TileFields<T> fields;
  __shared__ swe::StageArrays<T> stage;
  __shared__ Tile tile;
  const int m = n + 1;
  const int rows = (m + tile_rows - 1) / tile_rows, columns = (m + tile_columns - 1) / tile_columns;
  const int tiles = 6 * rows * columns;
  const int first = static_cast<long long>(tiles) * blockIdx.x / gridDim.x;
  const int end = static_cast<long long>(tiles) * (blockIdx.x + 1) / gridDim.x;
  for (int step = 0; step < steps; ++step) {
    double mass = 0;
#pragma unroll 1
    for (int k = 0; k < swe::stages_per_step; ++k) {
#pragma unroll 1
      for (int at = first; at < end; ++at) {
        __syncthreads();  // the previous tile's values have been read
        if (threadIdx.x == 0) {
          stage = stages.of_step[step % 2][k];
          tile =
              tile_at(at / (rows * columns), at / columns % rows, rows, at % columns, columns, m);
        }
        __syncthreads();
        stage_tile<T, source, method, true>(fields, stage, tile, metric, neighbours, n);
        if (history.masses && k + 1 == swe::stages_per_step) {
          __syncthreads();  // the whole tile is written
          mass += tile_mass(stage.out, Metric<T, source>{metric, n}, tile, n);
        }
      }
      if (history.masses && k + 1 == swe::stages_per_step) {
        mass = swe::block_sum<THREADS>(mass);
        if (threadIdx.x == 0) history.partials[blockIdx.x] = mass;
      }
      holdfast::grid_barrier(barrier);
    }
    // The partial sums stay until the last stage of the next step, three barriers from here.
    if (history.masses && blockIdx.x == 0) {
      mass = 0;
      for (int k = threadIdx.x; k < gridDim.x; k += THREADS) mass += history.partials[k];
      mass = swe::block_sum<THREADS>(mass);
      if (threadIdx.x == 0)
        history.masses[swe::mass_slot(step + 1, history.capacity)] = mass * history.cell;
    }
  }
}

// The mass of a state, possibly one-sided. h: [6, n+1, n+1]. Block: MASS_THREADS.
template <class T, MetricSource source = table>
__global__ void mass(const T* h, const T* metric_row, swe::MassHistory history, int n) {
  const Metric<T, source> metric = {metric_row, n};
  const int m = n + 1;
  swe::record_mass<MASS_THREADS>(history, 6 * m * m, [&](int k) {
    const int i = k / m % m, j = k % m;
    return swe::mass_at(h[k], 1 / double(metric.inverse_j(i, j)), i, j, n);
  });
}

// h <- A h, in place: the copy with the lowest index writes all of them. One thread per row of the
// neighbour table. h: [6, n+1, n+1].
template <class T>
__global__ void project(T* h, const int* neighbours, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, m = n + 1;
  if (row >= 24 * m) return;
  const int k = row % m, side = row / m % 4, panel = row / (4 * m);
  const int end = side < 2 ? n : 0;  // N, E, S, W
  const bool normal_is_x1 = side % 2 == 1;
  const int own = (panel * m + (normal_is_x1 ? end : k)) * m + (normal_is_x1 ? k : end);
  const int first = neighbours[2 * row], second = neighbours[2 * row + 1];
  const bool corner = second >= 0;
  if (own > first || (corner && !normal_is_x1))
    return;  // a corner has a row under each of its two sides
  const T mean = swe::projected(h, own, first, second);
  h[own] = mean;
  h[first] = mean;
  if (corner) h[second] = mean;
}
