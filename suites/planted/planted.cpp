// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case.hpp"
#include "planted/planted_workload.hpp"

namespace holdfast {
namespace {

constexpr int n = 2001;

Steps smooth() {
  return {.make = [](Backend& backend,
                     Variant variant) { return planted::make_smooth(backend, variant, n); },
          .oracle = {.name = "the stencil, written once more",
                     .limit = 1e-14,
                     .expected = [](int steps) { return planted::smooth_expected(n, steps); }},
          .warm_up = 3};
}

Steps once() {
  Steps steps = smooth();
  steps.make = [](Backend& backend, Variant variant) {
    return planted::make_once(backend, variant, n);
  };
  steps.oracle.expected = [](int) { return planted::smooth_expected(n, 1); };
  steps.warm_up = 1;
  steps.chained = false;
  steps.inputs = 2;
  return steps;
}

Steps loop() {
  Steps steps = smooth();
  steps.make = [](Backend& backend, Variant variant) {
    return planted::make_loop(backend, variant, n);
  };
  steps.oracle.expected = [](int count) {
    return planted::smooth_expected(n, count * planted::loop_steps);
  };
  steps.warm_up = 1;
  return steps;
}

std::vector<Case> cases(const SuiteOptions&) {
  const auto named = [](const char* family, Tier tier, std::vector<std::string> devices,
                        Steps steps) {
    return Case{.id = id(family, {{"n", n}}, "f64"),
                .tier = tier,
                .devices = std::move(devices),
                .work = planted::smooth_work(n),
                .recipe = std::move(steps)};
  };
  return {named("planted/smooth", Tier::smoke, {"host", "cuda-dry"}, smooth()),
          named("planted/once", Tier::full, {"host"}, once()),
          named("planted/loop", Tier::gate, {"cuda-dry"}, loop())};
}

}  // namespace

Suite suite() {
  return {.name = "planted", .cases = cases};
}

}  // namespace holdfast
