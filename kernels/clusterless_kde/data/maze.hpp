// SPDX-License-Identifier: Apache-2.0
// A maze of three arms, 45 cm apart and 106 cm long, joined at their feet: an animal that runs
// without pausing, and the 2 cm bins that it can reach. Lengths in centimetres.
#pragma once

#include <array>
#include <vector>

namespace holdfast::clusterless_kde::maze {

inline constexpr double duration = 1418.64;  // seconds
inline constexpr double period = 51.4;       // seconds of one lap through all arms

// Position at time t: along the path at 20 cm/s, and up to 3 cm to either side of it.
std::array<double, 2> position(double t);

// Centres of the interior bins of the 57 x 60 grid: [719, 2], x slowest.
std::vector<double> places();

}  // namespace holdfast::clusterless_kde::maze
