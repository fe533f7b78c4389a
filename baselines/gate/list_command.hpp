// SPDX-License-Identifier: Apache-2.0
// `holdfast list`: the suites of this build and their cases.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command list_command();

}  // namespace holdfast::gate
