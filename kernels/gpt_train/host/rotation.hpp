// SPDX-License-Identifier: Apache-2.0
// The rotation of queries and keys by their positions. Compiled per instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "arrays/host_loops.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/problem/shape.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class RotationByPosition {
 public:
  RotationByPosition(Backend& backend, const Shape& shape)
      : s_(shape),
        pitch_(shape.query_width() + 2 * shape.key_width()),
        angles_(backend, table(shape), "inputs: angles") {}

  // Rotates the queries and keys of qkv [n, Da + 2 Dk], from `in` to `out`, which may be the same;
  // `backward` by the opposite angle. Values are copied if the two differ.
  void operator()(const T* in, T* out, bool backward) const {
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

  Shape s_;
  int pitch_;
  Buffer<T> angles_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
