// SPDX-License-Identifier: Apache-2.0
// `holdfast baseline accept|show|diff|prune`.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command baseline_command();

}  // namespace holdfast::gate
