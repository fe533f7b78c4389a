// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/commands.hpp"

namespace holdfast::gate {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      run_command(),   check_command(),   baseline_command(), policy_command(), ab_command(),
      diff_command(),  explain_command(), profile_command(),  export_command(), history_command(),
      trend_command(), list_command(),    doctor_command()};
  return table;
}

}  // namespace holdfast::gate
