// SPDX-License-Identifier: Apache-2.0
// For the tests: results on a host, on the emulated and on the dry device, the difference of two
// states, and expectations of golden values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/golden.hpp"
#include "cubed_sphere_swe/testing/kernels_on_cpu.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/base/error.hpp"
#include "testing/differences.hpp"
#include "testing/dry_run.hpp"
#include "testing/results.hpp"

namespace holdfast::cubed_sphere_swe {

// The state or tendency after `calls` of step().
inline State state_after(std::unique_ptr<Computation> computation, Size size, int calls = 1) {
  return as_state(size, result_of(*computation, calls));
}

// Largest difference relative to the expected field's largest magnitude; infinite if a value is NaN
// or lengths differ.
inline double difference(std::span<const double> values, std::span<const double> expected) {
  const double apart = largest_difference(values, expected);
  return std::isfinite(apart) ? apart / largest(expected) : apart;
}
inline double difference(const State& a, const State& b) {
  return std::max({difference(a.h, b.h), difference(a.v1, b.v1), difference(a.v2, b.v2)});
}

inline void expect_golden(const GoldenValue& value) {
  EXPECT_NEAR(value.value, value.golden, 1e-13 * value.scale) << value.what;
}
inline void expect_golden(const char* what, double value, double golden,
                          std::span<const double> field) {
  expect_golden(golden_value(what, value, golden, field));
}
inline void expect_golden(const std::vector<GoldenValue>& values) {
  for (const GoldenValue& value : values) expect_golden(value);
}

// Problems of the device variants, and their results.

inline constexpr Variant variants[] = {Variant::reference, Variant::optimized};
inline std::string name(Variant variant) {
  return variant == Variant::reference ? "reference" : "optimized";
}

// How a device loops over its steps.
inline std::vector<Launch> launches_of(Variant variant) {
  std::vector<Launch> all = {Launch::host, Launch::graph_step, Launch::graph};
  if (variant == Variant::optimized) all.push_back(Launch::persistent);
  return all;
}

inline Problem random_problem(Unit unit, int n) {
  return {.unit = unit, .n = n, .dt = 1. / (3 * n), .start = initial_state({n}, Start::random)};
}

inline std::unique_ptr<Computation> make(Backend& backend, Variant variant, Problem problem) {
  return variant == Variant::reference ? make_cuda_reference(backend, std::move(problem))
                                       : make_cuda_optimized(backend, std::move(problem));
}

// result() after `calls` steps on a fresh emulated device.
inline std::vector<double> after(int calls, Variant variant, const Problem& problem,
                                 Emulation emulation = {}) {
  const auto backend = emulated(variant, emulation);
  return result_of(*make(*backend, variant, problem), calls);
}

struct DryRun : holdfast::DryRun {
  DryRun(int sm, Variant variant, const Problem& problem)
      : holdfast::DryRun(sm, [&](Backend& on) { return make(on, variant, problem); }) {}
};

}  // namespace holdfast::cubed_sphere_swe
