// SPDX-License-Identifier: Apache-2.0
// Profiles in the places where a test wants them.
#pragma once

#include <filesystem>

#include "gate/base/json.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/testing/fake_profile.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate::toy {

inline Profile parsed(const json& document) {
  return parse_profile(Document("a profile", document.dump(1)));
}

// Where `document` stands in a results root.
inline std::filesystem::path profile_path(const std::filesystem::path& root, const json& document) {
  return profiles_folder(root, document["device_class"], document["suite"]) /
         profile_name(document["case"], document["variant"]);
}

inline void store_profile(const std::filesystem::path& root, const json& document) {
  const std::filesystem::path path = profile_path(root, document);
  std::filesystem::create_directories(path.parent_path());
  write_file(path, document.dump(1));
}

}  // namespace holdfast::gate::toy
