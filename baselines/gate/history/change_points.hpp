// SPDX-License-Identifier: Apache-2.0
// Where a series of measurements changed its level: outliers set aside, exact least-squares
// segmentation, small changes taken back. Positive series are taken as logarithms, so that all
// changes are relative.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast::gate {

struct SegmentationSettings {
  std::size_t window = 7;   // of the Hampel filter, centred
  double outlier_mads = 4;  // scaled median absolute deviations from the window's median
  double penalty = 4;       // beta: a change must save beta * LRV * ln(n) of the sum of squares
  std::size_t fewest_points = 3;  // of a segment
  double least_change =
      0.01;  // of medians, relative; smaller ones are taken back, the weakest first
};

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

// Hampel filter: true where a point lies further from the median of its window than the settings
// allow. At the ends the window is cut.
std::vector<bool> find_outliers(const std::vector<double>& values,
                                const SegmentationSettings& settings = {});

// The long-run variance of the noise around a level that may change: sums of slow noise vary more
// than those of independent noise. From differences at lags 1 and 3 to 6 and their medians, so that
// neither steps nor outliers count.
double long_run_variance(const std::vector<double>& values);

// An empty series has no segment.
Segmentation segment(const std::vector<double>& values, const SegmentationSettings& settings = {});

// after / before - 1; if the level before is 0, 1 or -1. Finite whatever the levels are.
double relative_change(double before, double after);

}  // namespace holdfast::gate
