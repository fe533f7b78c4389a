// SPDX-License-Identifier: Apache-2.0
// Why a run may not be accepted, whatever its values are.
#pragma once

#include <string>
#include <vector>

#include "gate/documents/list.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

struct Refusal {
  int exit = 3;
  std::string why;
};

// Ends the sentence about a run that is refused for its times alone.
inline constexpr const char* counts_remain = "; --counts-only takes what is not timed";

// Why these results must not become a baseline; empty if they may. `bootstrap` also accepts ratios
// of few processes; `counts_only` demands nothing of times and ratios, and is named where it would
// leave no refusal.
std::vector<Refusal> refusals(const Results& results, const List& list, const Policy& policy,
                              bool bootstrap, bool counts_only = false);

}  // namespace holdfast::gate
