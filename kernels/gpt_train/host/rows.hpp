// SPDX-License-Identifier: Apache-2.0
// The operations on rows between the products: norms, the gated unit, the classifier. Compiled per
// instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "arrays/host_loops.hpp"
#include "gpt_train/host/tile_product.hpp"
#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

using arrays::HOLDFAST_ISA::each_long;

// y = x r g; stores r; copies x to `stream` unless that is null.
template <class T>
void norm(const T* x, const T* g, std::int64_t rows, int d, T* y, T* inverse, T* stream) {
  each_long<T>(rows, d, [=](std::int64_t row) {
    const T* from = x + row * d;
    T squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int j = 0; j < d; ++j) squares += from[j] * from[j];
    const T r = 1 / std::sqrt(squares / T(d) + T(norm_epsilon));
    inverse[row] = r;
#pragma omp simd
    for (int j = 0; j < d; ++j) y[row * d + j] = from[j] * r * g[j];
    if (stream) std::copy(from, from + d, stream + row * d);
  });
}
// The same y, recomputed.
template <class T>
void norm_again(const T* x, const T* g, const T* inverse, std::int64_t rows, int d, T* y) {
  each_long<T>(rows, d, [=](std::int64_t row) {
    const T r = inverse[row];
#pragma omp simd
    for (int j = 0; j < d; ++j) y[row * d + j] = x[row * d + j] * r * g[j];
  });
}

// Rows over which a thread sums dg; partial sums have fixed places.
inline constexpr std::int64_t norm_rows = 32;

// dx += or =; sums of dg go to `partial`, [rows / norm_rows, d].
template <class T>
void norm_backward(const T* x, const T* g, const T* inverse, const T* dy, std::int64_t rows, int d,
                   bool add, T* dx, T* dg, T* partial) {
  const std::int64_t blocks = (rows + norm_rows - 1) / norm_rows;
  each_long<T>(blocks, 4 * norm_rows * d, [=](std::int64_t block) {
    T* sum = partial + block * d;
    std::fill(sum, sum + d, T(0));
    const std::int64_t end = std::min(rows, (block + 1) * norm_rows);
    for (std::int64_t row = block * norm_rows; row < end; ++row) {
      const T *from = x + row * d, *back = dy + row * d;
      const T r = inverse[row];
      T mean = 0;
#pragma omp simd reduction(+ : mean)
      for (int j = 0; j < d; ++j) mean += back[j] * g[j] * from[j];
      mean *= r * r / T(d);  // of w xh, and r of the xh that it multiplies
      T* to = dx + row * d;
#pragma omp simd
      for (int j = 0; j < d; ++j) {
        sum[j] += back[j] * from[j] * r;
        to[j] = (add ? to[j] : T(0)) + r * (back[j] * g[j] - from[j] * mean);
      }
    }
  });
  std::fill(dg, dg + d, T(0));
  for (std::int64_t block = 0; block < blocks; ++block)
    for (int j = 0; j < d; ++j) dg[j] += partial[block * d + j];
}

template <class T>
Vector<T> at_most(Vector<T> x, T most) {
  return x < most ? x : everywhere(most);
}
template <class T>
Vector<T> sigmoid(Vector<T> a) {
  return T(1) / (T(1) + exp2<T>(at_most<T>(a * T(-log2_of_e), T(126))));
}

// Calls body(j, lanes that count) for whole vectors of a row; the last may hold fewer.
template <class T, class Body>
void each_vector(int columns, const Body& body) {
  constexpr int lanes = Lanes<T>::count;
  for (int j = 0; j < columns; j += lanes) body(j, std::min(lanes, columns - j));
}
template <class T>
Vector<T> load_some(const T* x, int count) {
  if (count == Lanes<T>::count) return load(x);
  Vector<T> some = {};
  for (int k = 0; k < count; ++k) some[k] = x[k];
  return some;
}
template <class T>
void store_some(T* x, Vector<T> value, int count) {
  if (count == Lanes<T>::count) return store(x, value);
  for (int k = 0; k < count; ++k) x[k] = value[k];
}

// both: [rows, up | gate]; h = up silu(gate).
template <class T>
void gated(const T* both, std::int64_t rows, int inner, T* h) {
  each_long<T>(rows, 8 * inner, [=](std::int64_t row) {
    const T *up = both + row * 2 * inner, *gate = up + inner;
    each_vector<T>(inner, [=](int j, int count) {
      const Vector<T> a = load_some(gate + j, count);
      store_some<T>(h + row * inner + j, load_some(up + j, count) * a * sigmoid<T>(a), count);
    });
  });
}
// Replaces dh by h; writes the gradient of `both` to d_both.
template <class T>
void gated_backward(const T* both, std::int64_t rows, int inner, T* h, T* d_both) {
  each_long<T>(rows, 12 * inner, [=](std::int64_t row) {
    const T *up = both + row * 2 * inner, *gate = up + inner;
    T *d_up = d_both + row * 2 * inner, *d_gate = d_up + inner, *of_row = h + row * inner;
    each_vector<T>(inner, [=](int j, int count) {
      const Vector<T> u = load_some(up + j, count), a = load_some(gate + j, count);
      const Vector<T> dh = load_some(of_row + j, count), s = sigmoid<T>(a);
      store_some<T>(d_up + j, dh * a * s, count);
      store_some<T>(d_gate + j, dh * u * s * (T(1) + a * (T(1) - s)), count);
      store_some<T>(of_row + j, u * a * s, count);
    });
  });
}

// Caps a row of logits z and returns its loss. With `back` the row becomes the gradient of the
// objective; |zc| < 15 needs no maximum.
template <class T>
T classify(T* z, int vocabulary, int target, bool counted, T scale, bool back) {
  constexpr T cap = T(logit_cap), e = T(log2_of_e);
  Vector<T> sums = {};
  each_vector<T>(vocabulary, [&](int j, int count) {
    const Vector<T> x = load_some(z + j, count) * (T(2) * e / cap);
    const Vector<T> tame = at_most<T>(at_least<T>(x, T(-100)), T(100));
    const Vector<T> capped = x == x ? cap - T(2) * cap / (exp2<T>(tame) + T(1)) : x;
    Vector<T> power = power_of_two<T>((capped - cap) * e);
    for (int k = count; k < Lanes<T>::count; ++k) power[k] = 0;
    sums += power;
    store_some<T>(z + j, capped, count);
  });
  const T log_sum = cap + std::log(sum_of<T>(sums));
  const T loss = counted ? log_sum - z[target] : T(0);
  if (!back) return loss;
  const T weight = counted ? scale : T(0), at_target = z[target] / cap;
  each_vector<T>(vocabulary, [&](int j, int count) {
    const Vector<T> capped = load_some(z + j, count), t = capped / cap;
    store_some<T>(z + j, exp2<T>((capped - log_sum) * e) * weight * (T(1) - t * t), count);
  });
  z[target] -= weight * (1 - at_target * at_target);
  return loss;
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
