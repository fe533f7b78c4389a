// SPDX-License-Identifier: Apache-2.0
// Three cases of galaxy_shear whose optimized variant is made worse as HOLDFAST_PLANT says: one
// more launch or copy in each step, a missing graph, steps skipped once they are timed; and a
// separate build of its host kernel in which row H counts half.
#include <string>
#include <string_view>
#include <utility>

#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/oracles.hpp"
#include "galaxy_shear/row.hpp"
#include "planted/worse.hpp"

namespace holdfast {

namespace galaxy_shear::isa_planted {
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
}

namespace {

using namespace galaxy_shear;
using planted::plant;

std::unique_ptr<Computation> made(const Row& row, Backend& backend, Variant variant) {
  if (variant == Variant::reference || plant().empty()) return make(row, backend, variant);
  const Unit unit = unit_of(row);
  if (plant() == "nyquist" && !backend.device)
    return isa_planted::make_host_optimized(backend, problem_of(unit, row.options, true));
  Row other = row;
  if (plant() == "no_graph") other.options.launch = Launch::host;
  const auto small_table = [&] {
    return galaxy_shear::make(Unit::psf_table, backend, variant, {.fft = 16, .image = 8});
  };
  return std::make_unique<planted::Worse>(backend, make(other, backend, variant),
                                          planted::steps_of(small_table));
}

Case case_of(const Family<Row>& family, const Options& options) {
  const Row row = {.family = &family, .options = options};
  Case one = holdfast::case_of(row);
  one.id.replace(0, std::string_view("galaxy_shear").size(), "planted_galaxies");
  one.derived = {};
  auto& steps = std::get<Steps>(one.recipe);
  steps.make = [row](Backend& backend, Variant variant) { return made(row, backend, variant); };
  if (plant() != "nyquist") return one;
  // Row H vanishes in the benchmark, whose galaxy is central; on the small scene the plant shows.
  steps.oracle.golden = [row](Backend& backend, Variant variant) {
    return small_error(row, [&](Problem problem) {
      return variant == Variant::optimized && !backend.device
                 ? isa_planted::make_host_optimized(backend, std::move(problem))
                 : galaxy_shear::make(backend, variant, std::move(problem));
    });
  };
  return one;
}

std::vector<Case> cases(const SuiteOptions&) {
  return {case_of(families::render, {.steps = 1}), case_of(families::svi_step, {.steps = 1}),
          case_of(families::map, {.launch = Launch::graph})};
}

}  // namespace

Suite suite() {
  return {.name = "planted_galaxies", .cases = cases};
}

}  // namespace holdfast
