// SPDX-License-Identifier: Apache-2.0
// The suite's own options: the way of fits over their data, where streams are saved, and how many
// of their batches may be lost.
#pragma once

#include <vector>

#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {

std::vector<OptionRow> own_options();

// Puts what was given where the rows keep it. Throws Error{bad_input} for a frequency, a share or a
// folder that is none; a strategy that there is not is told in a warning, and chosen by size.
void follow(const SuiteOptions& options, std::vector<Row>& rows);

}  // namespace holdfast::xpcs_fit
