// SPDX-License-Identifier: Apache-2.0
// The arguments of the attention kernels, for the launcher and for device code.
#pragma once

#include "runtime/device_code/bf16.hpp"

namespace holdfast::gpt_train {

inline constexpr int attention_tile = 64;    // queries, and keys, of a tile
inline constexpr int attention_block = 128;  // threads
inline constexpr int attention_stages = 3;   // tiles in flight or in use

// Queries, keys and values, or their gradients: row n of each begins n pitch after the first, head
// by head. Query head h R + r reads head h of keys and values.
template <class T>
struct Heads {
  T* q = nullptr;
  T* k = nullptr;
  T* v = nullptr;
  int pitch = 0;  // a multiple of eight
};

// The range of the segments in a tile of a row: tiles with disjoint ranges have no pair that sees
// each other.
struct SegmentRange {
  int low = 0, high = 0;
};

struct AttentionForm {
  int columns = 0;                       // T
  int heads = 0;                         // H R
  int repeats = 0;                       // R
  int out_pitch = 0;                     // of o and its gradient, a multiple of eight
  float scale = 0;                       // K^-1/2
  const int* segments = nullptr;         // [B, T]
  const SegmentRange* ranges = nullptr;  // [B, ceil(T / tile)]
};

}  // namespace holdfast::gpt_train
