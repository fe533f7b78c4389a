// SPDX-License-Identifier: Apache-2.0
// The files of a folder of baselines: those of each device class and suite, and the policy.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "gate/base/options.hpp"
#include "gate/base/store.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/policy/policy.hpp"

namespace holdfast::gate {

// <baselines>/devices/<device_class>/<suite>.json, and the same relative to <baselines>.
std::string baseline_file(const std::string& device_class, const std::string& suite);
// Throws as require_class() does.
std::optional<Baseline> read_baseline_if_any(const Store& store, const std::string& place);

// The folder of the policy that the options name, and the policy with today's date.
std::filesystem::path policy_folder(const std::filesystem::path& baselines, const Options& options);
Policy read_policy(const std::filesystem::path& baselines, const Options& options);

// Throws Error(bad_input) unless the baseline is of the class that its file's folder is named
// after.
void require_class(const Baseline& baseline, const std::filesystem::path& file);

// Throws Error(incomplete) if git's index has a file of the folder that `matters`, and the working
// copy lacks it.
void expect_tracked(const std::filesystem::path& folder,
                    const std::function<bool(const std::filesystem::path&)>& matters);
// A policy that lacks a file is laxer, and without aliases.json entries are lost.
void expect_rules(const std::filesystem::path& baselines, const std::filesystem::path& policy);

}  // namespace holdfast::gate
