// SPDX-License-Identifier: Apache-2.0
// How low the logarithm of a sum over spikes may be and still count: whether single precision
// reaches that far, and how far apart a spike and a place may be and still matter.
#pragma once

#include "clusterless_kde/problem/input.hpp"

namespace holdfast::clusterless_kde {

// Single precision reaches e^-87; above e^-70 it keeps its relative precision.
inline constexpr double lowest_single = -70;

// At or below Tmin, the least over all places of ln rate_floor - beta with beta = lcw - ln O: a sum
// S with ln S below it does not come through the floor anywhere. O is bounded from below by cells
// of the trajectory, which costs a fraction of a nat. Places whose O is 0 in double have no part in
// it, for there everything is floored.
double lowest_floor(const Input& input);

// Whether Tmin lies below `lowest_single`: by the bound where it suffices, else by the whole sum.
bool exceeds_single(const Input& input);

// Whether it does, or nearly does, for where the animal is while it is decoded, which is what the
// local likelihood asks for.
bool path_exceeds_single(const Input& input);

}  // namespace holdfast::clusterless_kde
