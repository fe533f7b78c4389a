// SPDX-License-Identifier: Apache-2.0
// Verifies once more what was timed, from the start, through the timed calls: this finds a variant
// that does less when unobserved, or remembers an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/account.hpp"

namespace holdfast {

// Whether a reference with unchained steps was verified in another process of the run.
bool was_verified(const Steps& steps, Variant variant, const std::string& case_id);

// Throws Error{broken_rule} if the variants' results will be compared with one another and an
// oracle with its own measure of errors does not define their distance: relative to the largest
// number of a whole result a wrong small one would pass.
void check_between(const Steps& steps, bool has_reference);

struct AgainLimits {
  std::string case_id = {};
  double seconds = 0;      // time for starting steps and comparisons
  std::uint32_t seed = 0;  // of the random number of steps
};

// Takes 1 to 40 steps, and then enough to make 41; one by one if unchained; fewer if they are slow.
// Results are compared with the other variant's if that is measured, else with the oracle, as are
// all unchained ones of input 0; never with the same variant's. A reference's unchained result is
// computed once per run and shared by its processes. Throws Error{broken_rule} if a step's counts
// differ from the accounted ones. Returns a sentence for what is wrong.
std::optional<std::string> verify_again(const Steps& steps, Subject* reference, Subject& optimized,
                                        const AgainLimits& limits, Again& done);

}  // namespace holdfast
