// SPDX-License-Identifier: Apache-2.0
#include "gate/commands.hpp"

#include "gate/ab.hpp"
#include "gate/baseline.hpp"
#include "gate/check.hpp"
#include "gate/difference.hpp"
#include "gate/doctor.hpp"
#include "gate/explain_command.hpp"
#include "gate/export.hpp"
#include "gate/history.hpp"
#include "gate/list_command.hpp"
#include "gate/policy_command.hpp"
#include "gate/profile_command.hpp"
#include "gate/run.hpp"
#include "gate/trend.hpp"

namespace holdfast::gate {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      run_command(),   check_command(),   baseline_command(), policy_command(), ab_command(),
      diff_command(),  explain_command(), profile_command(),  export_command(), history_command(),
      trend_command(), list_command(),    doctor_command()};
  return table;
}

}  // namespace holdfast::gate
