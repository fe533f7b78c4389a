// SPDX-License-Identifier: Apache-2.0
// Inputs, each a function of only a seed, a stream and an index.
#pragma once

#include <cstdint>
#include <vector>

#include "gpt_train/data/hash.hpp"
#include "gpt_train/problem/tensors.hpp"

namespace holdfast::gpt_train {

// A tensor's numbers [rows, columns], before rounding.
std::vector<double> drawn(const Tensor& tensor, Start start);

// The input of a step: tokens and documents [B, T]; a document of 0 is padding.
struct Batch {
  std::vector<int> tokens = {}, documents = {};
};
Batch batch_of(const Options& options, std::int64_t step);

// Derived from a batch: which positions see each other (equal segments; padding is -1), each
// position's target, and whether it counts.
struct Targets {
  std::vector<int> segments = {}, targets = {};  // [B, T]
  std::vector<char> counted = {};                // [B, T]
  std::int64_t count = 0;                        // c
};
// Throws Error{bad_input} naming the place of an invalid token, and if no position counts.
Targets targets_of(const Shape& shape, const Batch& batch);

// P: pairs of positions of which the later sees the earlier, in the batch of step 0. Visits every
// token, but does not make the batch.
std::int64_t pairs_of(const Options& options);

// The average P if rows have documents and no padding.
double expected_pairs(const Options& options);

}  // namespace holdfast::gpt_train
