// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/baseline_files.hpp"

#include "gate/base/git.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string baseline_file(const std::string& device_class, const std::string& suite) {
  return "devices/" + device_class + '/' + suite + ".json";
}

std::optional<Baseline> read_baseline_if_any(const Store& store, const std::string& place) {
  const auto content = store.content_of(place);
  if (!content) return std::nullopt;
  Baseline baseline = read_baseline(*content);
  require_class(baseline, store.folder() / place);
  return baseline;
}

fs::path policy_folder(const fs::path& baselines, const Options& options) {
  return options.value_or("policy", (baselines / "policy").string());
}

Policy read_policy(const fs::path& baselines, const Options& options) {
  return Policy::read(policy_folder(baselines, options), today_utc());
}

void require_class(const Baseline& baseline, const fs::path& file) {
  const std::string folder = file.parent_path().filename();
  if (baseline.device_class == folder) return;
  throw Error(Fault::bad_input, text(file.string(), ": holds the baseline of the device class '",
                                     baseline.device_class, "', and its folder says '", folder,
                                     "'; move it to its place"));
}

void expect_tracked(const fs::path& folder, const std::function<bool(const fs::path&)>& matters) {
  for (const fs::path place : tracked_files(folder)) {
    const std::string file = folder / place;
    if (matters(place) && !fs::exists(file))
      throw Error(Fault::incomplete,
                  text(file,
                       ": git's index has the file, and it is not there; restore it, or "
                       "remove it from the index as well: git rm --cached ",
                       file));
  }
}

void expect_rules(const fs::path& baselines, const fs::path& policy) {
  expect_tracked(baselines, [](const fs::path& place) { return place == "aliases.json"; });
  expect_tracked(policy, [](const fs::path& place) {
    return place.extension() == ".json" && !place.has_parent_path();
  });
}

}  // namespace holdfast::gate
