// SPDX-License-Identifier: Apache-2.0
// The verbs and their table. A new verb is a function here and a row there.
#pragma once

#include <vector>

#include "gate/base/options.hpp"

namespace holdfast::gate {

Command run_command();
Command check_command();
Command baseline_command();
Command policy_command();
Command ab_command();
Command diff_command();
Command explain_command();
Command profile_command();
Command export_command();
Command history_command();
Command trend_command();
Command list_command();
Command doctor_command();

const std::vector<Command>& commands();

}  // namespace holdfast::gate
