// SPDX-License-Identifier: Apache-2.0
#include "gate/commands.hpp"

#include "gate/baseline.hpp"
#include "gate/check.hpp"
#include "gate/difference.hpp"
#include "gate/doctor.hpp"
#include "gate/history.hpp"
#include "gate/list_command.hpp"
#include "gate/policy_command.hpp"
#include "gate/run.hpp"
#include "gate/trend.hpp"

namespace holdfast::gate {

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {run_command(),    check_command(), baseline_command(),
                                             policy_command(), diff_command(),  history_command(),
                                             trend_command(),  list_command(),  doctor_command()};
  return table;
}

}  // namespace holdfast::gate
