// SPDX-License-Identifier: Apache-2.0
// What host and device must spell alike in a kernel's arguments. Includes nothing, because device
// code has no standard headers.
#pragma once

namespace holdfast::clusterless_kde {

// How the factors that matrix products read are kept, one type per arithmetic; float and double
// are the others. Two bf16 whose sum is the value to 2^-17: the high one in the low half.
struct SplitBf16 {
  unsigned bits;
};
// Rounded to nearest; the matrix units would cut the rest off.
struct Tf32 {
  float value;
};

inline constexpr int group_items = 16;  // encoding spikes or samples of a group

// Four values that follow one another along the axis a matrix product sums over: what a lane reads
// at a time. An operand is kept as [groups of 16 along that axis, columns, 4 quads].
template <class V>
struct alignas(16) Quad {
  V values[4];
};
template <>
struct alignas(16) Quad<SplitBf16> {
  unsigned high[2], low[2];  // pairs, the first in the low half
};

// A run of encoding spikes of one electrode, or of samples of the trajectory: the last group.
struct ItemTile {
  int begin, count;
  int group;  // electrode, or the number of electrodes for samples
};

}  // namespace holdfast::clusterless_kde
