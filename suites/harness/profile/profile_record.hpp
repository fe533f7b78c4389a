// SPDX-License-Identifier: Apache-2.0
// One variant of a Steps case, built, warmed up, checked, and recorded while it steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/profile/profile_data.hpp"

namespace holdfast {

// Which steps after the warm-up are recorded: `windows` windows of `steps` consecutive ones. With
// `every`, a window begins at each multiple of it, and steps between windows are not recorded.
struct ProfilePlan {
  int steps = 10;
  int every = 0;
  int windows = 1;
};

// The recorded data point into the backend, which is therefore kept.
struct ProfiledSubject {
  std::unique_ptr<Backend> backend = {};
  std::unique_ptr<Computation> computation = {};  // destroyed before its backend
  Profiled data = {};
};

// The result that the oracle names after the warm-up; empty on a device that does not execute.
std::optional<std::vector<double>> expected_result(const Steps& steps, const std::string& device);

// Throws Error{broken_rule} if a steady step allocates, compiles, plans or captures a graph without
// permission, or if a result is not `expected` or breaks the case's invariant: wrong computations
// are not profiled.
ProfiledSubject record(const std::string& suite, const Case& one, Variant variant,
                       const std::string& device, const ProfilePlan& plan,
                       const std::optional<std::vector<double>>& expected);

}  // namespace holdfast
