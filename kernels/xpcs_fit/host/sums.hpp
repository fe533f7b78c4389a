// SPDX-License-Identifier: Apache-2.0
// F, g and N of whole rows of pairs. Over the angles of a pair only products of their factors are
// added up, 15 sums for laminar flow; the 55 entries are formed once per pair (README, "Sums").
#pragma once

#include <algorithm>

#include "xpcs_fit/host/points.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

constexpr int packed_pair(int a, int b) {
  return a > b ? packed(a, b) : packed(b, a);
}

// Rows [first_row, ..) of all angles, [angles, rows, frames] with `angle_pitch` between angles.
template <class T>
struct Rows {
  const T* data = nullptr;
  const T* weights = nullptr;  // null: all are 1
  std::int64_t angle_pitch = 0;
  int first_row = 0;
};

// Sums over the angles of a pair: products of factors, their products with the residual, the cost.
template <class T>
struct OverAngles {
  Vector<T> product[10] = {}, residual[4] = {}, cost = {};
};

template <class T, Mode mode>
class Accumulator {
 public:
  static constexpr int p = local_parameters(mode), count = sum_count(p);

  // ours: the derivatives pair by pair, without the factor of the angle.
  void add(const OverAngles<T>& over, const Vector<T> (&ours)[p]) {
    sums_[0] += over.cost;
#pragma GCC unroll 16
    for (int k = 0; k < p; ++k) {
      const Vector<T>& own = over.residual[angle_factor(k)];
      sums_[1 + k] += k < 2 ? own : own * ours[k];
#pragma GCC unroll 16
      for (int l = 0; l <= k; ++l) {
        const Vector<T>& both = over.product[packed_pair(angle_factor(k), angle_factor(l))];
        sums_[1 + p + packed(k, l)] += k < 2   ? both
                                       : l < 2 ? both * ours[k]
                                               : both * (ours[k] * ours[l]);
      }
    }
  }
  // In f32, flushed after each row to keep sums short.
  void flush(double* out) {
    for (int k = 0; k < count; ++k) {
      for (int lane = 0; lane < Lanes<T>::count; ++lane) out[k] += double{sums_[k][lane]};
      sums_[k] = Vector<T>{};
    }
  }

 private:
  Vector<T> sums_[count] = {};
};

template <class T, Mode mode, bool weighted>
class RowSums {
 public:
  static constexpr int p = local_parameters(mode), count = sum_count(p);

  RowSums(const Problem& problem, const ScaledFrames<T>& frames,
          const std::vector<Angle<T>>& angles, bool tame)
      : frames_(frames),
        angles_(angles),
        columns_(problem.input->size.frames),
        soft_(problem.options.loss == Loss::soft_l1),
        scale_(static_cast<T>(problem.options.loss_scale)),
        tame_(tame) {}

  // Adds columns [j0, j1) of row i at angles [first, last) to `sums`.
  void add_row(const Rows<T>& rows, int i, int j0, int j1, int first, int last,
               Accumulator<T, mode>& sums) const {
    int j = j0;
    if (tame_)
      for (; j + Lanes<T>::count <= j1; j += Lanes<T>::count)
        add_pairs<false>(rows, i, j, j1 - j, first, last, sums);
    for (; j < j1; j += Lanes<T>::count) add_pairs<true>(rows, i, j, j1 - j, first, last, sums);
  }
  int columns() const { return columns_; }

 private:
  // `careful` masks lanes: those from `left` on and, for derivatives, those that are clipped.
  template <bool careful>
  void add_pairs(const Rows<T>& rows, int i, int j, int left, int first, int last,
                 Accumulator<T, mode>& sums) const {
    const Pairs<T, mode> pairs(frames_, i, j);
    Vector<T> there = everywhere<T>(T(1));
    if constexpr (careful) there = first_lanes<T>(left);
    OverAngles<T> over;
    const std::int64_t at =
        std::int64_t{i - rows.first_row} * columns_ + j + first * rows.angle_pitch;
    if constexpr (mode == Mode::at_rest && !weighted && !careful) {
      add_still(rows, at, pairs.power, first, last, over);
    } else {
      for (int a = first; a < last; ++a) {
        const std::int64_t k = at + (a - first) * rows.angle_pitch;
        const Vector<T> d = careful ? load_some(rows.data + k, left) : load(rows.data + k);
        Vector<T> w = there;
        if (weighted && rows.weights)
          w *= careful ? load_some(rows.weights + k, left) : load(rows.weights + k);
        add_point<careful>(factors<T, mode, true, careful>(pairs, angles_[a]), angles_[a], d, w,
                           over);
      }
    }
    Vector<T> ours[p];
    differences(pairs, i, j, ours);
    sums.add(over, ours);
  }

  // Every point has its pair's G: only data differ.
  void add_still(const Rows<T>& rows, std::int64_t at, Vector<T> g, int first, int last,
                 OverAngles<T>& over) const {
    Vector<T> sum = {};
    for (int a = first; a < last; ++a, at += rows.angle_pitch) {
      const Vector<T> r = angles_[a].offset + angles_[a].contrast * g - load(rows.data + at);
      sum += r;
      over.cost += r * r;
    }
    const Vector<T> angles = everywhere<T>(static_cast<T>(last - first));
    over.residual[factor_one] = sum;
    over.residual[factor_g] = sum * g;
    over.product[packed(factor_one, factor_one)] = angles;
    over.product[packed(factor_one, factor_g)] = angles * g;
    over.product[packed(factor_g, factor_g)] = angles * g * g;
  }

  template <bool careful>
  void add_point(const Factors<T>& angle_factors, const Angle<T>& angle, Vector<T> d, Vector<T> w,
                 OverAngles<T>& over) const {
    constexpr int factor_count = mode == Mode::laminar ? 4 : 2;
    const Vector<T> raw = angle.offset + angle.contrast * angle_factors.g;
    Vector<T> r = raw - d, live = w;
    if constexpr (careful) {
      r = clipped<T>(raw) - d;
      live = (raw < T(model_floor)) | (raw > T(model_ceiling)) ? Vector<T>{} : w;
    }
    if constexpr (weighted || careful) r *= w;
    Vector<T> of_matrix = live, of_gradient = live * r, cost = r * r;
    if (weighted && soft_) {
      const Vector<T> z = cost / (scale_ * scale_), up = root(T(1) + z), down = T(1) / up;
      cost = T(2) * scale_ * scale_ * z / (up + T(1));
      of_gradient *= down;
      of_matrix = live * down * root(down);
    }
    over.cost += cost;
    const Vector<T> factor[4] = {angle_factors.g, everywhere<T>(T(1)), angle_factors.h,
                                 angle_factors.e};
    constexpr bool plain = !weighted && !careful;  // all weights are 1
#pragma GCC unroll 4
    for (int k = 0; k < factor_count; ++k) {
      over.residual[k] += k == factor_one ? of_gradient : of_gradient * factor[k];
      const Vector<T> own = plain ? factor[k] : factor[k] * of_matrix;
#pragma GCC unroll 4
      for (int l = 0; l <= k; ++l) {
        const Vector<T> other = plain ? factor[l] : factor[l] * of_matrix;
        over.product[packed(k, l)] += own * other;
      }
    }
  }

  // The derivatives by contrast and offset are the factor of the angle itself.
  void differences(const Pairs<T, mode>& pairs, int i, int j, Vector<T> (&ours)[p]) const {
    // Both integrals increase, so the order of the frames is the sign of their difference.
    const Vector<T> sign = sign_of<T>(static_cast<T>(i - j) - lane_numbers<T>());
    for (int k = 0; k < 3; ++k)
      ours[2 + k] = sign * (frames_.transport_by(k)[i] - load(frames_.transport_by(k) + j));
    if constexpr (mode == Mode::laminar) {
      for (int k = 0; k < 3; ++k)
        ours[5 + k] = sign * (frames_.shear_by(k)[i] - load(frames_.shear_by(k) + j));
      ours[8] = T(-4) * pairs.shear;
    }
  }

  const ScaledFrames<T>& frames_;
  const std::vector<Angle<T>>& angles_;
  int columns_;
  bool soft_;
  T scale_;
  bool tame_;
};

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
