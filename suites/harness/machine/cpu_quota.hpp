// SPDX-License-Identifier: Apache-2.0
// The CPU time that a container or a service allows this process.
#pragma once

#include <filesystem>
#include <optional>

namespace holdfast {

// In CPUs, from the control groups (cgroups(7), both versions) of this process below `root`; empty
// if none sets a limit. Beyond it the kernel stops all threads of a group until the next tenth of a
// second.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

}  // namespace holdfast
