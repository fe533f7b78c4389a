// SPDX-License-Identifier: Apache-2.0
// How far the optimisers' rules move the tensors of a model, whatever the gradients are.
#pragma once

#include <vector>

#include "gpt_train/row.hpp"
#include "harness/case/case.hpp"

namespace holdfast::gpt_train {

// Whether a result after one step may be that: each tensor is as far from where it was drawn as its
// rule goes.
bool is_one_step_from_start(const Row& row, const std::vector<double>& result);

// A chained update has gone on, has moved each tensor and none further than its rule goes, and its
// loss is a number.
Invariant training_goes_on(const Row& row);

}  // namespace holdfast::gpt_train
