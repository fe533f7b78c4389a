// SPDX-License-Identifier: Apache-2.0
// The axes of a case id by name: the word for each enumerator, and back.
#pragma once

#include "runtime/base/words.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

inline constexpr Words<Mode, 2> mode_words = {"mode", {"static", "laminar"}};
inline constexpr Words<Scaling, 2> scaling_words = {"scaling", {"shared", "per_angle"}};
inline constexpr Words<Loss, 2> loss_words = {"loss", {"linear", "soft_l1"}};
inline constexpr Words<Weights, 2> weights_words = {"weights", {"unit", "array"}};

}  // namespace holdfast::xpcs_fit
