// SPDX-License-Identifier: Apache-2.0
#include "gate/history/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gate/base/numbers.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t window_points = 7;  // of the Hampel filter, centred
constexpr double outlier_mads = 4;  // scaled median absolute deviations from the window's median
constexpr double beta = 4;          // a change must save beta * LRV * ln(n) of the sum of squares
constexpr std::size_t fewest_points = 3;  // of a segment
constexpr double least_change = 0.01;     // of medians, relative; smaller ones are taken back

constexpr double normal_scale =
    1.4826;  // of the median absolute deviation, to estimate a standard deviation
constexpr double most_correlation =
    0.65;  // estimates above it are mostly steps mistaken for slow noise

// Differences at these lags hardly depend on the noise's correlation.
constexpr std::size_t nearest_far_lag = 3;
constexpr std::size_t farthest_lag = 6;

// With fewer points the variance is poorly known, and too small an estimate takes noise for a step;
// with very few the correlation is not known either.
constexpr double enough_points = 20;
constexpr double share_of_few = 1.5;
constexpr double without_correlation = 2.6;

// What the variance of `n` points is multiplied by: 2 for 12, 1 from 20 on.
double allowance_for_few(std::size_t n) {
  if (n < 2 * farthest_lag) return without_correlation;
  const auto points = static_cast<double>(n);
  return 1 + share_of_few * std::max(0.0, enough_points - points) / points;
}

// Noise below this is rounding: counts repeat exactly, and ln() of equal counts may not.
constexpr double least_deviation = 1e-4;

// A change between medians of three by so many deviations of a value is a step, not noise.
constexpr double clear_step = 8;
constexpr std::size_t points_of_a_level = 3;
constexpr std::size_t fewest_differences = 6;

// How many clear steps lie before each value.
std::vector<int> clear_steps(const std::vector<double>& values, double deviation) {
  const double least = clear_step * std::max(deviation, least_deviation);
  const auto level = [&](std::size_t i) {
    return median({values[i], values[i + 1], values[i + 2]});
  };
  std::vector<int> steps(values.size(), 0);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const bool is_step = i >= points_of_a_level && i + points_of_a_level <= values.size() &&
                         std::abs(level(i) - level(i - points_of_a_level)) > least;
    steps[i] = steps[i - 1] + (is_step ? 1 : 0);
  }
  return steps;
}

// The robust variance of differences, whose centre is 0.
double variance_of(std::vector<double> sizes) {
  const double deviation = normal_scale * median(std::move(sizes));
  return deviation * deviation;
}

double variance_of_neighbours(const std::vector<double>& values) {
  std::vector<double> sizes;
  for (std::size_t i = 1; i < values.size(); ++i)
    sizes.push_back(std::abs(values[i] - values[i - 1]));
  return variance_of(std::move(sizes));
}

// The variance of values[i + lag] - values[i] over pairs without a step between them; none if these
// are too few. In a short series most differences at a far lag cross a step, which would count as
// noise, whatever its size.
std::optional<double> variance_at(std::size_t lag, const std::vector<double>& values,
                                  const std::vector<int>& steps) {
  std::vector<double> sizes;
  for (std::size_t i = lag; i < values.size(); ++i)
    if (steps[i] == steps[i - lag]) sizes.push_back(std::abs(values[i] - values[i - lag]));
  if (sizes.size() < fewest_differences) return std::nullopt;
  return variance_of(std::move(sizes));
}

// Sums of squares about the mean of any stretch, in constant time.
class Costs {
 public:
  explicit Costs(const std::vector<double>& values)
      : sums_(values.size() + 1), squares_(values.size() + 1) {
    const double centre = median(values);  // keeps the difference of the two sums accurate
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i] - centre;
      sums_[i + 1] = sums_[i] + value;
      squares_[i + 1] = squares_[i] + value * value;
    }
  }
  double operator()(std::size_t first, std::size_t end) const {
    const double sum = sums_[end] - sums_[first];
    return std::max(0.0,
                    squares_[end] - squares_[first] - sum * sum / static_cast<double>(end - first));
  }

 private:
  std::vector<double> sums_;
  std::vector<double> squares_;
};

// The first indices of the segments that minimise the sum of squares plus `penalty` for each
// change: dynamic programming over all segmentations, [n] x [n].
std::vector<std::size_t> best_begins(const std::vector<double>& values, double penalty) {
  const std::size_t n = values.size();
  const Costs cost(values);
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of_last(n + 1, 0);
  best[0] = -penalty;  // the first segment is no change
  for (std::size_t end = std::min(fewest_points, n); end <= n; ++end) {
    for (std::size_t begin = 0; begin == 0 || begin + fewest_points <= end; ++begin) {
      const double total = best[begin] + penalty + cost(begin, end);
      if (total < best[end]) {
        best[end] = total;
        begin_of_last[end] = begin;
      }
    }
  }
  std::vector<std::size_t> begins;
  for (std::size_t end = n; end > 0; end = begin_of_last[end]) begins.push_back(begin_of_last[end]);
  std::reverse(begins.begin(), begins.end());
  return begins;
}

// The medians between the begins.
std::vector<double> levels_of(const std::vector<double>& values,
                              const std::vector<std::size_t>& begins) {
  std::vector<double> levels;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : values.size();
    levels.push_back(median({values.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                             values.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  return levels;
}

// The weakest first.
void take_back_small_changes(const std::vector<double>& values, std::vector<std::size_t>& begins) {
  while (begins.size() > 1) {
    const std::vector<double> levels = levels_of(values, begins);
    std::size_t weakest = 1;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < begins.size(); ++i) {
      const double size = std::abs(relative_change(levels[i - 1], levels[i]));
      if (size < smallest) {
        smallest = size;
        weakest = i;
      }
    }
    if (smallest >= least_change) return;
    begins.erase(begins.begin() + static_cast<std::ptrdiff_t>(weakest));
  }
}

// Hampel filter: true where a point lies too far from the median of its window. At the ends the
// window is cut.
std::vector<bool> find_outliers(const std::vector<double>& values) {
  const std::size_t half = window_points / 2;
  std::vector<bool> outliers(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t first = i - std::min(half, i);
    const std::size_t end = std::min(i + half + 1, values.size());
    const std::vector<double> window(values.begin() + static_cast<std::ptrdiff_t>(first),
                                     values.begin() + static_cast<std::ptrdiff_t>(end));
    const double limit = outlier_mads * normal_scale * median_absolute_deviation(window);
    outliers[i] = std::abs(values[i] - median(window)) > limit;
  }
  return outliers;
}

// The long-run variance of the noise around a level that may change: sums of slow noise vary more
// than those of independent noise. From differences at lags 1 and 3 to 6 and their medians, so that
// neither steps nor outliers count.
double long_run_variance(const std::vector<double>& values) {
  constexpr double floor = least_deviation * least_deviation;
  if (values.size() < 2) return floor;
  if (values.size() < 2 * farthest_lag)
    return std::max(floor, 0.5 * variance_of_neighbours(values));
  const double near =
      variance_of_neighbours(values);  // 2 v (1 - r) for noise of variance v, correlation r^lag
  // 2 v (1 - r^lag), nearly 2 v; the mean of a few lags is steadier.
  const std::vector<int> steps = clear_steps(values, std::sqrt(near / 2));
  double far = 0, lags = 0;
  for (std::size_t lag = nearest_far_lag; lag <= farthest_lag; ++lag)
    if (const auto variance = variance_at(lag, values, steps)) {
      far += *variance;
      ++lags;
    }
  if (lags > 0) far /= lags;
  const double plain = 0.5 * std::max(near, far);
  if (plain <= floor) return floor;
  const double correlation = std::min(1 - 0.5 * near / plain, most_correlation);
  const double slow = plain * (1 + correlation) / (1 - correlation);
  return std::max(
      floor, 0.5 * (plain + slow));  // half-way: the correlation of short series is poorly known
}

}  // namespace

double relative_change(double before, double after) {
  if (before == after) return 0;
  using Limits = std::numeric_limits<double>;
  return std::clamp((after - before) / std::abs(before == 0 ? after : before), Limits::lowest(),
                    Limits::max());
}

Segmentation segment(const std::vector<double>& values) {
  Segmentation result;
  if (values.empty()) return result;
  // Most counts never change, and the search takes the square of their number.
  if (std::all_of(values.begin(), values.end(),
                  [&](double value) { return value == values.front(); })) {
    result.outliers.resize(values.size());
    result.segments = {{.first = 0, .last = values.size() - 1, .median = values.front()}};
    return result;
  }
  const bool positive =
      std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
  std::vector<double> seen = values;
  if (positive) {
    for (double& value : seen) value = std::log(value);
  } else {  // counts that are 0 somewhere: relative to the largest
    double largest = 1e-300;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    for (double& value : seen) value /= largest;
  }
  result.outliers = find_outliers(seen);

  std::vector<std::size_t> kept;  // indices of what is no outlier
  std::vector<double> kept_seen;
  std::vector<double> kept_values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (result.outliers[i]) continue;
    kept.push_back(i);
    kept_seen.push_back(seen[i]);
    kept_values.push_back(values[i]);
  }
  const double n = static_cast<double>(kept.size());
  const double variance = long_run_variance(kept_seen) * allowance_for_few(kept.size());
  std::vector<std::size_t> begins = best_begins(kept_seen, beta * variance * std::log(n));
  take_back_small_changes(kept_values, begins);

  const std::vector<double> levels = levels_of(kept_values, begins);
  for (std::size_t i = 0; i < begins.size(); ++i)
    result.segments.push_back(
        {.first = i == 0 ? 0 : kept[begins[i]],
         .last = i + 1 < begins.size() ? kept[begins[i + 1]] - 1 : values.size() - 1,
         .median = levels[i]});
  return result;
}

}  // namespace holdfast::gate
