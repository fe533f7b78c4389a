// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/heat: a step on three grids.
#include "families/family.hpp"
#include "heat/heat.hpp"

namespace holdfast {
namespace {

struct Row {
  const Family<Row>* family = nullptr;
  int n = 64;
  Tier tier = Tier::gate;
  Kinds only = {};
  bool counted = false;
};

const Family<Row> step = {
    .id = [](const Row& row) { return id("heat/step", {Axis("n", row.n)}, "f64"); },
    .make = [](const Row& row, Backend& backend,
               Variant variant) { return heat::make_step(backend, variant, {row.n}); },
    .work = [](const Row& row) { return heat::step_work({row.n}); },
    .oracle =
        [](const Row& row) {
          const auto expected = [=](int steps) { return heat::exact({row.n}, steps); };
          return Oracle{.name = "growth factor of the mode", .limit = 1e-14, .expected = expected};
        },
    // Heat evens out, so that a step that did nothing shows.
    .invariant = [](const Row&) -> Invariant {
      return [](const auto& before, const auto& after) -> std::optional<std::string> {
        if (std::ranges::max(after) < std::ranges::max(before)) return std::nullopt;
        return "the hottest point did not cool";
      };
    }};

std::vector<Case> cases(const SuiteOptions&) {
  return cases_of<Row>({{.family = &step, .n = 64, .tier = Tier::smoke, .counted = true},
                        {.family = &step, .n = 256, .tier = Tier::gate},
                        {.family = &step, .n = 2048, .tier = Tier::full}});
}

}  // namespace

Suite suite() {
  return {.name = "heat", .cases = cases};
}

}  // namespace holdfast
