// SPDX-License-Identifier: Apache-2.0
// The sizes of cases by name.
#pragma once

#include "runtime/base/words.hpp"
#include "xpcs_fit/data/data.hpp"

namespace holdfast::xpcs_fit {

inline constexpr Words<NamedSize, 7> size_words = {"size", {"t", "s0", "s", "l", "c", "x", "xx"}};

}  // namespace holdfast::xpcs_fit
