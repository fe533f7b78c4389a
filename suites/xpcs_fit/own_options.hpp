// SPDX-License-Identifier: Apache-2.0
// The suite's own options: the strategy of fits, where streams are saved, and how many of their
// batches may be lost.
#pragma once

#include <vector>

#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {

std::vector<OptionRow> own_options();

// Applies the options to the rows. Throws Error{bad_input} for an invalid frequency, share or
// folder; an unknown strategy causes a warning and is chosen by size.
void follow(const SuiteOptions& options, std::vector<Row>& rows);

}  // namespace holdfast::xpcs_fit
