// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/signed_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "gate/base/error.hpp"
#include "gate/base/numbers.hpp"

namespace holdfast::gate {
namespace {

// Ashman's D beyond which two halves of a sample are two populations: the best split of one normal
// population reaches 2.7, of a uniform one 3.5.
constexpr double clear_modes = 5;
constexpr double fewest_share = 0.2;
constexpr std::size_t enough_for_modes = 14;

// The largest c with P(T <= c) <= alpha for the signed-rank statistic T of n units under symmetry
// about zero; -1 if there is none. P by convolution over ranks: T takes rank i with chance 1/2.
int critical(int n, double alpha) {
  std::vector<double> chance(static_cast<std::size_t>(n) * (n + 1) / 2 + 1, 0.0);
  chance[0] = 1;
  std::size_t largest = 0;
  for (std::size_t rank = 1; rank <= static_cast<std::size_t>(n); ++rank) {
    largest += rank;
    for (std::size_t t = largest;; --t) {
      chance[t] = (chance[t] + (t >= rank ? chance[t - rank] : 0)) / 2;
      if (t == 0) break;
    }
  }
  double below = 0;
  int c = -1;
  for (const double p : chance) {
    below += p;
    if (below > alpha) break;
    ++c;
  }
  return c;
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sum_of_squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

// P(at most `hits` in `trials`) where each has the chance p.
double at_most(int hits, int trials, double p) {
  double sum = 0;
  for (int k = 0; k <= hits; ++k)
    sum +=
        std::exp(std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1) +
                 (k > 0 ? k * std::log(p) : 0) + (trials > k ? (trials - k) * std::log1p(-p) : 0));
  return sum;
}

// Where the falling function `tail` crosses `level`, between 0 and 1.
template <class Tail>
double crossing(Tail tail, double level) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (tail(middle) > level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Shift shift(std::span<const double> units, double alpha) {
  const std::size_t n = units.size();
  if (n == 0) throw Error(Fault::incomplete, "there is no unit to estimate a shift from");
  std::vector<double> averages;  // Walsh averages, of all pairs, each unit with itself included
  averages.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) averages.push_back((units[i] + units[j]) / 2);
  std::sort(averages.begin(), averages.end());
  const std::size_t count = averages.size();
  Shift found{.estimate = (averages[(count - 1) / 2] + averages[count / 2]) / 2,
              .lower = -std::numeric_limits<double>::infinity(),
              .upper = std::numeric_limits<double>::infinity()};
  const int c = critical(static_cast<int>(n), alpha);
  if (c < 0) return found;
  found.lower = averages[static_cast<std::size_t>(c)];
  found.upper = averages[count - 1 - static_cast<std::size_t>(c)];
  return found;
}

std::optional<double> Looks::alpha_at(int units_so_far) const {
  if (std::find(units.begin(), units.end(), units_so_far) == units.end()) return std::nullopt;
  return alpha * units_so_far / std::accumulate(units.begin(), units.end(), 0.0);
}

double Looks::rest_after(int units_so_far) const {
  double rest = 0;
  for (const int n : units)
    if (n > units_so_far) rest += *alpha_at(n);
  return rest;
}

Paired verdict_of(const Shift& shift, double tolerance) {
  const double limit = std::log1p(tolerance);
  if (shift.lower > limit) return Paired::regression;
  if (shift.upper < -limit) return Paired::improved;
  return shift.upper < limit ? Paired::pass : Paired::undecided;
}

double smallest_shown(const Shift& shift, double tolerance) {
  return (1 + tolerance) * std::exp(shift.estimate - shift.lower) - 1;
}

Chance chance(int hits, int trials) {
  constexpr double tail = 0.025;
  Chance found;
  if (hits < trials)
    found.upper = crossing([&](double p) { return at_most(hits, trials, p); }, tail);
  if (hits > 0)
    found.lower = crossing([&](double p) { return at_most(hits - 1, trials, p); }, 1 - tail);
  return found;
}

std::optional<std::string> two_modes(std::span<const double> units) {
  const std::size_t n = units.size();
  if (n < enough_for_modes) return std::nullopt;
  std::vector<double> sorted(units.begin(), units.end());
  std::sort(sorted.begin(), sorted.end());
  const std::span<const double> all = sorted;
  const auto fewest = static_cast<std::size_t>(std::ceil(fewest_share * static_cast<double>(n)));
  std::size_t best = fewest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t split = fewest; split + fewest <= n; ++split) {
    const double within = sum_of_squares(all.first(split)) + sum_of_squares(all.subspan(split));
    if (within < least) {
      least = within;
      best = split;
    }
  }
  const auto low = all.first(best), high = all.subspan(best);
  const double distance = mean(high) - mean(low);
  const double spread = std::sqrt(least / static_cast<double>(n));
  if (!(distance > clear_modes * spread)) return std::nullopt;
  const double share = static_cast<double>(best) / static_cast<double>(n);
  return text("the units have two modes: ", percent(std::expm1(mean(low))), " in ",
              std::lround(100 * share), " % of them, ", percent(std::expm1(mean(high))),
              " in the others");
}

}  // namespace holdfast::gate
