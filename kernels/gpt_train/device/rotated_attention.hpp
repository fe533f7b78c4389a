// SPDX-License-Identifier: Apache-2.0
// Attention with the rotation of its queries and keys, in rows of q | k | v.
#pragma once

#include "gpt_train/device/angles.hpp"
#include "gpt_train/device/attention.hpp"
#include "gpt_train/device/model_kernels.hpp"

namespace holdfast::gpt_train {

class RotatedAttention {
 public:
  using Rotate = Listed<Rotation, const Bf16*, const Bf16*, const Bf16*, Bf16*>;

  RotatedAttention(Backend& backend, const Shape& shape, const Rotate& rotate)
      : shape_(shape), rotate_(rotate), attention_(backend, shape), angles_(backend, shape) {}

  void see(const int* segments) { attention_.see(segments); }

  // Leaves the rotated values in `rotated`, which may be the input.
  void forward(const Bf16* qkv, Bf16* rotated, Bf16* o, float* log_sums) const {
    turn(qkv, rotated, 1);
    attention_.forward(joined_heads<const Bf16>(shape_, rotated), o, log_sums);
  }
  void backward(const Bf16* rotated, const Bf16* o, const float* log_sums, const Bf16* d_o,
                float* whole, Bf16* d_qkv) const {
    attention_.backward(joined_heads(shape_, rotated), o, log_sums, d_o, whole,
                        joined_heads(shape_, d_qkv));
    turn(d_qkv, d_qkv, -1);
  }

 private:
  void turn(const Bf16* from, Bf16* to, float direction) const {
    const int turned = shape_.query_width() + shape_.key_width();
    rotate_({.grid = {static_cast<unsigned>(shape_.tokens())}, .block = {row_block}},
            {shape_.columns, shape_.head, turned, turned + shape_.key_width(), direction},
            angles_.cosines.data(), angles_.sines.data(), from, to);
  }

  Shape shape_;
  const Rotate& rotate_;
  TiledAttention attention_;
  Angles angles_;
};

}  // namespace holdfast::gpt_train
