// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor --resolution`: how large a loss must be to fail, case by case.
#pragma once

#include <string>

#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// Of each case the time or ratio that would have shown the smallest loss, the blindest case first;
// a case of times and ratios that none of them gates is told as such, and so is one that was not
// measured: no loss of its speed could fail.
std::string resolution_table(const Verdict& verdict);

}  // namespace holdfast::gate
