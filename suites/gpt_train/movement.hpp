// SPDX-License-Identifier: Apache-2.0
// How far the optimisers' rules move a model's tensors, for any gradients.
#pragma once

#include <vector>

#include "gpt_train/row.hpp"
#include "harness/case/case.hpp"

namespace holdfast::gpt_train {

// Whether a result can be that of one step: each tensor has moved as far from where it was drawn as
// its rule moves it.
bool is_one_step_from_start(const Row& row, const std::vector<double>& result);

// A chained update has advanced, has moved each tensor, none further than its rule allows, and its
// loss is finite.
Invariant training_goes_on(const Row& row);

}  // namespace holdfast::gpt_train
