// SPDX-License-Identifier: Apache-2.0
// The mass after every step of a loop. Of the host variants alone, compiled for each instruction
// set.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/host_rows.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// Compensated sums in double precision, whatever T is. Any thread may sum a piece of the sphere;
// pieces are combined in a fixed order, so that no result depends on the schedule. A one-sided h
// has the mass of A h, because A preserves every integral.
template <class T>
class MassWatch {
 public:
  // The latest `steps` steps are kept, of `pieces` pieces each.
  MassWatch(Backend& backend, int n, int steps, int pieces, const T* start)
      : n_(n),
        pieces_(pieces),
        weight_(backend, weights(n), "metric"),
        kept_(backend, static_cast<std::size_t>(steps) * pieces, "diagnostics") {
    Sum all;
    for (int panel = 0; panel < panels; ++panel) all.add(mass_of(start, panel, 0, n + 1));
    start_ = all.value();
  }

  // Stores the mass of rows [begin, end) of a panel as a piece of a step.
  void form(int step, int piece, const T* h, int panel, int begin, int end) {
    kept_.data()[static_cast<std::size_t>(step) * pieces_ + piece] = mass_of(h, panel, begin, end);
  }

  void judge(int steps) {
    for (int step = 0; step < steps; ++step) {
      Sum all;
      const double* kept = kept_.data() + static_cast<std::size_t>(step) * pieces_;
      for (int piece = 0; piece < pieces_; ++piece) all.add(kept[piece]);
      const double drift = relative_drift(all.value(), start_);
      if (!(drift <= drift_)) drift_ = drift;  // also if it is NaN
    }
  }

  // The largest relative_drift() of the steps judged so far.
  double drift() const { return drift_; }

 private:
  using Lanes = Doubles::Lanes;
  static constexpr int lanes = Doubles::lanes;

  static std::vector<double> weights(int n) {
    std::vector<double> all = metric_tables(n, MetricSign::correct).j;
    const std::vector<double> along = vertex_weights(n);
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] *= along[k / along.size()] * along[k % along.size()];
    return all;
  }
  static Lanes load(const T* x) {
    return __builtin_convertvector((Pack<T, lanes>::load(x)), Lanes);
  }

  double mass_of(const T* h, int panel, int begin, int end) const {
    Lanes sum = {}, lost = {};
    Sum all;
    for (int i = begin; i < end; ++i) {
      const T* row = h + height_index(n_, panel, i, 0);
      const double* weight = weight_.data() + height_index(n_, 0, i, 0);
      int j = 0;
      for (; j + lanes <= n_ + 1; j += lanes) {
        const Lanes value = load(row + j) * Doubles::load(weight + j), next = sum + value,
                    taken = next - sum;
        lost += (sum - (next - taken)) + (value - taken);
        sum = next;
      }
      for (; j <= n_; ++j) all.add(static_cast<double>(row[j]) * weight[j]);
    }
    for (int lane = 0; lane < lanes; ++lane) {
      all.add(sum[lane]);
      all.add(lost[lane]);
    }
    return all.value();
  }

  int n_, pieces_;
  Buffer<double> weight_;  // J Hv Hv, [n+1, n+1]
  Buffer<double> kept_;    // [steps, pieces]
  double start_ = 0, drift_ = 0;
};

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
