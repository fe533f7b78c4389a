// SPDX-License-Identifier: Apache-2.0
// holdfast-profile/1, whose schema is in baselines/formats/, and the same for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/profile/profile.hpp"

namespace holdfast {

// `trace`: file name of the timeline beside it; empty if none was written.
nlohmann::json profile_json(const Profiled& profiled, const Profile& profile,
                            const std::string& trace);

// A few lines: a step's work and time, the first operations, the holders of memory.
std::string profile_text(const Profiled& profiled, const Profile& profile);

}  // namespace holdfast
