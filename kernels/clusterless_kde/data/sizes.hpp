// SPDX-License-Identifier: Apache-2.0
// The table of input sizes.
#pragma once

#include <cstdint>

#include "clusterless_kde/data/data.hpp"

namespace holdfast::clusterless_kde {

struct SizeRow {
  std::int64_t samples = 0, rows = 0;           // K, T
  int electrodes = 0;                           // E
  double encoding_rate = 0, decoding_rate = 0;  // mean spikes per electrode
  int bins = 0;                                 // P
  double length = 100;                          // of the track, in centimetres
};
// In the order of Size.
inline constexpr SizeRow sizes[] = {
    {100, 50, 4, 20, 10, 100},
    {500, 100, 8, 50, 30, 200},
    {2000, 500, 16, 200, 100, 500},
    {5000, 1000, 32, 500, 300, 1000},
    {10000, 2000, 64, 1000, 400, 2000},
    {210000, 210000, 64, 18281, 7812, 200, 200},
    {709321, 709321, 22, 20000, 20000, 175, 350},
    {709321, 709321, 22, 20000, 20000, 719, 0},
};

inline constexpr double encoding_seconds = 100, decoding_seconds = 20;  // on a track

inline const SizeRow& row_of(Size size) {
  return sizes[static_cast<int>(size)];
}

}  // namespace holdfast::clusterless_kde
