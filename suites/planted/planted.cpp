// SPDX-License-Identifier: Apache-2.0
#include "harness/case/case.hpp"
#include "planted/planted_workload.hpp"

namespace holdfast {
namespace {

std::vector<Case> cases(const SuiteOptions&) {
  constexpr int n = 2001;
  return {{.id = id("planted/smooth", {{"n", n}}, "f64"),
           .tier = Tier::smoke,
           .devices = {"host", "cuda-dry"},
           .work = planted::smooth_work(n),
           .recipe = Steps{
               .make = [](Backend& backend,
                          Variant variant) { return planted::make_smooth(backend, variant, n); },
               .oracle = {.name = "the stencil, written once more",
                          .limit = 1e-14,
                          .expected = [](int steps) { return planted::smooth_expected(n, steps); }},
               .warm_up = 3}}};
}

}  // namespace

Suite suite() {
  return {.name = "planted", .cases = cases};
}

}  // namespace holdfast
