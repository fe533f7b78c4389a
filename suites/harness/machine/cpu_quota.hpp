// SPDX-License-Identifier: Apache-2.0
// How much of its CPUs' time a container or a service lets this process have.
#pragma once

#include <filesystem>
#include <optional>

namespace holdfast {

// In CPUs, as the control groups (cgroups(7), both versions) that this process is in tell it below
// `root`; empty where none of them sets a limit. Beyond it the kernel stops all of a group's
// threads until the next tenth of a second.
std::optional<double> cpu_quota(const std::filesystem::path& root = "/");

}  // namespace holdfast
