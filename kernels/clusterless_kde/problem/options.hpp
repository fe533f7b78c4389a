// SPDX-License-Identifier: Apache-2.0
// How a decode is computed: what a caller chooses, and what the planner makes of it.
#pragma once

#include <cstdint>
#include <optional>

#include "clusterless_kde/problem/nodes.hpp"
#include "runtime/base/precision.hpp"

namespace holdfast::clusterless_kde {

// Of the optimized variant's products and exponentials. The host has f32 and f64.
enum class Arithmetic {
  f32,     // label f32: whatever stays within its error; bf16x3 on a device with tensor cores
  ffma,    // plain f32
  bf16x3,  // each operand as two bf16, three products, f32 accumulators
  tf32,
  f64,
};

// How the sum over encoding spikes is organised; the first is the reference's.
enum class Algorithm {
  linear,       // step by step through memory, in linear space
  log_sum_exp,  // two passes over the encoding spikes for each decoding spike
  matmul,       // both log kernels shifted by their maxima and multiplied
  fused,        // the optimized one
};

// Of marks: sum of (x - y)^2, or |x|^2 + |y|^2 - 2 x y, which cancels.
enum class Distance { difference, expanded };

enum class Values { stored, recomputed };  // Psi on a device: kept by the model, or formed per tile

// Of Variant::optimized, and most of them of a decode. The reference is the same whatever they say,
// but for the precision, `block` and `local_floor`.
struct Options {
  Arithmetic arithmetic = Arithmetic::f32;
  Algorithm algorithm = Algorithm::fused;
  Distance distance = Distance::difference;  // linear has differences alone
  Values values = Values::stored;            // fused, on a device
  int block = 0;  // decoding spikes at a time; 0: chosen if fused, else 100
  // Places at a time; 0: chosen. As in the published programs linear and clm take all at once.
  int position_tile = 0;
  int encoding_tile = 0;    // encoding spikes at a time; 0: chosen (fused)
  bool cut = false;         // leave out pairs that certainly change nothing (fused, dense)
  bool local_floor = true;  // of the local likelihood's spike term
  int chunks = 1;           // time chunks of a decode
  std::optional<std::int64_t> budget = {};  // bytes of memory a decode may use: the planner decides
  // Rows go to a consumer, chunk by chunk, and no out[T, P] exists.
  bool consume = false;
};

constexpr Precision precision_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::f64 ? Precision::f64 : Precision::f32;
}

// How the optimized variant decodes within its memory. `options` as given, but for what the budget
// made of chunks, values and consume, and on a host of block and position_tile.
struct Plan {
  Path path = Path::dense;
  int node_count = 0;  // Q; 0 on the dense path
  // f32 was asked for, but entries above the floor lie below its range: see README.md.
  bool range_fallback = false;
  Options options = {};
  // Parts of the encoding that a device holds one at a time, of as many electrodes each.
  int electrode_batches = 1;
  std::int64_t chunk_spikes = 0;    // most of a time chunk, rows of the scratch
  std::int64_t estimate_bytes = 0;  // the high-water mark, by formula
};

}  // namespace holdfast::clusterless_kde
