// SPDX-License-Identifier: Apache-2.0
// The reference's attention on a device: rotation, products over the whole square including the
// masked half, every result in its own memory. Eleven launches forward and twelve backward.
#pragma once

#include "gpt_train/problem/shape.hpp"
#include "gpt_train/reference/plain_kernels.hpp"
#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train {

class PlainAttention {
 public:
  // Throws Error{bad_input} if the length of rows is not a multiple of eight. kernels and blas: of
  // the same backend.
  PlainAttention(Backend& backend, const PlainKernels& kernels, Blas& blas, const Shape& shape,
                 bool goes_back);

  // Inputs written by the products before, and gradients read by those after: q, dq [n, Da]; k, v,
  // dk, dv [n, Dk].
  Bf16* q() const { return q_; }
  Bf16* k() const { return k_; }
  Bf16* v() const { return v_; }
  Bf16* o() const { return o_; }  // [n, Da]
  Bf16* d_q() const { return d_q_; }
  Bf16* d_k() const { return d_k_; }
  Bf16* d_v() const { return d_v_; }

  // cosines, sines: [T, K / 2]; segments: [B, T].
  void forward(const Bf16* cosines, const Bf16* sines, const int* segments);
  void backward(const Bf16* cosines, const Bf16* sines, const Bf16* d_o);  // d_o: [n, Da]

  static std::size_t bytes(const Shape& shape, bool goes_back);

  // Bytes read and written so far to move heads first or last.
  std::int64_t layout_bytes() const { return layout_bytes_; }

 private:
  void place(bool goes_back);
  void rotate(const Bf16* x, const Bf16* cosines, const Bf16* sines, int heads, float direction,
              Bf16* out);
  void first(const Bf16* x, int heads, int repeats, Bf16* out);
  void last(const Bf16* x, int heads, int repeats, Bf16* out);
  void scale(const Bf16* x, Bf16* out);
  // One product per row and head: c [m, n] = op(a) op(b).
  void by_head(int m, int n, int k, bool turn_a, bool turn_b, const Bf16* a, const Bf16* b,
               Bf16* c);
  std::int64_t rows() const { return std::int64_t{s_.batch} * s_.heads() * s_.columns; }

  Blas& blas_;
  Shape s_;
  const PlainKernels& kernels_;
  Buffer<Bf16> memory_;
  std::int64_t layout_bytes_ = 0;

  Bf16 *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *rotated_q_ = nullptr, *rotated_k_ = nullptr,
       *heads_q_ = nullptr, *heads_k_ = nullptr, *heads_v_ = nullptr, *heads_o_ = nullptr,
       *scaled_ = nullptr, *o_ = nullptr, *scores_ = nullptr, *masked_ = nullptr,
       *shares_ = nullptr;
  Bf16 *heads_d_o_ = nullptr, *heads_d_q_ = nullptr, *heads_d_k_ = nullptr, *heads_d_v_ = nullptr,
       *scaled_back_ = nullptr, *rotated_d_q_ = nullptr, *d_q_ = nullptr, *rotated_d_k_ = nullptr,
       *d_k_ = nullptr, *d_v_ = nullptr, *d_shares_ = nullptr, *d_scores_ = nullptr;
};

}  // namespace holdfast::gpt_train
