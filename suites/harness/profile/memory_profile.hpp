// SPDX-License-Identifier: Apache-2.0
// The holders of memory at its peak, as a pprof profile: `go tool pprof FILE` and related tools
// show it by site, by scope, by case.
#pragma once

#include <string>
#include <vector>

#include "harness/profile/profile_data.hpp"

namespace holdfast {

// Allocations of one site made in one scope and alive at the peak.
struct Held {
  std::string site = {};
  int scope = -1;  // index into Recorded::scopes; -1: outside of all
  std::int64_t count = 0, bytes = 0;
};

// Their bytes sum to the highest live_bytes of the recorded activities.
std::vector<Held> held_at_peak(const std::vector<Activity>& activities);

// The gzip-compressed profile.proto. Sample types: allocations (count) and space (bytes); a stack
// is site, scopes from the innermost, variant, case.
std::string memory_profile(const Profiled& profiled);

}  // namespace holdfast
