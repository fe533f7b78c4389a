// SPDX-License-Identifier: Apache-2.0
// The oracles of this suite.
#pragma once

#include "gpt_train/row.hpp"
#include "harness/case/case.hpp"

namespace holdfast::gpt_train {

// Plain loops in f64, tensor by tensor; for a training step the published losses, norms and one of
// its parameters. Each also checks the published values of micro.
Oracle oracle_of(const Row& row);

// The number of steps after which values of a row are published.
int warm_up_of(const Row& row);

// Checks a computation after that many steps, if it executes.
void check_after_warm_up(Session& session, const Row& row, Computation& computation);

}  // namespace holdfast::gpt_train
