// SPDX-License-Identifier: Apache-2.0
// `holdfast profile`: one case, a few steps, looked at from all sides.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command profile_command();

}  // namespace holdfast::gate
