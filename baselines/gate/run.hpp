// SPDX-License-Identifier: Apache-2.0
// `holdfast run`: suites in fresh processes, and one result file for each.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command run_command();

}  // namespace holdfast::gate
