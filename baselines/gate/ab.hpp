// SPDX-License-Identifier: Apache-2.0
// holdfast ab: two builds of a suite, compared on one machine.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command ab_command();

}  // namespace holdfast::gate
