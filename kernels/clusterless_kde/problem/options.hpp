// SPDX-License-Identifier: Apache-2.0
// How a decode is computed: the caller's options, and the planner's plan.
#pragma once

#include <cstdint>
#include <optional>

#include "clusterless_kde/problem/nodes.hpp"
#include "runtime/base/precision.hpp"

namespace holdfast::clusterless_kde {

// Arithmetic of the optimized variant's products and exponentials. The host has f32 and f64.
enum class Arithmetic {
  f32,     // label f32: any arithmetic within its error; bf16x3 on a device with tensor cores
  ffma,    // plain f32
  bf16x3,  // each operand as two bf16, three products, f32 accumulators
  tf32,
  f64,
};

// How the sum over encoding spikes is organised; the reference uses the first.
enum class Algorithm {
  linear,       // step by step through memory, in linear space
  log_sum_exp,  // two passes over the encoding spikes for each decoding spike
  matmul,       // both log kernels shifted by their maxima and multiplied
  fused,        // the optimized one
};

// Squared distance of marks: sum of (x - y)^2, or |x|^2 + |y|^2 - 2 x y, which suffers
// cancellation.
enum class Distance { difference, expanded };

enum class Values { stored, recomputed };  // Psi on a device: kept by the model, or formed per tile

// Options of Variant::optimized, most of them for a decode. The reference only reads the precision,
// `block` and `local_floor`.
struct Options {
  Arithmetic arithmetic = Arithmetic::f32;
  Algorithm algorithm = Algorithm::fused;
  Distance distance = Distance::difference;  // linear supports only difference
  Values values = Values::stored;            // fused, on a device
  int block = 0;  // decoding spikes at a time; 0: chosen if fused, else 100
  // Places at a time; 0: chosen. As in the published programs linear and clm take all at once.
  int position_tile = 0;
  int encoding_tile = 0;                    // encoding spikes at a time; 0: chosen (fused)
  bool cut = false;                         // skip certainly negligible pairs (fused, dense)
  bool local_floor = true;                  // for the local likelihood's spike term
  int chunks = 1;                           // time chunks of a decode
  std::optional<std::int64_t> budget = {};  // memory limit of a decode in bytes, for the planner
  // Rows go to a consumer, chunk by chunk, and no out[T, P] exists.
  bool consume = false;
};

constexpr Precision precision_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::f64 ? Precision::f64 : Precision::f32;
}

// How the optimized variant decodes within its memory. `options` are as given, except that the
// budget sets chunks, values and consume, and on a host block and position_tile.
struct Plan {
  Path path = Path::dense;
  int node_count = 0;  // Q; 0 on the dense path
  // f32 was requested, but entries above the floor lie below its range: see README.md.
  bool range_fallback = false;
  Options options = {};
  // Number of parts of the encoding, with equally many electrodes each, that a device holds one at
  // a time.
  int electrode_batches = 1;
  std::int64_t chunk_spikes = 0;    // of the largest time chunk; rows of the scratch
  std::int64_t estimate_bytes = 0;  // predicted high-water mark
};

}  // namespace holdfast::clusterless_kde
