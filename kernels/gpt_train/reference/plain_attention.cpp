// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/reference/plain_attention.hpp"

#include <cmath>
#include <initializer_list>

#include "gpt_train/problem/dense.hpp"

namespace holdfast::gpt_train {
namespace {

const Shape& checked(const Shape& shape) {
  if (shape.columns % 8 != 0)
    throw Error(Fault::bad_input,
                text("seq = ", shape.columns,
                     ": the reference on a device squares rows, so it must be a multiple of 8"));
  return shape;  // NOLINT(bugprone-return-const-ref-from-parameter): a member is made of it
}

std::int64_t square(const Shape& s) {
  return std::int64_t{s.batch} * s.heads() * s.columns * s.columns;
}

}  // namespace

std::size_t PlainAttention::bytes(const Shape& s, bool goes_back) {
  const std::int64_t n = s.tokens(), da = s.query_width(), dk = s.key_width();
  const std::int64_t forward = n * (8 * da + 3 * dk) + 3 * square(s);
  const std::int64_t back = n * (7 * da + 3 * dk) + 2 * square(s);
  return static_cast<std::size_t>(forward + (goes_back ? back : 0)) * sizeof(Bf16);
}

PlainAttention::PlainAttention(Backend& backend, const PlainKernels& kernels, Blas& blas,
                               const Shape& shape, bool goes_back)
    : blas_(blas),
      s_(checked(shape)),
      kernels_(kernels),
      memory_(backend, bytes(shape, goes_back) / sizeof(Bf16), "activations: attention") {
  place(goes_back);
}

void PlainAttention::place(bool goes_back) {
  const std::int64_t da = s_.tokens() * s_.query_width(), dk = s_.tokens() * s_.key_width(),
                     all = square(s_);
  Bf16* next = memory_.data();
  const auto give = [&](std::int64_t count, std::initializer_list<Bf16**> wanted) {
    for (Bf16** to : wanted) {
      *to = next;
      next += count;
    }
  };
  give(da, {&q_, &rotated_q_, &heads_q_, &heads_k_, &heads_v_, &heads_o_, &scaled_, &o_});
  give(dk, {&k_, &v_, &rotated_k_});
  give(all, {&scores_, &masked_, &shares_});
  if (!goes_back) return;
  give(da,
       {&heads_d_o_, &heads_d_q_, &heads_d_k_, &heads_d_v_, &scaled_back_, &rotated_d_q_, &d_q_});
  give(dk, {&rotated_d_k_, &d_k_, &d_v_});
  give(all, {&d_shares_, &d_scores_});
}

void PlainAttention::rotate(const Bf16* x, const Bf16* cosines, const Bf16* sines, int heads,
                            float direction, Bf16* out) {
  const std::int64_t pairs = s_.tokens() * heads * s_.head / 4;
  kernels_.rotate_heads(plain_flat(pairs), x, cosines, sines, pairs, s_.columns, heads, s_.head,
                        direction, out);
}
void PlainAttention::first(const Bf16* x, int heads, int repeats, Bf16* out) {
  const std::int64_t eights = s_.tokens() * heads * repeats * s_.head / 8;
  kernels_.heads_first(plain_flat(eights), x, eights, s_.columns, heads, repeats, s_.head, out);
  layout_bytes_ += 2 * 8 * eights * std::int64_t{sizeof(Bf16)};
}
void PlainAttention::last(const Bf16* x, int heads, int repeats, Bf16* out) {
  const std::int64_t pairs = s_.tokens() * heads * s_.head / 2;
  kernels_.heads_last(plain_flat(pairs), x, pairs, s_.columns, heads, repeats, s_.head, out);
  layout_bytes_ += (repeats + 1) * 2 * pairs * std::int64_t{sizeof(Bf16)};
}
void PlainAttention::scale(const Bf16* x, Bf16* out) {
  const std::int64_t pairs = s_.tokens() * s_.query_width() / 2;
  kernels_.scale_queries(plain_flat(pairs), x, pairs,
                         static_cast<float>(1 / std::sqrt(double(s_.head))), out);
}
void PlainAttention::by_head(int m, int n, int k, bool turn_a, bool turn_b, const Bf16* a,
                             const Bf16* b, Bf16* c) {
  blas_(dense(Precision::bf16, m, n, k, turn_a, turn_b, s_.batch * s_.heads()), a, b, c);
}

void PlainAttention::forward(const Bf16* cosines, const Bf16* sines, const int* segments) {
  const int t = s_.columns, heads = s_.heads(), groups = s_.groups, repeats = s_.repeats;
  rotate(q_, cosines, sines, heads, 1, rotated_q_);
  rotate(k_, cosines, sines, groups, 1, rotated_k_);
  first(rotated_q_, heads, 1, heads_q_);
  first(rotated_k_, groups, repeats, heads_k_);
  first(v_, groups, repeats, heads_v_);
  scale(heads_q_, scaled_);
  by_head(t, t, s_.head, false, true, scaled_, heads_k_, scores_);
  const std::int64_t pairs = square(s_) / 2;
  kernels_.mask_scores(plain_flat(pairs), scores_, segments, pairs, heads, t, masked_);
  kernels_.softmax_rows(plain_rows(rows()), masked_, t, shares_);
  by_head(t, s_.head, t, false, false, shares_, heads_v_, heads_o_);
  last(heads_o_, heads, 1, o_);
}

void PlainAttention::backward(const Bf16* cosines, const Bf16* sines, const Bf16* d_o) {
  const int t = s_.columns, heads = s_.heads(), groups = s_.groups, repeats = s_.repeats;
  first(d_o, heads, 1, heads_d_o_);
  by_head(t, t, s_.head, false, true, heads_d_o_, heads_v_, d_shares_);
  by_head(t, s_.head, t, true, false, shares_, heads_d_o_, heads_d_v_);
  kernels_.softmax_slopes(plain_rows(rows()), shares_, d_shares_, t, d_scores_);
  by_head(t, s_.head, t, true, false, d_scores_, scaled_, heads_d_k_);
  by_head(t, s_.head, t, false, false, d_scores_, heads_k_, heads_d_q_);
  scale(heads_d_q_, scaled_back_);
  last(scaled_back_, heads, 1, rotated_d_q_);
  last(heads_d_k_, groups, repeats, rotated_d_k_);
  last(heads_d_v_, groups, repeats, d_v_);
  rotate(rotated_d_q_, cosines, sines, heads, -1, d_q_);
  rotate(rotated_d_k_, cosines, sines, groups, -1, d_k_);
}

}  // namespace holdfast::gpt_train
