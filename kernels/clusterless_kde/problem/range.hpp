// SPDX-License-Identifier: Apache-2.0
// The smallest logarithm of a sum over spikes that still counts: whether it is within single
// precision, and how far apart a spike and a place may be and still matter.
#pragma once

#include "clusterless_kde/problem/input.hpp"

namespace holdfast::clusterless_kde {

// Single precision reaches e^-87; above e^-70 it keeps its relative precision.
inline constexpr double lowest_single = -70;

// A lower bound of Tmin, the minimum over all places of ln rate_floor - beta with beta = lcw - ln
// O: a sum S with ln S below it is floored everywhere. O is bounded from below by cells of the
// trajectory, which costs a fraction of a nat. Places whose O is 0 in double are excluded, because
// everything is floored there.
double lowest_floor(const Input& input);

// Whether Tmin lies below `lowest_single`: by the bound if it decides, else by the whole sum.
bool exceeds_single(const Input& input);

// Whether it does, or nearly does, at the animal's positions during decoding, where the local
// likelihood is evaluated.
bool path_exceeds_single(const Input& input);

}  // namespace holdfast::clusterless_kde
