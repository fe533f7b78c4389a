// SPDX-License-Identifier: Apache-2.0
// What was timed is verified once more, from the start again, through the calls that were timed: a
// variant that does less once nobody looks, or remembers an answer, is found here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/account.hpp"

namespace holdfast {

// Whether a reference whose steps stand alone was verified in another process of the run.
bool was_verified(const Steps& steps, Variant variant, const std::string& case_id);

// Throws Error{broken_rule} where the variants' results will be held to one another and an oracle
// that measures errors itself does not say how far apart they lie: against the largest number of a
// whole result a wrong small one would pass.
void check_between(const Steps& steps, bool has_reference);

struct AgainLimits {
  std::string case_id = {};
  double seconds = 0;      // steps and comparisons begin until it is spent
  std::uint32_t seed = 0;  // what the number of steps is drawn from
};

// Takes 1 to 40 steps, and as many again as make 41; one by one where they stand alone; fewer where
// they are slow. The results are held to the other variant's where that is measured, else to the
// oracle, never to the same variant's. What a reference makes of a step that stands alone it is
// asked once in a run, whose processes share the answer. Throws Error{broken_rule} where a step
// counts something else than it did when it was accounted. Returns a sentence for what is wrong.
std::optional<std::string> verify_again(const Steps& steps, Subject* reference, Subject& optimized,
                                        const AgainLimits& limits, Again& done);

}  // namespace holdfast
