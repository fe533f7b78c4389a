// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/baseline_files.hpp"

namespace holdfast::gate {

std::string baseline_file(const std::string& device_class, const std::string& suite) {
  return "devices/" + device_class + '/' + suite + ".json";
}

std::optional<Baseline> read_baseline_if_any(const Store& store, const std::string& place) {
  const auto content = store.content_of(place);
  if (!content) return std::nullopt;
  return read_baseline(*content);
}

Policy read_policy(const std::filesystem::path& baselines, const Options& options) {
  return Policy::read(options.value_or("policy", (baselines / "policy").string()), today_utc());
}

}  // namespace holdfast::gate
