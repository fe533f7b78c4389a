// SPDX-License-Identifier: Apache-2.0
// Attention in tiles of 64 positions, none of which is kept: forward with a running maximum and
// sum, backward from the logarithms of the sums. Threads share the heads; all query heads of a
// group read its keys and values, which are not repeated. If queries and keys are the same tile, no
// row sees later positions, and half of the products is left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "arrays/host_loops.hpp"
#include "gpt_train/host/attention_tiles.hpp"
#include "gpt_train/problem/problem.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class FusedAttention {
 public:
  FusedAttention(Backend& backend, const Shape& shape, bool back)
      : s_(shape),
        pitch_(shape.query_width() + 2 * shape.key_width()),
        tiles_{shape.head, whole_vectors(shape.head, Lanes<T>::count)},
        threads_(attention_threads(shape)),
        scratch_(backend,
                 std::vector<T>(std::size_t(threads_) * tile *
                                (back ? 8 * tiles_.wide + 2 * tile : 4 * tiles_.wide + tile)),
                 "scratch: tiles") {}

  // qkv: rotated. o: [n, Da]; log_sums: [B, heads, T].
  void forward(const T* qkv, const int* segments, T* o, T* log_sums) const {
    const int tiles = (s_.columns + tile - 1) / tile;
    each_part(s_.batch * s_.heads() * tiles, [=, this](int part, T* scratch) {
      const int b = part / tiles / s_.heads(), h = part / tiles % s_.heads();
      forward_tile(qkv, segments, b, h, part % tiles * tile, o, log_sums, scratch);
    });
  }

  // Writes d_qkv, the gradients by rotated queries and keys.
  void backward(const T* qkv, const int* segments, const T* o, const T* log_sums, const T* d_o,
                T* d_qkv) const {
    each_part(s_.batch * s_.groups, [=, this](int part, T* scratch) {
      backward_group(qkv, segments, part / s_.groups, part % s_.groups, o, log_sums, d_o, d_qkv,
                     scratch);
    });
  }

 private:
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

  void forward_tile(const T* qkv, const int* segments, int b, int h, int first, T* o, T* log_sums,
                    T* scratch) const {
    const std::int64_t row = std::int64_t{b} * s_.columns;
    const int rows = std::min(tile, s_.columns - first), da = s_.query_width();
    const int group = h / s_.repeats, wide = tiles_.wide;
    T* q = scratch;  // scaled for powers of two
    T* v = q + tile * wide;
    T* sum = v + tile * wide;
    T* k = sum + tile * wide;  // [K, tile]
    T* scores = k + tile * wide;
    tiles_.take(qkv + (row + first) * pitch_ + h * s_.head, pitch_, rows,
                static_cast<T>(log2_of_e / std::sqrt(double(s_.head))), q);
    T most[tile], total[tile] = {};
    std::fill(most, most + tile, -std::numeric_limits<T>::infinity());
    std::fill(sum, sum + tile * wide, T(0));
    for (int key = 0; key <= first; key += tile) {
      const int keys = std::min(tile, s_.columns - key);
      if (!touch(segments + row + first, rows, segments + row + key, keys)) continue;
      const T* at = qkv + (row + key) * pitch_ + da + group * s_.head;
      tiles_.take_transposed(at, pitch_, keys, k);
      tiles_.take(at + s_.key_width(), pitch_, keys, T(1), v);
      const bool diagonal = key == first;
      tile_product<T>({q, wide, 1}, rows, s_.head, k, tile, tile, scores, tile, false,
                      diagonal ? Part::columns_to_row : Part::whole);
      for (int i = 0; i < rows; ++i) {
        T* of_row = scores + i * tile;
        const int looked_at = diagonal ? whole_vectors(i + 1, Lanes<T>::count) : tile;
        hide(of_row, segments + row + key, keys, segments[row + first + i], first + i - key + 1);
        const T highest = std::max(most[i], highest_of(of_row, looked_at));
        if (highest == -std::numeric_limits<T>::infinity() && !has_nan(of_row)) {  // no key seen
          std::fill(of_row, of_row + tile, T(0));
          continue;
        }
        const T shrunk = std::exp2(most[i] - highest);
        total[i] = total[i] * shrunk + powers(of_row, highest, looked_at);
        for (int j = 0; j < wide; ++j) sum[i * wide + j] *= shrunk;
        most[i] = highest;
      }
      tile_product<T>({scores, tile, 1}, rows, tile, v, wide, wide, sum, wide, true,
                      diagonal ? Part::depth_to_row : Part::whole);
    }
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < s_.head; ++j)
        o[(row + first + i) * da + h * s_.head + j] = sum[i * wide + j] / total[i];
      log_sums[(std::int64_t{b} * s_.heads() + h) * s_.columns + first + i] =
          static_cast<T>((double(most[i]) + std::log2(double(total[i]))) / log2_of_e);
    }
  }

  void backward_group(const T* qkv, const int* segments, int b, int group, const T* o,
                      const T* log_sums, const T* d_o, T* d_qkv, T* scratch) const {
    const std::int64_t row = std::int64_t{b} * s_.columns;
    const int da = s_.query_width(), dk_width = s_.key_width(), head = s_.head;
    const T scale = static_cast<T>(1 / std::sqrt(double(head)));
    const int wide = tiles_.wide, piece = tile * wide;
    T *k = scratch, *k_columns = k + piece, *v_columns = k_columns + piece, *dk = v_columns + piece,
      *dv = dk + piece, *q = dv + piece, *d_out = q + piece, *dq = d_out + piece,
      *shares = dq + piece, *slopes = shares + tile * tile;
    for (int r = 0; r < s_.repeats; ++r)
      for (int t = 0; t < s_.columns; ++t)
        std::fill_n(d_qkv + (row + t) * pitch_ + (group * s_.repeats + r) * head, head, T(0));
    for (int key = 0; key < s_.columns; key += tile) {
      const int keys = std::min(tile, s_.columns - key);
      const std::int64_t key_at = (row + key) * pitch_ + da + group * head;
      tiles_.take(qkv + key_at, pitch_, keys, T(1), k);
      tiles_.take_transposed(qkv + key_at, pitch_, keys, k_columns);
      tiles_.take_transposed(qkv + key_at + dk_width, pitch_, keys, v_columns);
      std::fill(dk, dk + piece, T(0));
      std::fill(dv, dv + piece, T(0));
      for (int r = 0; r < s_.repeats; ++r)
        for (int first = key; first < s_.columns; first += tile) {
          const int rows = std::min(tile, s_.columns - first);
          if (!touch(segments + row + first, rows, segments + row + key, keys)) continue;
          const int h = group * s_.repeats + r;
          tiles_.take(qkv + (row + first) * pitch_ + h * head, pitch_, rows, scale, q);
          tiles_.take(d_o + (row + first) * da + h * head, da, rows, T(1), d_out);
          const bool diagonal = key == first;
          const Part scored = diagonal ? Part::columns_to_row : Part::whole,
                     looking = diagonal ? Part::depth_to_row : Part::whole,
                     looked_at = diagonal ? Part::depth_from_row : Part::whole;
          tile_product<T>({q, wide, 1}, rows, head, k_columns, tile, tile, shares, tile, false,
                          scored);
          tile_product<T>({d_out, wide, 1}, rows, head, v_columns, tile, tile, slopes, tile, false,
                          scored);
          const T* log_sum = log_sums + (std::int64_t{b} * s_.heads() + h) * s_.columns + first;
          for (int i = 0; i < rows; ++i) {
            hide(shares + i * tile, segments + row + key, keys, segments[row + first + i],
                 first + i - key + 1);
            const T* out = o + (row + first + i) * da + h * head;
            T whole = 0;
#pragma omp simd reduction(+ : whole)
            for (int j = 0; j < head; ++j) whole += d_out[i * wide + j] * out[j];
            const T e = static_cast<T>(log2_of_e);
            for (int j = 0; j < (diagonal ? i + 1 : tile); j += Lanes<T>::count) {
              T* share = shares + i * tile + j;
              T* slope = slopes + i * tile + j;
              const Vector<T> p = power_of_two<T>((load(share) - log_sum[i]) * e);
              store(share, p);
              store(slope, p * (load(slope) - whole));
            }
          }
          tile_product<T>({shares, 1, tile}, keys, rows, d_out, wide, wide, dv, wide, true,
                          looked_at);
          tile_product<T>({slopes, 1, tile}, keys, rows, q, wide, wide, dk, wide, true, looked_at);
          tile_product<T>({slopes, tile, 1}, rows, keys, k, wide, wide, dq, wide, false, looking);
          for (int i = 0; i < rows; ++i)
            for (int j = 0; j < head; ++j)
              d_qkv[(row + first + i) * pitch_ + h * head + j] += scale * dq[i * wide + j];
        }
      for (int i = 0; i < keys; ++i) {
        std::copy_n(dk + i * wide, head, d_qkv + key_at + std::int64_t{i} * pitch_);
        std::copy_n(dv + i * wide, head, d_qkv + key_at + std::int64_t{i} * pitch_ + dk_width);
      }
    }
  }

  Shape s_;
  int pitch_;
  Tiles<T> tiles_;
  int threads_;
  Buffer<T> scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
