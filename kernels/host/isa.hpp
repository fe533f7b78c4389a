// SPDX-License-Identifier: Apache-2.0
// Chooses, among functions compiled once for each instruction set, the one for this machine. For
// sources that run on every machine.
#pragma once

#include <string_view>

#include "runtime/backend/host_limits.hpp"

namespace holdfast::host {

// The same function, compiled for x86-64-v3 and for x86-64-v4.
template <class Function>
Function* choose_isa(Function* v3, Function* v4, std::string_view isa = host_limits().isa) {
  return isa == "x86-64-v4" ? v4 : v3;
}

}  // namespace holdfast::host
