// SPDX-License-Identifier: Apache-2.0
// `holdfast policy`: which rules apply to a case.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command policy_command();

}  // namespace holdfast::gate
