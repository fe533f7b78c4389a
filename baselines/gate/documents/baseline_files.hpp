// SPDX-License-Identifier: Apache-2.0
// The files of a folder of baselines: those of each device class and suite, and the policy.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gate/base/options.hpp"
#include "gate/base/store.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/policy/policy.hpp"

namespace holdfast::gate {

// <baselines>/devices/<device_class>/<suite>.json, and the same relative to <baselines>.
std::string baseline_file(const std::string& device_class, const std::string& suite);
std::optional<Baseline> read_baseline_if_any(const Store& store, const std::string& place);

// The policy that the options name, with today's date.
Policy read_policy(const std::filesystem::path& baselines, const Options& options);

}  // namespace holdfast::gate
