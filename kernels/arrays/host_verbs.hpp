// SPDX-License-Identifier: Apache-2.0
// The verbs as loops on the host. Compiled for each instruction set in a namespace of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "arrays/arrays.hpp"
#include "arrays/host_loops.hpp"
#include "arrays/verbs.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::arrays::HOLDFAST_ISA {

using std::exp, std::log;  // for the formulas

// Loops of a table's rows: HOLDFAST_ARRAY_VERBS(HOLDFAST_HOST, HOLDFAST_NOTHING).
#define HOLDFAST_HOST(kind, shape, name, parameters, ...) \
  HOLDFAST_HOST_##shape(name, parameters, __VA_ARGS__)
#define HOLDFAST_HOST_Line(name, parameters, ...)                                         \
  static constexpr auto name = [](HOLDFAST_UNPACKED parameters, std::int64_t count) {     \
    holdfast::arrays::HOLDFAST_ISA::each<T>(count, [=](std::int64_t i) { __VA_ARGS__; }); \
  };
#define HOLDFAST_HOST_Plane(name, parameters, ...)                                 \
  static constexpr auto name = [](HOLDFAST_UNPACKED parameters, std::int64_t rows, \
                                  std::int64_t columns) {                          \
    holdfast::arrays::HOLDFAST_ISA::each_row<T>(                                   \
        rows, columns, [=](std::int64_t r, std::int64_t c) { __VA_ARGS__; });      \
  };
#define HOLDFAST_HOST_Columns(name, parameters, ...)                                        \
  static constexpr auto name = [](HOLDFAST_UNPACKED parameters, std::int64_t rows,          \
                                  std::int64_t columns) {                                   \
    holdfast::arrays::HOLDFAST_ISA::each<T>(columns, [=](std::int64_t c) { __VA_ARGS__; }); \
  };

template <class T>
class HostVerbs {
 public:
  using Value = T;

  // While a Step lives, matrix products flush denormals, as all other loops do by themselves.
  // flops: of the step's products; 1e7 with what surrounds them take a millisecond, waking the
  // threads 10 to 20 us. Below that the library may still share a large product: the denormals that
  // another thread then meets cost less than waking it each time.
  struct Step : FlushTeamToZero<T> {
    explicit Step(double flops) : FlushTeamToZero<T>(flops >= 1e7) {}
  };

  HostVerbs(Backend& backend, bool multiplies) {
    const FlushTeamToZero<T> started(true);
    if (multiplies) blas_.emplace(backend);
  }

  void clear(T* out, std::int64_t count) { std::fill_n(out, count, T(0)); }
  void copy(const T* from, T* to, std::int64_t count) { std::copy_n(from, count, to); }

  HOLDFAST_ARRAY_VERBS(HOLDFAST_HOST, HOLDFAST_NOTHING)

  void place(const T* whole, const T* part, std::int64_t first, std::int64_t end, T* out,
             std::int64_t count) {
    each<T>(first, [=](std::int64_t i) { out[i] = whole[i]; });
    each<T>(end - first, [=](std::int64_t i) { out[first + i] = part[i]; });
    each<T>(count - end, [=](std::int64_t i) { out[end + i] = whole[end + i]; });
  }

  void weighted_sum(const T* weights, const T* in, T* out, std::int64_t n, std::int64_t w) {
    by_column_tile<T>(n, w, [=](std::int64_t first, std::int64_t count) {
      T sums[tile] = {};
      for (std::int64_t begin = 0; begin < n; begin += tile) {
        T part[tile] = {};  // partial sums keep the rounding errors of long sums small
        for (std::int64_t i = begin; i < std::min(n, begin + tile); ++i)
#pragma omp simd
          for (std::int64_t c = 0; c < count; ++c) part[c] += weights[i] * in[i * w + first + c];
        for (std::int64_t c = 0; c < count; ++c) sums[c] += part[c];
      }
      std::copy_n(sums, count, out + first);
    });
  }
  void log_sum(const T* in, T* out, std::int64_t n, std::int64_t w) {
    by_column_tile<T>(n, w, [=](std::int64_t first, std::int64_t count) {
      T most[tile], sums[tile] = {};
      std::copy_n(in + first, count, most);
      for (std::int64_t i = 1; i < n; ++i)
#pragma omp simd
        for (std::int64_t c = 0; c < count; ++c) most[c] = std::max(most[c], in[i * w + first + c]);
      for (std::int64_t i = 0; i < n; ++i)
#pragma omp simd
        for (std::int64_t c = 0; c < count; ++c)
          sums[c] += std::exp(in[i * w + first + c] - most[c]);
      for (std::int64_t c = 0; c < count; ++c) out[first + c] = most[c] + std::log(sums[c]);
    });
  }
  void row_maximum(const T* in, T* out, std::int64_t rows, std::int64_t columns) {
#pragma omp parallel for schedule(static) num_threads(threads_) if (rows * columns >= worth_sharing)
    for (std::int64_t r = 0; r < rows; ++r)
      out[r] = *std::max_element(in + r * columns, in + (r + 1) * columns);
  }

  void product(const T* a, const T* c, T* out, std::int64_t n, std::int64_t b, std::int64_t p) {
    (*blas_)(product_of<T>(n, b, p), a, c, out);
  }

  // out[rows[j]] += values[j]; the rows ascend, so each thread owns whole rows of out.
  void segment_sum(const T* values, const std::int32_t* rows, T* out, std::int64_t m,
                   std::int64_t columns) {
#pragma omp parallel for schedule(static) num_threads(threads_) if (m * columns >= worth_sharing)
    for (std::int64_t first = 0; first < m; ++first) {
      if (first > 0 && rows[first] == rows[first - 1]) continue;
      T* row = out + rows[first] * columns;
      for (std::int64_t j = first; j < m && rows[j] == rows[first]; ++j)
#pragma omp simd
        for (std::int64_t c = 0; c < columns; ++c) row[c] += values[j * columns + c];
    }
  }

 private:
  static constexpr std::int64_t tile = tile_columns;  // and rows of a partial sum

  int threads_ = host_limits().threads;
  std::optional<Blas> blas_ = {};
};

}  // namespace holdfast::arrays::HOLDFAST_ISA
