// SPDX-License-Identifier: Apache-2.0
// The animal's position at mostly ascending times: like interpolate() of input.hpp, but each search
// starts at the segment of the previous time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "clusterless_kde/problem/input.hpp"

namespace holdfast::clusterless_kde {

class Follower {
 public:
  Follower(const Trajectory& trajectory, int dimensions)
      : times_(trajectory.times),
        positions_(trajectory.positions),
        dimensions_(static_cast<std::size_t>(dimensions)) {}

  // Goes to time t; at(axis) is the position there.
  void go_to(double t) {
    const std::size_t last = times_.size() - 2;  // segment
    if (t < times_[segment_]) segment_ = 0;
    for (int steps = 0; segment_ < last && times_[segment_ + 1] <= t; ++segment_)
      if (++steps > 8) {
        const auto begin = times_.begin() + static_cast<std::ptrdiff_t>(segment_);
        const auto after = std::upper_bound(begin, times_.end(), t) - times_.begin();
        segment_ = std::min(static_cast<std::size_t>(after) - 1, last);
        break;
      }
    fraction_ = (t - times_[segment_]) / (times_[segment_ + 1] - times_[segment_]);
  }
  double at(int axis) const {
    const auto* from = &positions_[segment_ * dimensions_ + static_cast<std::size_t>(axis)];
    return from[0] + fraction_ * (from[dimensions_] - from[0]);
  }

 private:
  std::span<const double> times_, positions_;
  std::size_t dimensions_, segment_ = 0;
  double fraction_ = 0;
};

}  // namespace holdfast::clusterless_kde
