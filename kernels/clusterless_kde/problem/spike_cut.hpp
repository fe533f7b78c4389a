// SPDX-License-Identifier: Apache-2.0
// Which encoding spikes a decode may leave out for a run of places: README.md, "Cut". Squares of
// distances in Gaussian units, so that a pair's kernel is 2^-(square).
#pragma once

#include <cmath>
#include <span>

#include "clusterless_kde/problem/formulas.hpp"

namespace holdfast::clusterless_kde {

// The most that everything a cut skips may add, relative to the least sum above the floor: a
// hundredth of the error allowed for a spike's likelihood, in either precision.
template <class T>
inline constexpr double cut_part = sizeof(T) == sizeof(float) ? 1e-6 : 1e-12;

// Squared distance beyond which one encoding spike adds at most cut_part of that sum, whose
// logarithm is `lowest_floor`; for several spikes add log2 of their number.
template <class T>
double cut_square(double lowest_floor) {
  return (-lowest_floor + std::log(1 / cut_part<T>)) * log2_of_e;
}

// An electrode's encoding spikes in groups of 16, their boxes [groups, lowest and highest, d], and
// runs of `columns` places.
template <class T>
struct CutQuestion {
  std::span<const T> boxes = {}, places = {};
  int dimensions = 1, columns = 0, groups = 0, stage_groups = 0;
  T cut = 0;
};
struct Visits {
  double visited = 0, all = 0;
};
template <class T>
Visits visits_of(const CutQuestion<T>& question);

}  // namespace holdfast::clusterless_kde
