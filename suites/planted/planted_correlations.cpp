// SPDX-License-Identifier: Apache-2.0
// Three cases of xpcs_fit whose optimized variant is made worse as HOLDFAST_PLANT says: one more
// launch or copy in each step, a missing graph, steps skipped once they are timed; and a separate
// build of its host code in which one angle's phase is wrong.
#include <string>
#include <string_view>
#include <utility>

#include "planted/worse.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast {

namespace xpcs_fit::isa_planted {
std::unique_ptr<Computation> make_host_optimized(Unit unit, Backend& backend,
                                                 const Problem& problem);
}

namespace {

using namespace xpcs_fit;
using planted::plant;

std::unique_ptr<Computation> made(const Row& row, Unit unit, Backend& backend, Variant variant) {
  if (variant == Variant::reference || plant().empty()) return make(row, backend, variant);
  if (plant() == "phase" && !backend.device)
    return isa_planted::make_host_optimized(unit, backend, problem_of(row, true));
  Row other = row;
  if (plant() == "no_graph" && unit == Unit::fit) other.strategy = Strategy::chunked;
  const auto one_chunk = [&] {
    return make(Pattern::chunks, 1, backend, variant, problem_of(row, backend.executes()));
  };
  return std::make_unique<planted::Worse>(backend, make(other, backend, variant),
                                          planted::steps_of(one_chunk));
}

Case case_of(const Family<Row>& family, Unit unit) {
  const Row row = {.family = &family, .tier = Tier::gate};
  Case one = holdfast::case_of(row);
  one.id.replace(0, std::string_view("xpcs_fit").size(), "planted_correlations");
  one.derived = {};
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [=](Backend& backend, Variant variant) { return made(row, unit, backend, variant); };
  steps.oracle.golden = {};  // of another problem, without plants
  return one;
}

std::vector<Case> cases(const SuiteOptions&) {
  return {case_of(families::g2, Unit::g2),
          case_of(families::normal_equations, Unit::normal_equations),
          case_of(families::fit, Unit::fit)};
}

}  // namespace

Suite suite() {
  return {.name = "planted_correlations", .cases = cases};
}

}  // namespace holdfast
