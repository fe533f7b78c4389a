// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor --resolution`: how large a loss must be to fail, case by case.
#pragma once

#include <string>

#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// For each case the time or ratio that would have shown the smallest loss, largest first; a case
// whose times and ratios are all ungated, and one that was not measured, say so: no loss of its
// speed could fail.
std::string resolution_table(const Verdict& verdict);

}  // namespace holdfast::gate
