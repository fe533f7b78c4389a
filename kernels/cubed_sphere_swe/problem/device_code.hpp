// SPDX-License-Identifier: Apache-2.0
// Private to the workload's device variants: constants and layouts shared by their launchers and
// tests.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "cubed_sphere_swe/problem/state.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::cubed_sphere_swe {

// For `stage` in optimized.cu, as TILE_ROWS, TILE_COLUMNS and THREADS: the most vertices of a tile
// along x1 and x2, and threads per block.
inline constexpr int tile_rows = 16, tile_columns = 32, stage_threads = 512;

// For `mass` in both, as MASS_THREADS: threads per block, a power of two.
inline constexpr int mass_threads = 256;

// For `contract` in reference.cu, as POINTS and PARTS: results per block, and partial sums per
// result.
inline constexpr int contraction_points = 32, contraction_parts = 8;

// For `gemm` in reference.cu, as GEMM_TILE, GEMM_DEPTH and GEMM_THREADS: rows and columns of C per
// block, terms of the common axis per pass, threads per block.
inline constexpr int gemm_tile = 64, gemm_depth = 16, gemm_threads = 256;

// h, v1, v2, concatenated.
template <class T>
std::vector<T> joined(const State& state) {
  std::vector<T> row;
  row.reserve(state.h.size() + state.v1.size() + state.v2.size());
  for (const auto* field : {&state.h, &state.v1, &state.v2})
    row.insert(row.end(), field->begin(), field->end());
  return row;
}

}  // namespace holdfast::cubed_sphere_swe
