// SPDX-License-Identifier: Apache-2.0
// `holdfast explain`: the evidence about one case, ending in a cause and the next command.
#pragma once

#include "gate/options.hpp"

namespace holdfast::gate {

Command explain_command();

}  // namespace holdfast::gate
