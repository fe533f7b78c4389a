// SPDX-License-Identifier: Apache-2.0
// Attention over the whole square of positions, as written: each operation separate with its own
// result, shares and the masked half in memory, keys and values repeated for each query head.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "gpt_train/host/products.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/problem/shape.hpp"
#include "gpt_train/reference/plain_rows.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class PlainSquare {
 public:
  // Arrays that a unit does not need have no memory.
  PlainSquare(Backend& backend, Products<T>& products, const Shape& shape, bool needed,
              bool goes_back)
      : products_(products),
        s_(shape),
        n_(shape.tokens()),
        angles_(backend, needed ? 2 * (s_.columns * s_.head / 2) : 0, "inputs: angles"),
        memory_(backend, needed ? size(goes_back) : 0, "activations: attention") {
    if (!needed) return;
    fill_angles();
    place(goes_back);
  }

  // Inputs q [n, Da], k, v [n, Dk]; results o [n, Da], dq, dk, dv.
  T* q() const { return q_; }
  T* k() const { return k_; }
  T* v() const { return v_; }
  T* o() const { return o_; }
  T* dq() const { return dq_; }
  T* dk() const { return dk_; }
  T* dv() const { return dv_; }

  // segments: [n].
  void forward(const int* segments) {
    const int b = s_.batch, t = s_.columns, heads = s_.heads(), width = s_.head;
    const T *cosines = angles_.data(), *sines = cosines + t * width / 2;
    plain::rotate(q_, cosines, sines, n_, t, heads, width, false, rotated_q_);
    plain::rotate(k_, cosines, sines, n_, t, s_.groups, width, false, rotated_k_);
    plain::heads_first(rotated_q_, b, t, heads, 1, width, heads_q_);
    plain::heads_first(rotated_k_, b, t, s_.groups, s_.repeats, width, heads_k_);
    plain::heads_first(v_, b, t, s_.groups, s_.repeats, width, heads_v_);
    const T scale = static_cast<T>(1 / std::sqrt(double(width)));
    const T* from = heads_q_;
    T* to = scaled_;
    plain::each<T>(n_ * s_.query_width(), [=](std::int64_t k) { to[k] = scale * from[k]; });
    by_head(t, t, width, false, true, scaled_, heads_k_, scores_);
    plain::mask(scores_, segments, b, heads, t, masked_);
    plain::softmax(masked_, std::int64_t{b} * heads * t, t, shares_);
    by_head(t, width, t, false, false, shares_, heads_v_, heads_o_);
    plain::heads_last(heads_o_, b, t, heads, 1, width, o_);
  }
  // From d_o [n, Da] to dq, dk and dv.
  void backward(const T* d_o) {
    const int b = s_.batch, t = s_.columns, heads = s_.heads(), width = s_.head;
    const T *cosines = angles_.data(), *sines = cosines + t * width / 2;
    plain::heads_first(d_o, b, t, heads, 1, width, heads_d_o_);
    by_head(t, t, width, false, true, heads_d_o_, heads_v_, d_shares_);
    by_head(t, width, t, true, false, shares_, heads_d_o_, heads_dv_);
    plain::softmax_slope(shares_, d_shares_, std::int64_t{b} * heads * t, t, d_scores_);
    by_head(t, width, t, true, false, d_scores_, scaled_, heads_dk_);
    by_head(t, width, t, false, false, d_scores_, heads_k_, heads_dq_);
    const T scale = static_cast<T>(1 / std::sqrt(double(width)));
    const T* from = heads_dq_;
    T* to = scaled_back_;
    plain::each<T>(n_ * s_.query_width(), [=](std::int64_t k) { to[k] = scale * from[k]; });
    plain::heads_last(scaled_back_, b, t, heads, 1, width, rotated_dq_);
    plain::heads_last(heads_dk_, b, t, s_.groups, s_.repeats, width, rotated_dk_);
    plain::heads_last(heads_dv_, b, t, s_.groups, s_.repeats, width, dv_);
    plain::rotate(rotated_dq_, cosines, sines, n_, t, heads, width, true, dq_);
    plain::rotate(rotated_dk_, cosines, sines, n_, t, s_.groups, width, true, dk_);
  }

 private:
  std::size_t square_count() const {
    return std::size_t(s_.batch) * s_.heads() * s_.columns * s_.columns;
  }
  std::size_t size(bool goes_back) const {
    const std::size_t da = s_.query_width(), dk = s_.key_width();
    const std::size_t forward = n_ * (8 * da + 3 * dk) + 3 * square_count();
    const std::size_t back = n_ * (7 * da + 3 * dk) + 2 * square_count();
    return forward + (goes_back ? back : 0);
  }

  void place(bool goes_back) {
    const std::int64_t da = n_ * s_.query_width(), dk = n_ * s_.key_width();
    const auto square = static_cast<std::int64_t>(square_count());
    T* next = memory_.data();
    const auto give = [&](std::int64_t count, std::initializer_list<T**> wanted) {
      for (T** to : wanted) {
        *to = next;
        next += count;
      }
    };
    give(da, {&q_, &rotated_q_, &heads_q_, &heads_k_, &heads_v_, &heads_o_, &scaled_, &o_});
    give(dk, {&k_, &v_, &rotated_k_});
    give(square, {&scores_, &masked_, &shares_});
    if (!goes_back) return;
    give(da, {&heads_d_o_, &heads_dq_, &heads_dk_, &heads_dv_, &scaled_back_, &rotated_dq_, &dq_});
    give(dk, {&rotated_dk_, &dk_, &dv_});
    give(square, {&d_shares_, &d_scores_});
  }

  void fill_angles() {
    const int half = s_.head / 2;
    for (int t = 0; t < s_.columns; ++t)
      for (int j = 0; j < half; ++j) {
        const double angle = t * std::pow(rope_base, -double(j) / half);
        angles_.data()[t * half + j] = static_cast<T>(std::cos(angle));
        angles_.data()[(s_.columns + t) * half + j] = static_cast<T>(std::sin(angle));
      }
  }

  // One product per row and head.
  void by_head(int m, int n, int k, bool turn_a, bool turn_b, const T* a, const T* b, T* c) {
    products_.batched(s_.batch * s_.heads(), m, n, k, turn_a, turn_b, a, b, c);
  }

  Products<T>& products_;
  Shape s_;
  std::int64_t n_;
  Buffer<T> angles_, memory_;

  T *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *rotated_q_ = nullptr, *rotated_k_ = nullptr,
    *heads_q_ = nullptr, *heads_k_ = nullptr, *heads_v_ = nullptr, *heads_o_ = nullptr,
    *scaled_ = nullptr, *o_ = nullptr, *scores_ = nullptr, *masked_ = nullptr, *shares_ = nullptr;
  T *heads_d_o_ = nullptr, *heads_dq_ = nullptr, *heads_dk_ = nullptr, *heads_dv_ = nullptr,
    *scaled_back_ = nullptr, *rotated_dq_ = nullptr, *dq_ = nullptr, *rotated_dk_ = nullptr,
    *dk_ = nullptr, *dv_ = nullptr, *d_shares_ = nullptr, *d_scores_ = nullptr;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
