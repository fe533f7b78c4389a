// SPDX-License-Identifier: Apache-2.0
// `holdfast doctor`: what this machine can do, and what to fix.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/machine.hpp"

namespace holdfast::gate {

enum class Health { ok, noisy, absent };

struct Finding {
  std::string subject;
  Health health = Health::ok;
  std::string detail;
  std::string fix = {};  // what to do, one line; empty where nothing is to be done
};

// The first of a GPU's device files that exists and that this user may not open.
std::optional<Finding> gpu_permission(const std::filesystem::path& devices,
                                      bool (*may_open)(const std::filesystem::path&));

// How many threads suites use, of all that this machine has.
Finding threads(const HostThreads& used, unsigned all);

// `average`, the load of the last minute, on so many CPUs, of which others have the part `others`
// now: an average still tells of what has ended, a suite that kept CPUs awake for one.
Finding load(std::optional<double> average, double others, int cpus);

// What a run on such a host is held against: "host-x86_64-v4-2t, for which baselines holds counts,
// and for AuthenticAMD-26-2 no times".
std::string accepted_of_host(const std::filesystem::path& baselines,
                             const std::string& device_class, const std::string& processor);

// A CTest resource specification (version 1.0): one slot for each GPU.
std::string ctest_resources(std::size_t gpus);

}  // namespace holdfast::gate
