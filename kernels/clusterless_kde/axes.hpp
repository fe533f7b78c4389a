// SPDX-License-Identifier: Apache-2.0
// The axes of a case id by name: what each enumerator is called, and back. A word that is not in
// its list throws Error{bad_input} "unknown ..." with the list.
#pragma once

#include <string_view>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data.hpp"

namespace holdfast::clusterless_kde {

std::string_view name(Size value);   // tiny, small, medium, large, realistic, tet64, hpc1d, hpc2d
std::string_view name(Marks value);  // profile, cells, whiten
std::string_view name(Arithmetic value);  // f32, ffma, bf16x3, tf32, f64
std::string_view name(Algorithm value);   // linear, lse, clm, fused
std::string_view name(Distance value);    // difference, expanded
std::string_view name(Values value);      // stored, recomputed

Size size_of(std::string_view word);
Marks marks_of(std::string_view word);
Arithmetic arithmetic_of(std::string_view word);
Algorithm algorithm_of(std::string_view word);
Distance distance_of(std::string_view word);
Values values_of(std::string_view word);

}  // namespace holdfast::clusterless_kde
