// SPDX-License-Identifier: Apache-2.0
// Decoding an animal's position from spikes that nobody sorted: options, plans and computations.
// README.md has the mathematics and the notation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "clusterless_kde/input.hpp"
#include "clusterless_kde/nodes.hpp"
#include "clusterless_kde/preparation.hpp"
#include "computation.hpp"
#include "runtime/backend.hpp"

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

// A size of Options that somebody gave, who cannot mean "chosen" by 0. `what`: "block size".
int given_size(std::string_view what, int size);

// Throw Error{bad_input} for what cannot be computed, before anything is allocated.
void validate(const Options& options);
void validate(const Backend& backend, Variant variant, const Options& options);

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
// Throws Error{bad_input} "needs at least N bytes" where no plan fits the budget.
Plan plan(const Backend& backend, const Input& input, const Options& options);

// What the published rule of thumb would have said, to be put beside the estimate.
std::int64_t rule_of_thumb_bytes(const Shape& shape);

// Per step() of each computation, of the path that `path` chooses.
Work encode_work(const Shape& shape, const Options& options = {});
Work decode_work(const Shape& shape, const Options& options = {});
Work total_work(const Shape& shape, const Options& options = {});
Work local_work(const Shape& shape, const Options& options = {});

// encode: from host arrays to the model on the backend. result(): o[P], then G[P].
// decode: from host arrays to out on the backend, with a model made beforehand. result(): out[T,
// P]; where consumed, ln sum_p exp(out)[T], then argmax_p[T].
// total: encode, then decode. result(): as decode.
// local: the likelihood at the animal's own position. result(): out[T].
std::unique_ptr<Computation> make_encode(Backend&, Variant, const Input&, const Options& = {});
std::unique_ptr<Computation> make_decode(Backend&, Variant, const Input&, const Options& = {});
std::unique_ptr<Computation> make_total(Backend&, Variant, const Input&, const Options& = {});
std::unique_ptr<Computation> make_local(Backend&, Variant, const Input&, const Options& = {});

}  // namespace holdfast::clusterless_kde
