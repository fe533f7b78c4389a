// SPDX-License-Identifier: Apache-2.0
// Who knows the right results of this suite.
#pragma once

#include "gpt_train/row.hpp"
#include "harness/case/case.hpp"

namespace holdfast::gpt_train {

// Plain loops in f64, tensor by tensor; of a training step the published losses, norms and a number
// of its parameters. Besides, in each the published values of micro.
Oracle oracle_of(const Row& row);

// After how many steps of a row something is published.
int warm_up_of(const Row& row);

// A computation after so many steps, where it executes.
void check_after_warm_up(Session& session, const Row& row, Computation& computation);

}  // namespace holdfast::gpt_train
