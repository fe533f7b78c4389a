// SPDX-License-Identifier: Apache-2.0
// holdfast-profile/1, whose schema is in baselines/formats/, and the same for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/profile/profile.hpp"

namespace holdfast {

// `trace` names the timeline's file beside it; empty where none was written.
nlohmann::json profile_json(const Profiled& profiled, const Profile& profile,
                            const std::string& trace);

// A few lines: what a step does and takes, the first operations, who holds the memory.
std::string profile_text(const Profiled& profiled, const Profile& profile);

}  // namespace holdfast
