// SPDX-License-Identifier: Apache-2.0
// Why a run lacks what is measured on request only: the words of `holdfast run`, by which a check
// tells this from any other reason.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::gate {

inline constexpr const char* not_asked_for = "this run was not asked for it";
// Follows the name of the option.
inline constexpr std::string_view lacks_valgrind = " needs valgrind, and there is none in PATH";

// Whether `reason` is one of them; `option` is the one that asks.
inline bool is_unrequested(const std::string& reason, const std::string& option) {
  return reason == not_asked_for ||
         (reason.starts_with(option) && reason.find(lacks_valgrind) != std::string::npos);
}

}  // namespace holdfast::gate
