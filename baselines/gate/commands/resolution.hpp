// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor --resolution`: how large a loss must be to fail, case by case.
#pragma once

#include <string>

#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// For each case the time or ratio that would have shown the smallest loss. First stand cases of
// which no loss could fail, as where all times and ratios are ungated or none was measured; then
// the others, the largest loss first.
std::string resolution_table(const Verdict& verdict);

}  // namespace holdfast::gate
