// SPDX-License-Identifier: Apache-2.0
// The profile documents of a folder, and their place in a results root:
// <root>/<device_class>/profiles/<suite>/<slug of the case>.<variant>.profile.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/profile_document.hpp"

namespace holdfast::gate {

std::filesystem::path profiles_folder(const std::filesystem::path& root,
                                      const std::string& device_class, const std::string& suite);

// "<slug>.<variant>.profile.json"
std::string profile_name(const std::string& case_id, const std::string& variant);

// All profiles of a folder, sorted by file; none where there is no folder. Throws Error(bad_input)
// for a broken document and for one whose name says another case or variant.
std::vector<Profile> read_profiles(const std::filesystem::path& folder);

// Those of one suite in a results root, which must be of that suite and device class.
std::vector<Profile> read_root_profiles(const std::filesystem::path& root,
                                        const std::string& device_class, const std::string& suite);

}  // namespace holdfast::gate
