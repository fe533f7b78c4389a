// SPDX-License-Identifier: Apache-2.0
// Attention on a device without an array of T by T: forward in one launch, backward in two, and one
// more for each new batch. The caller rotates: queries and keys arrive rotated, and their gradients
// are those of rotated ones.
#pragma once

#include "gpt_train/device/attention_kernels.hpp"
#include "gpt_train/problem/shape.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train {

// Views of the heads in rows of Da + 2 Dk numbers: queries, then keys, then values.
template <class T>
Heads<T> joined_heads(const Shape& shape, T* qkv) {
  const int da = shape.query_width(), dk = shape.key_width();
  return {qkv, qkv + da, qkv + da + dk, da + 2 * dk};
}

class TiledAttention {
 public:
  // Throws Error{bad_input} for a head width other than 32, 64 or 128, Error{device} if no matrix
  // unit takes bf16.
  TiledAttention(Backend& backend, const Shape& shape);

  // To be called once per batch, before the rest. segments: [B, T], read by each launch.
  void see(const int* segments);

  // o: [n, Da], log_sums: [B, heads, T]; all pointers are aligned to 16 bytes.
  void forward(const Heads<const Bf16>& in, Bf16* o, float* log_sums) const;
  // Overwrites all of d. whole: [B, heads, T], scratch.
  void backward(const Heads<const Bf16>& in, const Bf16* o, const float* log_sums, const Bf16* d_o,
                float* whole, const Heads<Bf16>& d) const;

  static std::size_t bytes(const Shape& shape);  // held by this object

 private:
  unsigned tiles() const { return blocks(shape_.columns, attention_tile); }
  LaunchShape launch(unsigned heads) const;

  Shape shape_;
  AttentionKernels kernels_;
  Buffer<SegmentRange> ranges_;  // [B, tiles]
  AttentionForm form_;
};

}  // namespace holdfast::gpt_train
