// SPDX-License-Identifier: Apache-2.0
// Who knows the right results of this suite, and what must hold after the timed section.
#pragma once

#include "gpt_train/row.hpp"
#include "harness/case/case.hpp"

namespace holdfast::gpt_train {

// Plain loops in f64, tensor by tensor; of a training step the published losses, norms and a number
// of its parameters. Besides, in each the published values of micro.
Oracle oracle_of(const Row& row);

// After how many steps of a row something is published.
int warm_up_of(const Row& row);

// A chained update has gone on, has moved the parameters, and its loss is a number.
Invariant training_goes_on(const Row& row);

}  // namespace holdfast::gpt_train
