// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/data/maze.hpp"

#include <cmath>

namespace holdfast::clusterless_kde::maze {
namespace {

constexpr double speed = 20, length = 1028;
constexpr std::array<double, 3> arms = {10, 55, 100};  // x of each
constexpr double foot = 5, head = 111;                 // y of an arm's ends
constexpr double reach = 3.5;                          // of bins, to either side of an arm

constexpr std::array<std::array<double, 2>, 13> corners = {{{55, 111},
                                                            {55, 5},
                                                            {10, 5},
                                                            {10, 111},
                                                            {10, 5},
                                                            {55, 5},
                                                            {55, 111},
                                                            {55, 5},
                                                            {100, 5},
                                                            {100, 111},
                                                            {100, 5},
                                                            {55, 5},
                                                            {55, 111}}};

bool is_interior(double x, double y) {
  for (const double arm : arms)
    if (std::abs(x - arm) <= reach && foot <= y && y <= head) return true;
  return std::abs(y - foot) <= reach && arms.front() - reach <= x && x <= arms.back() + reach;
}

}  // namespace

std::array<double, 2> position(double t) {
  const double w = 0.37 * t;
  const double aside = 3 * (4 * std::abs(w - std::floor(w) - 0.5) - 1);
  double along = std::fmod(speed * t, length);
  for (std::size_t k = 0; k + 1 < corners.size(); ++k) {
    const auto [x0, y0] = corners[k];
    const auto [x1, y1] = corners[k + 1];
    const double segment = std::abs(x1 - x0) + std::abs(y1 - y0);
    if (along >= segment) {
      along -= segment;
      continue;
    }
    const double share = along / segment;
    const bool vertical = x0 == x1;
    return {x0 + share * (x1 - x0) + (vertical ? aside : 0),
            y0 + share * (y1 - y0) + (vertical ? 0 : aside)};
  }
  return corners.back();  // reached only by rounding at the very end of a period
}

std::vector<double> places() {
  std::vector<double> centres;
  for (int ix = 0; ix < 57; ++ix)
    for (int iy = 0; iy < 60; ++iy) {
      const double x = -1 + 2 * ix, y = -1 + 2 * iy;
      if (is_interior(x, y)) centres.insert(centres.end(), {x, y});
    }
  return centres;
}

}  // namespace holdfast::clusterless_kde::maze
