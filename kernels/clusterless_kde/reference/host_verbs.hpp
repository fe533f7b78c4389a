// SPDX-License-Identifier: Apache-2.0
// What the eager program asks of memory, as loops on the host. Compiled for each instruction set in
// a namespace of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "clusterless_kde/reference/eager_arrays.hpp"
#include "clusterless_kde/reference/host_loops.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

template <class T>
class HostVerbs {
 public:
  using Value = T;

  // While one lives, matrix products flush denormal numbers, as all other loops do by themselves.
  // flops: of a step's products. So many take a millisecond with all that surrounds them, waking
  // the threads 10 to 20 us. Of fewer the library may still share a large one, as it decides by
  // itself: the denormal numbers that another thread then meets cost less than waking it each time.
  struct Step : FlushTeamToZero<T> {
    explicit Step(double flops) : FlushTeamToZero<T>(flops >= 1e7) {}
  };

  HostVerbs(Backend& backend, bool multiplies) {
    const FlushTeamToZero<T> started(true);
    if (multiplies) blas_.emplace(backend);
  }

  void fill(T value, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = value; });
  }
  void clear(T* out, std::int64_t count) { std::fill_n(out, count, T(0)); }
  void copy(const T* from, T* to, std::int64_t count) { std::copy_n(from, count, to); }

  void pdf(const Axis<T>& axis, T* out, std::int64_t n, std::int64_t w) {
    const T inverse = axis.inverse_width(), scale = axis.scale();
    each_row<T>(n, w, [=, a = axis.samples, b = axis.points](std::int64_t i, std::int64_t c) {
      out[i * w + c] = scale * std::exp(gauss_exponent(b[c], a[i], inverse));
    });
  }
  void log_pdf(const Axis<T>& axis, T* out, std::int64_t n, std::int64_t w) {
    const T inverse = axis.inverse_width(), log_scale = axis.log_scale();
    each_row<T>(n, w, [=, a = axis.samples, b = axis.points](std::int64_t i, std::int64_t c) {
      out[i * w + c] = log_scale + gauss_exponent(b[c], a[i], inverse);
    });
  }

  void add(const T* a, const T* b, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] + b[i]; });
  }
  void subtract(const T* a, const T* b, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] - b[i]; });
  }
  void multiply(const T* a, const T* b, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] * b[i]; });
  }
  void exp(const T* a, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = std::exp(a[i]); });
  }
  void log(const T* a, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = std::log(a[i]); });
  }
  void shift(const T* a, T by, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] + by; });
  }
  void scale(const T* a, T by, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] * by; });
  }
  void divide(const T* a, T by, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] / by; });
  }
  void clip(const T* a, T least, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = a[i] < least ? least : a[i]; });
  }
  void masked_ratio(const T* a, const T* b, T otherwise, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = b[i] > 0 ? a[i] / b[i] : otherwise; });
  }
  void below(const T* a, T least, unsigned char* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = std::abs(a[i]) < least; });
  }
  void select(const unsigned char* mask, T value, const T* otherwise, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = mask[i] ? value : otherwise[i]; });
  }
  void place(const T* whole, const T* part, std::int64_t first, std::int64_t size, T* out,
             std::int64_t count) {
    each<T>(first, [=](std::int64_t i) { out[i] = whole[i]; });
    each<T>(size, [=](std::int64_t i) { out[first + i] = part[i]; });
    each<T>(count - first - size,
            [=, end = first + size](std::int64_t i) { out[end + i] = whole[end + i]; });
  }

  void divide_columns(const T* a, const T* b, T* out, std::int64_t rows, std::int64_t columns) {
    each_row<T>(rows, columns, [=](std::int64_t r, std::int64_t c) {
      out[r * columns + c] = a[r * columns + c] / b[c];
    });
  }
  void subtract_columns(const T* a, const T* b, T* out, std::int64_t rows, std::int64_t columns) {
    each_row<T>(rows, columns, [=](std::int64_t r, std::int64_t c) {
      out[r * columns + c] = a[r * columns + c] - b[c];
    });
  }
  void keep_columns(const T* a, const T* b, T otherwise, T* out, std::int64_t rows,
                    std::int64_t columns) {
    each_row<T>(rows, columns, [=](std::int64_t r, std::int64_t c) {
      out[r * columns + c] = b[c] > 0 ? a[r * columns + c] : otherwise;
    });
  }
  void negated_rows(const T* row, T* out, std::int64_t rows, std::int64_t columns) {
    each_row<T>(rows, columns,
                [=](std::int64_t r, std::int64_t c) { out[r * columns + c] = -row[c]; });
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

  // out[rows[j]] += values[j]; the rows ascend, so that a thread has whole rows of out.
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

  void scale_rows(const T* from, std::int64_t pitch, const T* by, T* out, std::int64_t rows,
                  std::int64_t columns) {
    each_row<T>(rows, columns, [=](std::int64_t r, std::int64_t c) {
      out[r * columns + c] = from[r * pitch + c] * by[r];
    });
  }
  void square_sum(const T* in, T* out, std::int64_t rows, std::int64_t columns) {
    each<T>(columns, [=](std::int64_t c) {
      T sum = 0;
      for (std::int64_t r = 0; r < rows; ++r) sum += in[r * columns + c] * in[r * columns + c];
      out[c] = sum;
    });
  }
  void expanded(const T* a, const T* b, const T* cross, T log_scale, T* out, std::int64_t n,
                std::int64_t w) {
    each_row<T>(n, w, [=](std::int64_t i, std::int64_t c) {
      out[i * w + c] = log_scale + expanded_exponent(a[i], b[c], cross[i * w + c]);
    });
  }

  void joint_maximum(const T* marks, const T* places, T* out, std::int64_t n, std::int64_t w,
                     std::int64_t bins, std::int64_t first, std::int64_t count) {
    joint<T>(w, n * count, [=](std::int64_t j) {
      T* most = out + j * bins + first;
      std::fill_n(most, count, -std::numeric_limits<T>::infinity());
      for (std::int64_t i = 0; i < n; ++i)
#pragma omp simd
        for (std::int64_t p = 0; p < count; ++p)
          most[p] = std::max(most[p], marks[i * w + j] + places[i * bins + first + p]);
    });
  }
  void joint_log_sum(const T* marks, const T* places, const T* most, T* out, std::int64_t n,
                     std::int64_t w, std::int64_t bins, std::int64_t first, std::int64_t count) {
    joint<T>(w, n * count, [=](std::int64_t j) {
      const T* top = most + j * bins + first;
      T* sum = out + j * bins + first;
      std::fill_n(sum, count, T(0));
      for (std::int64_t i = 0; i < n; ++i)
#pragma omp simd
        for (std::int64_t p = 0; p < count; ++p)
          sum[p] += std::exp(marks[i * w + j] + places[i * bins + first + p] - top[p]);
      for (std::int64_t p = 0; p < count; ++p) sum[p] = top[p] + std::log(sum[p]);
    });
  }

  void half_exp(const T* in, const T* top, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = std::exp((in[i] - *top) / 2); });
  }
  void shifted_exp(const T* in, const T* shift, const T* share, T* out, std::int64_t rows,
                   std::int64_t columns) {
    each_row<T>(rows, columns, [=](std::int64_t r, std::int64_t c) {
      out[r * columns + c] = std::exp(in[r * columns + c] - shift[r]) * share[r];
    });
  }
  void shifted_log(const T* in, const T* by, T* out, std::int64_t count) {
    each<T>(count, [=](std::int64_t i) { out[i] = std::log(in[i]) + *by; });
  }

 private:
  static constexpr std::int64_t tile = tile_columns;  // and rows of a partial sum

  int threads_ = host_limits().threads;
  std::optional<Blas> blas_ = {};
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
