// SPDX-License-Identifier: Apache-2.0
// A profile as people read it on a terminal.
#pragma once

#include <string>
#include <vector>

#include "gate/documents/profile.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// Overview, operations, scopes, transfers, memory, compilations, windows: what there is of each.
std::string describe(const Profile& profile);

// Two lines: what it is of, and the overview.
std::string describe_briefly(const Profile& profile);

// One finding per paragraph, with its cure; findings that differ only in the case share one. At
// most `at_most`, and a line that counts the rest; references are only counted, unless asked for.
struct FindingsShown {
  std::size_t at_most = 10;
  bool references = false;
  bool places = true;  // name the case and variant
};
std::string describe(const std::vector<Detection>& findings, const FindingsShown& shown);

// A line for each finding that is expected, with its reason; describe() leaves those out.
std::string describe_expected(const std::vector<Detection>& findings);

}  // namespace holdfast::gate
