// SPDX-License-Identifier: Apache-2.0
// Inputs, each a function of a seed, a stream and an index alone.
#pragma once

#include <cstdint>
#include <vector>

#include "gpt_train/data/hash.hpp"
#include "gpt_train/problem/tensors.hpp"

namespace holdfast::gpt_train {

// A tensor's numbers [rows, columns], before rounding.
std::vector<double> drawn(const Tensor& tensor, Start start);

// What a step reads: tokens and documents [B, T]; a document of 0 is padding.
struct Batch {
  std::vector<int> tokens = {}, documents = {};
};
Batch batch_of(const Options& options, std::int64_t step);

// What follows from a batch: whom a position sees (equal segments, -1 of padding), what it must
// foretell, and whether that counts.
struct Targets {
  std::vector<int> segments = {}, targets = {};  // [B, T]
  std::vector<char> counted = {};                // [B, T]
  std::int64_t count = 0;                        // c
};
// Throws Error{bad_input} with the place of a token that is none, and where nothing is counted.
Targets targets_of(const Shape& shape, const Batch& batch);

// P: pairs of positions of which the later sees the earlier, in the batch of step 0, which is not
// made for it. Every token is looked at.
std::int64_t pairs_of(const Options& options);

// The average of P where rows have documents and no padding.
double expected_pairs(const Options& options);

}  // namespace holdfast::gpt_train
