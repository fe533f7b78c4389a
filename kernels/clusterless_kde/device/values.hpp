// SPDX-License-Identifier: Apache-2.0
// Types of kernel arguments shared by host and device. Includes nothing, because device code has no
// standard headers.
#pragma once

namespace holdfast::clusterless_kde {

// Storage of the factors that matrix products read, one type per arithmetic besides float and
// double. SplitBf16: two bf16 whose sum is the value to 2^-17, the high one in the low half.
struct SplitBf16 {
  unsigned bits;
};
// Rounded to nearest; the matrix units would truncate.
struct Tf32 {
  float value;
};

inline constexpr int group_items = 16;  // encoding spikes or samples of a group

// Four consecutive values along the axis that a matrix product sums over: a lane's unit of reading.
// An operand is stored as [groups of 16 along that axis, columns, 4 quads].
template <class V>
struct alignas(16) Quad {
  V values[4];
};
template <>
struct alignas(16) Quad<SplitBf16> {
  unsigned high[2], low[2];  // pairs, the first in the low half
};

// A run of encoding spikes of one electrode, or of trajectory samples, which form the last group.
struct ItemTile {
  int begin, count;
  int group;  // electrode, or the number of electrodes for samples
};

}  // namespace holdfast::clusterless_kde
