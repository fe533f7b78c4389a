// SPDX-License-Identifier: Apache-2.0
// Gaussians between a position and all nodes of a track. Of the optimized host variant alone.
#pragma once

#include <algorithm>
#include <cmath>

#include "clusterless_kde/host_vectors.hpp"
#include "clusterless_kde/nodes.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

// Nodes, or spikes, begin .. end - 1.
struct Band {
  int begin = 0, end = 0;
};

// The nodes, and exp2(-2 (u - q)^2) at all of them.
template <class T>
class NodeKernel {
 public:
  NodeKernel(const Nodes& nodes, double unit)
      : nodes_(nodes), unit_(std::sqrt(2.) * unit), spacing_(T(nodes.spacing * unit_)) {}

  // A position, seen from its nearest node: single precision then tells it from all others well.
  struct At {
    T beyond = 0;   // in units
    T nearest = 0;  // its number
  };
  At at(double position) const {
    const double nearest = std::round((position - nodes_.first) / nodes_.spacing);
    return {T((position - nodes_.at(0) - nearest * nodes_.spacing) * unit_), T(nearest)};
  }
  // Of nodes q .. q + lanes - 1; `number`: 0, 1, 2 ..
  Vector<T> operator()(const At& at, T q, Vector<T> number) const {
    const Vector<T> distance = at.beyond - (number + (q - at.nearest)) * spacing_;
    return exp2<T>(-(distance * distance));
  }
  int count() const { return nodes_.count; }
  double weight() const { return nodes_.weight; }
  double distance(double position, int q) const { return (position - nodes_.at(q)) * unit_; }
  // Nodes within a distance, in units, of the positions from `low` to `high`, in whole steps.
  Band within(double low, double high, double distance) const {
    constexpr int step = 16;
    const double reach = distance / unit_;
    const double begin = std::floor((low - reach - nodes_.first) / nodes_.spacing);
    const double end = std::ceil((high + reach - nodes_.first) / nodes_.spacing) + 1;
    const double most = nodes_.count;
    return {static_cast<int>(std::clamp(begin, 0., most - 1)) / step * step,
            (static_cast<int>(std::clamp(end, 1., most)) + step - 1) / step * step};
  }

 private:
  Nodes nodes_;
  double unit_;
  T spacing_;
};

template <class T>
Vector<T> counting() {
  Vector<T> numbers;
  for (int k = 0; k < Lanes<T>::count; ++k) numbers[k] = T(k);
  return numbers;
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
