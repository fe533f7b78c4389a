// SPDX-License-Identifier: Apache-2.0
// Where a series of measurements changed its level: outliers set aside, exact least-squares
// segmentation, small changes taken back. Positive series are taken as logarithms, so that all
// changes are relative.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast::gate {

struct Segment {
  std::size_t first = 0;  // indices into the series, both inclusive
  std::size_t last = 0;
  double median = 0;  // of the points that are no outliers
};

struct Segmentation {
  std::vector<bool> outliers = {};  // one per point
  std::vector<Segment> segments =
      {};  // they cover the series in order; a change lies where one begins
};

// An empty series has no segment.
Segmentation segment(const std::vector<double>& values);

// after / before - 1; if the level before is 0, 1 or -1. Finite whatever the levels are.
double relative_change(double before, double after);

}  // namespace holdfast::gate
