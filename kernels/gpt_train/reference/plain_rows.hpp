// SPDX-License-Identifier: Apache-2.0
// The operations of the reference, each one loop over whole arrays with its own result. Compiled
// per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "arrays/host_loops.hpp"
#include "gpt_train/data/data.hpp"
#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA::plain {

using arrays::HOLDFAST_ISA::each;
using arrays::HOLDFAST_ISA::each_long;
using arrays::HOLDFAST_ISA::each_row;

template <class T>
void add(const T* a, const T* b, std::int64_t count, T* out) {
  each<T>(count, [=](std::int64_t k) { out[k] = a[k] + b[k]; });
}
template <class T>
void multiply(const T* a, const T* b, std::int64_t count, T* out) {
  each<T>(count, [=](std::int64_t k) { out[k] = a[k] * b[k]; });
}
template <class T>
void scale(const T* x, double factor, std::int64_t count, T* out) {
  const T by = static_cast<T>(factor);
  each<T>(count, [=](std::int64_t k) { out[k] = by * x[k]; });
}

// The inverse root mean square of each row.
template <class T>
void inverse_roots(const T* x, std::int64_t rows, int d, T* r) {
  each_long<T>(rows, d, [=](std::int64_t row) {
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int j = 0; j < d; ++j) squares += x[row * d + j] * x[row * d + j];
    r[row] = 1 / std::sqrt(squares / T(d) + T(norm_epsilon));
  });
}
template <class T>
void scale_rows(const T* x, const T* r, std::int64_t rows, int d, T* out) {
  each_row<T>(rows, d,
              [=](std::int64_t i, std::int64_t j) { out[i * d + j] = x[i * d + j] * r[i]; });
}
template <class T>
void scale_columns(const T* x, const T* g, std::int64_t rows, int d, T* out) {
  each_row<T>(rows, d,
              [=](std::int64_t i, std::int64_t j) { out[i * d + j] = x[i * d + j] * g[j]; });
}
// out[j] = sum over rows of a b.
template <class T>
void column_sums_of_products(const T* a, const T* b, std::int64_t rows, int d, T* out) {
  arrays::HOLDFAST_ISA::by_column_tile<T>(rows, d, [=](std::int64_t first, std::int64_t count) {
    std::fill_n(out + first, count, T(0));
    for (std::int64_t i = 0; i < rows; ++i)
#pragma omp simd
      for (std::int64_t j = first; j < first + count; ++j) out[j] += a[i * d + j] * b[i * d + j];
  });
}
template <class T>
void row_means_of_products(const T* a, const T* b, std::int64_t rows, int d, T* out) {
  each_long<T>(rows, d, [=](std::int64_t row) {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < d; ++j) sum += a[row * d + j] * b[row * d + j];
    out[row] = sum / T(d);
  });
}
// out = r (w - xh mean)
template <class T>
void norm_slope(const T* w, const T* xh, const T* mean, const T* r, std::int64_t rows, int d,
                T* out) {
  each_row<T>(rows, d, [=](std::int64_t i, std::int64_t j) {
    out[i * d + j] = r[i] * (w[i * d + j] - xh[i * d + j] * mean[i]);
  });
}

// [B, T, heads, K] as [B, heads, T, K], each head `repeats` times.
template <class T>
void heads_first(const T* x, int batch, int columns, int heads, int repeats, int width, T* out) {
  each_long<T>(
      std::int64_t{batch} * heads * repeats, std::int64_t{columns} * width, [=](std::int64_t at) {
        const std::int64_t b = at / (heads * repeats), h = at % (heads * repeats) / repeats;
        for (std::int64_t t = 0; t < columns; ++t)
          std::copy_n(x + ((b * columns + t) * heads + h) * width, width,
                      out + (at * columns + t) * width);
      });
}
// The inverse, with the repeated heads added up.
template <class T>
void heads_last(const T* x, int batch, int columns, int heads, int repeats, int width, T* out) {
  each_long<T>(
      std::int64_t{batch} * columns * heads, std::int64_t{repeats} * width, [=](std::int64_t at) {
        const std::int64_t b = at / (columns * heads), t = at / heads % columns, h = at % heads;
        for (int j = 0; j < width; ++j) {
          T sum = 0;
          for (int r = 0; r < repeats; ++r)
            sum += x[(((b * heads + h) * repeats + r) * columns + t) * width + j];
          out[at * width + j] = sum;
        }
      });
}
// cosines, sines: [T, K / 2].
template <class T>
void rotate(const T* x, const T* cosines, const T* sines, std::int64_t rows, int columns, int heads,
            int width, bool backward, T* out) {
  const int half = width / 2;
  each_long<T>(rows, std::int64_t{heads} * width, [=](std::int64_t row) {
    const T *c = cosines + row % columns * half, *s = sines + row % columns * half;
    for (int h = 0; h < heads; ++h) {
      const T* from = x + (row * heads + h) * width;
      T* to = out + (row * heads + h) * width;
#pragma omp simd
      for (int j = 0; j < half; ++j) {
        const T w = backward ? -s[j] : s[j];
        to[j] = from[j] * c[j] - from[half + j] * w;
        to[half + j] = from[half + j] * c[j] + from[j] * w;
      }
    }
  });
}

// Scores [B, heads, T, T], hidden if the pair does not see each other.
template <class T>
void mask(const T* scores, const int* segments, int batch, int heads, int columns, T* out) {
  each_long<T>(std::int64_t{batch} * heads * columns, columns, [=](std::int64_t row) {
    const std::int64_t t = row % columns, of = row / columns / heads * columns;
#pragma omp simd
    for (int e = 0; e < columns; ++e)
      out[row * columns + e] = e <= t && segments[of + e] == segments[of + t]
                                   ? scores[row * columns + e]
                                   : -std::numeric_limits<T>::infinity();
  });
}
template <class T>
void softmax(const T* x, std::int64_t rows, std::int64_t columns, T* out) {
  each_long<T>(rows, 8 * columns, [=](std::int64_t row) {
    const T* from = x + row * columns;
    T* to = out + row * columns;
    const T most = *std::max_element(from, from + columns);
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < columns; ++j) sum += to[j] = std::exp(from[j] - most);
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) to[j] /= sum;
  });
}
// out = p (dp - sum p dp)
template <class T>
void softmax_slope(const T* p, const T* dp, std::int64_t rows, int columns, T* out) {
  each_long<T>(rows, 2 * columns, [=](std::int64_t row) {
    const T *share = p + row * columns, *slope = dp + row * columns;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < columns; ++j) sum += share[j] * slope[j];
#pragma omp simd
    for (int j = 0; j < columns; ++j) out[row * columns + j] = share[j] * (slope[j] - sum);
  });
}

template <class T>
void silu(const T* a, std::int64_t count, T* out) {
  each<T>(count, [=](std::int64_t k) { out[k] = a[k] / (1 + std::exp(-a[k])); });
}
// out = dh u silu'(a)
template <class T>
void silu_slope(const T* dh, const T* u, const T* a, std::int64_t count, T* out) {
  each<T>(count, [=](std::int64_t k) {
    const T s = 1 / (1 + std::exp(-a[k]));
    out[k] = dh[k] * u[k] * s * (1 + a[k] * (1 - s));
  });
}
template <class T>
void cap(const T* z, std::int64_t count, T* out) {
  each<T>(count, [=](std::int64_t k) { out[k] = T(logit_cap) * std::tanh(z[k] / T(logit_cap)); });
}
// The losses of capped logits [rows, v]: 0 if a position does not count.
template <class T>
void losses(const T* capped, std::int64_t rows, int v, const Targets& targets, T* out) {
  each_long<T>(rows, 8 * v, [=, &targets](std::int64_t row) {
    const T* of = capped + row * v;
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < v; ++j) sum += std::exp(of[j]);
    out[row] = targets.counted[row] ? std::log(sum) - of[targets.targets[row]] : T(0);
  });
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA::plain
