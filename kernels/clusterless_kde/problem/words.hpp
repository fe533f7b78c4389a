// SPDX-License-Identifier: Apache-2.0
// Names of the enumerators on the axes of a case id, in both directions.
#pragma once

#include "clusterless_kde/problem/options.hpp"
#include "runtime/base/words.hpp"

namespace holdfast::clusterless_kde {

enum class Size;   // defined in data.hpp
enum class Marks;  // defined in data.hpp

inline constexpr Words<Size, 8> size_words = {
    "size", {"tiny", "small", "medium", "large", "realistic", "tet64", "hpc1d", "hpc2d"}};
inline constexpr Words<Marks, 3> marks_words = {"data", {"profile", "cells", "whiten"}};
inline constexpr Words<Arithmetic, 5> arithmetic_words = {"arithmetic",
                                                          {"f32", "ffma", "bf16x3", "tf32", "f64"}};
inline constexpr Words<Algorithm, 4> algorithm_words = {"algo", {"linear", "lse", "clm", "fused"}};
inline constexpr Words<Distance, 2> distance_words = {"distance", {"difference", "expanded"}};
inline constexpr Words<Values, 2> values_words = {"psi", {"stored", "recomputed"}};

}  // namespace holdfast::clusterless_kde
