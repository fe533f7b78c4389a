// SPDX-License-Identifier: Apache-2.0
// One variant of a Steps case, alive on a backend of its own, and what it costs by the ledger.
#pragma once

#include <memory>
#include <vector>

#include "harness/measure.hpp"

namespace holdfast {

struct Subject {
  Variant variant = Variant::optimized;
  std::unique_ptr<Backend> backend = {};
  std::unique_ptr<Computation> computation = {};  // destroyed before its backend
  VariantMeasurement measured = {};
  std::vector<double> warm_result = {};  // after warm-up, before the accounted steps
};

// Builds on a fresh backend, warms up, and accounts both that and one steady step. Throws
// Error{broken_rule} when a steady step allocates, compiles or plans without permission, or when
// its counts differ from step to step.
Subject account(const Steps& steps, Variant variant, const std::string& device);

// Steps accounted to prove that the state is steady.
inline constexpr int accounted_steps = 3;

}  // namespace holdfast
