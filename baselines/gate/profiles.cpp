// SPDX-License-Identifier: Apache-2.0
#include "gate/profiles.hpp"

#include <algorithm>

namespace holdfast::gate {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".profile.json";

Error elsewhere(const fs::path& file, std::string_view what, const std::string& held,
                const std::string& said) {
  return Error(Fault::bad_input, text(file.string(), ": holds a profile of the ", what, " '", held,
                                      "', and its place says '", said, "'; profile again"));
}

}  // namespace

fs::path profiles_folder(const fs::path& root, const std::string& device_class,
                         const std::string& suite) {
  return root / device_class / "profiles" / suite;
}

std::string profile_name(const std::string& case_id, const std::string& variant) {
  return text(slug(case_id), ".", variant, ending);
}

std::vector<Profile> read_profiles(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return {};
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Profile> profiles;
  for (const fs::path& file : files) {
    profiles.push_back(read_profile(file));
    const std::string name = profile_name(profiles.back().case_id, profiles.back().variant);
    if (name != file.filename())
      throw elsewhere(file, "case and variant",
                      profiles.back().case_id + ' ' + profiles.back().variant,
                      file.filename().string());
  }
  return profiles;
}

std::vector<Profile> read_root_profiles(const fs::path& root, const std::string& device_class,
                                        const std::string& suite) {
  const fs::path folder = profiles_folder(root, device_class, suite);
  std::vector<Profile> profiles = read_profiles(folder);
  for (const Profile& profile : profiles) {
    const fs::path file = folder / profile_name(profile.case_id, profile.variant);
    if (profile.suite != suite) throw elsewhere(file, "suite", profile.suite, suite);
    if (profile.device_class != device_class)
      throw elsewhere(file, "device class", profile.device_class, device_class);
  }
  return profiles;
}

}  // namespace holdfast::gate
