// SPDX-License-Identifier: Apache-2.0
// Attention in tiles of 64 positions, of which none is kept: forward with a running maximum and
// sum, backward from the logarithms of the sums. Heads are shared among threads; a group's keys and
// values are read by all of its query heads and repeated for none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "arrays/host_loops.hpp"
#include "gpt_train/host/tile_product.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/problem/rates.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

inline constexpr int tile = 64;
inline constexpr double log2_of_e = 1.442695040888963407;

inline int whole_vectors(int columns, int lanes) {
  return (columns + lanes - 1) / lanes * lanes;
}

template <class T>
class FusedAttention {
 public:
  FusedAttention(Backend& backend, const Shape& shape, bool back)
      : s_(shape),
        pitch_(shape.query_width() + 2 * shape.key_width()),
        wide_(whole_vectors(shape.head, Lanes<T>::count)),
        angles_(backend, table(shape), "inputs: angles"),
        threads_(attention_threads(shape)),
        scratch_(backend,
                 std::vector<T>(std::size_t(threads_) * tile *
                                (back ? 8 * wide_ + 2 * tile : 4 * wide_ + tile)),
                 "scratch: tiles") {}

  // Rotates the queries and keys of qkv [n, Da + 2 Dk], from `in` to `out`, which may be the same;
  // backward by the opposite angle. Values are copied where the two differ.
  void rotate(const T* in, T* out, bool backward) const {
    const int half = s_.head / 2, rotated = s_.heads() + s_.groups;
    const T* angles = angles_.data();
    arrays::HOLDFAST_ISA::each_long<T>(s_.tokens(), 2 * pitch_, [=, this](std::int64_t row) {
      const T* angle = angles + row % s_.columns * s_.head;
      for (int h = 0; h < rotated; ++h) {
        const T* from = in + row * pitch_ + h * s_.head;
        T* to = out + row * pitch_ + h * s_.head;
#pragma omp simd
        for (int j = 0; j < half; ++j) {
          const T c = angle[j], w = backward ? -angle[half + j] : angle[half + j];
          const T first = from[j], second = from[half + j];
          to[j] = first * c - second * w;
          to[half + j] = second * c + first * w;
        }
      }
      if (in != out)
        std::copy(in + row * pitch_ + rotated * s_.head, in + (row + 1) * pitch_,
                  out + row * pitch_ + rotated * s_.head);
    });
  }

  // qkv: rotated. o: [n, Da]; log_sums: [B, heads, T].
  void forward(const T* qkv, const int* segments, T* o, T* log_sums) const {
    const int tiles = (s_.columns + tile - 1) / tile;
    each_part(s_.batch * s_.heads() * tiles, [=, this](int part, T* scratch) {
      const int b = part / tiles / s_.heads(), h = part / tiles % s_.heads();
      forward_tile(qkv, segments, b, h, part % tiles * tile, o, log_sums, scratch);
    });
  }

  // d_qkv: written, before rotation is undone.
  void backward(const T* qkv, const int* segments, const T* o, const T* log_sums, const T* d_o,
                T* d_qkv) const {
    each_part(s_.batch * s_.groups, [=, this](int part, T* scratch) {
      backward_group(qkv, segments, part / s_.groups, part % s_.groups, o, log_sums, d_o, d_qkv,
                     scratch);
    });
  }

 private:
  // [T, cosines then sines of K / 2].
  static std::vector<T> table(const Shape& s) {
    const int half = s.head / 2;
    std::vector<T> all(std::size_t(s.columns) * s.head);
    for (int t = 0; t < s.columns; ++t)
      for (int j = 0; j < half; ++j) {
        const double angle = t * std::pow(rope_base, -double(j) / half);
        all[t * s.head + j] = static_cast<T>(std::cos(angle));
        all[t * s.head + half + j] = static_cast<T>(std::sin(angle));
      }
    return all;
  }

  template <class Body>
  void each_part(int parts, const Body& body) const {
    const std::size_t each = scratch_.size() / threads_;
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    {
      const FlushToZero<T> flush;
      T* scratch = scratch_.data() + omp_get_thread_num() * each;
#pragma omp for schedule(dynamic) nowait
      for (int part = 0; part < parts; ++part) body(part, scratch);
    }
  }

  // A tile of one head, in rows of whole vectors; what is behind a row or the last row is zero.
  void take(const T* from, int row_pitch, int rows, T factor, T* to) const {
    for (int i = 0; i < rows; ++i) {
#pragma omp simd
      for (int j = 0; j < s_.head; ++j) to[i * wide_ + j] = factor * from[i * row_pitch + j];
      for (int j = s_.head; j < wide_; ++j) to[i * wide_ + j] = 0;
    }
    std::fill(to + rows * wide_, to + tile * wide_, T(0));
  }
  void take_transposed(const T* from, int row_pitch, int rows, T* to) const {
    for (int i = 0; i < tile; ++i)
      for (int j = 0; j < s_.head; ++j)
        to[j * tile + i] = i < rows ? from[i * row_pitch + j] : T(0);
  }

  // Whether a tile has a pair that sees each other: segments do not overlap where it has not.
  static bool touch(const int* queries, int query_rows, const int* keys, int key_rows) {
    const auto [q_low, q_high] = std::minmax_element(queries, queries + query_rows);
    const auto [k_low, k_high] = std::minmax_element(keys, keys + key_rows);
    return *k_low <= *q_high && *q_low <= *k_high;
  }
  // Scores of a row that looks at keys before `seen`, of its own segment alone.
  static void hide(T* scores, const int* keys, int rows, int own, int seen) {
    seen = std::clamp(seen, 0, rows);
#pragma omp simd
    for (int j = 0; j < seen; ++j)
      scores[j] = keys[j] == own ? scores[j] : -std::numeric_limits<T>::infinity();
    for (int j = seen; j < tile; ++j) scores[j] = -std::numeric_limits<T>::infinity();
  }

  static T highest_of(const T* scores) {
    Vector<T> high = load(scores);
    for (int j = Lanes<T>::count; j < tile; j += Lanes<T>::count) {
      const Vector<T> next = load(scores + j);
      high = next > high ? next : high;
    }
    T highest = high[0];
    for (int k = 1; k < Lanes<T>::count; ++k) highest = std::max(highest, high[k]);
    return highest;
  }
  // The highest of numbers passes by what is none.
  static bool has_nan(const T* scores) {
    return std::any_of(scores, scores + tile, [](T score) { return score != score; });
  }
  // Powers of two of a row of scores less `most`, in place; their sum.
  static T powers(T* scores, T most) {
    Vector<T> sum = {};
    for (int j = 0; j < tile; j += Lanes<T>::count) {
      const Vector<T> power = power_of_two<T>(load(scores + j) - most);
      store(scores + j, power);
      sum += power;
    }
    return sum_of<T>(sum);
  }

  void forward_tile(const T* qkv, const int* segments, int b, int h, int first, T* o, T* log_sums,
                    T* scratch) const {
    const std::int64_t row = std::int64_t{b} * s_.columns;
    const int rows = std::min(tile, s_.columns - first), da = s_.query_width();
    const int group = h / s_.repeats;
    T* q = scratch;  // scaled for powers of two
    T* v = q + tile * wide_;
    T* sum = v + tile * wide_;
    T* k = sum + tile * wide_;  // [K, tile]
    T* scores = k + tile * wide_;
    take(qkv + (row + first) * pitch_ + h * s_.head, pitch_, rows,
         static_cast<T>(log2_of_e / std::sqrt(double(s_.head))), q);
    T most[tile], total[tile] = {};
    std::fill(most, most + tile, -std::numeric_limits<T>::infinity());
    std::fill(sum, sum + tile * wide_, T(0));
    for (int key = 0; key <= first; key += tile) {
      const int keys = std::min(tile, s_.columns - key);
      if (!touch(segments + row + first, rows, segments + row + key, keys)) continue;
      const T* at = qkv + (row + key) * pitch_ + da + group * s_.head;
      take_transposed(at, pitch_, keys, k);
      take(at + s_.key_width(), pitch_, keys, T(1), v);
      tile_product<T>({q, wide_, 1}, rows, s_.head, k, tile, tile, scores, tile, false);
      for (int i = 0; i < rows; ++i) {
        T* of_row = scores + i * tile;
        hide(of_row, segments + row + key, keys, segments[row + first + i], first + i - key + 1);
        const T highest = std::max(most[i], highest_of(of_row));
        if (highest == -std::numeric_limits<T>::infinity() && !has_nan(of_row)) {  // nothing seen
          std::fill(of_row, of_row + tile, T(0));
          continue;
        }
        const T shrunk = std::exp2(most[i] - highest);
        total[i] = total[i] * shrunk + powers(of_row, highest);
        for (int j = 0; j < wide_; ++j) sum[i * wide_ + j] *= shrunk;
        most[i] = highest;
      }
      tile_product<T>({scores, tile, 1}, rows, tile, v, wide_, wide_, sum, wide_, true);
    }
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < s_.head; ++j)
        o[(row + first + i) * da + h * s_.head + j] = sum[i * wide_ + j] / total[i];
      log_sums[(std::int64_t{b} * s_.heads() + h) * s_.columns + first + i] =
          static_cast<T>((double(most[i]) + std::log2(double(total[i]))) / log2_of_e);
    }
  }

  void backward_group(const T* qkv, const int* segments, int b, int group, const T* o,
                      const T* log_sums, const T* d_o, T* d_qkv, T* scratch) const {
    const std::int64_t row = std::int64_t{b} * s_.columns;
    const int da = s_.query_width(), dk_width = s_.key_width(), head = s_.head;
    const T scale = static_cast<T>(1 / std::sqrt(double(head)));
    const int piece = tile * wide_;
    T *k = scratch, *k_columns = k + piece, *v_columns = k_columns + piece, *dk = v_columns + piece,
      *dv = dk + piece, *q = dv + piece, *d_out = q + piece, *dq = d_out + piece,
      *shares = dq + piece, *slopes = shares + tile * tile;
    for (int r = 0; r < s_.repeats; ++r)
      for (int t = 0; t < s_.columns; ++t)
        std::fill_n(d_qkv + (row + t) * pitch_ + (group * s_.repeats + r) * head, head, T(0));
    for (int key = 0; key < s_.columns; key += tile) {
      const int keys = std::min(tile, s_.columns - key);
      const std::int64_t key_at = (row + key) * pitch_ + da + group * head;
      take(qkv + key_at, pitch_, keys, T(1), k);
      take_transposed(qkv + key_at, pitch_, keys, k_columns);
      take_transposed(qkv + key_at + dk_width, pitch_, keys, v_columns);
      std::fill(dk, dk + piece, T(0));
      std::fill(dv, dv + piece, T(0));
      for (int r = 0; r < s_.repeats; ++r)
        for (int first = key; first < s_.columns; first += tile) {
          const int rows = std::min(tile, s_.columns - first);
          if (!touch(segments + row + first, rows, segments + row + key, keys)) continue;
          const int h = group * s_.repeats + r;
          take(qkv + (row + first) * pitch_ + h * head, pitch_, rows, scale, q);
          take(d_o + (row + first) * da + h * head, da, rows, T(1), d_out);
          tile_product<T>({q, wide_, 1}, rows, head, k_columns, tile, tile, shares, tile, false);
          tile_product<T>({d_out, wide_, 1}, rows, head, v_columns, tile, tile, slopes, tile,
                          false);
          const T* log_sum = log_sums + (std::int64_t{b} * s_.heads() + h) * s_.columns + first;
          for (int i = 0; i < rows; ++i) {
            hide(shares + i * tile, segments + row + key, keys, segments[row + first + i],
                 first + i - key + 1);
            const T* out = o + (row + first + i) * da + h * head;
            T whole = 0;
#pragma omp simd reduction(+ : whole)
            for (int j = 0; j < head; ++j) whole += d_out[i * wide_ + j] * out[j];
            const T e = static_cast<T>(log2_of_e);
            for (int j = 0; j < tile; j += Lanes<T>::count) {
              T* share = shares + i * tile + j;
              T* slope = slopes + i * tile + j;
              const Vector<T> p = power_of_two<T>((load(share) - log_sum[i]) * e);
              store(share, p);
              store(slope, p * (load(slope) - whole));
            }
          }
          tile_product<T>({shares, 1, tile}, keys, rows, d_out, wide_, wide_, dv, wide_, true);
          tile_product<T>({slopes, 1, tile}, keys, rows, q, wide_, wide_, dk, wide_, true);
          tile_product<T>({slopes, tile, 1}, rows, keys, k, wide_, wide_, dq, wide_, false);
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < head; ++j)
              d_qkv[(row + first + i) * pitch_ + h * head + j] += scale * dq[i * wide_ + j];
        }
      for (int i = 0; i < keys; ++i) {
        std::copy_n(dk + i * wide_, head, d_qkv + key_at + std::int64_t{i} * pitch_);
        std::copy_n(dv + i * wide_, head, d_qkv + key_at + std::int64_t{i} * pitch_ + dk_width);
      }
    }
  }

  Shape s_;
  int pitch_, wide_;
  Buffer<T> angles_;
  int threads_;
  Buffer<T> scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
