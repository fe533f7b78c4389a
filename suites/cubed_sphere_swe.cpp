// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/cubed_sphere_swe: one tendency, one RK4 step, and a loop of steps.
#include "cubed_sphere_swe/cubed_sphere_swe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "cubed_sphere_swe/diagnostics.hpp"
#include "cubed_sphere_swe/golden.hpp"
#include "cubed_sphere_swe/sphere.hpp"
#include "harness/case.hpp"
#include "runtime/error.hpp"

namespace holdfast {
namespace {

using namespace cubed_sphere_swe;

using Make = decltype(&make_rk4_step);

// Relative to each field's largest magnitude after up to 100 steps from the discontinuous random
// state; the algebra of the two variants was measured to differ by 3.6e-15. A single f32 or TF32
// product inside would show as 1e-7.
constexpr double accuracy = 1e-13;

std::vector<std::size_t> fields(Size size) {
  return {height_count(size.n), velocity_count(size.n), velocity_count(size.n)};
}

// The golden values of kernels/cubed_sphere_swe beside a state at n = 8.
using Golden = decltype(&golden_step);

std::function<double(Backend&, Variant)> golden_of(Make make, Options options, Golden golden,
                                                   int steps) {
  return [=](Backend& backend, Variant variant) {
    const auto computation = make(backend, variant, {8}, options, {});
    for (int i = 0; i < steps; ++i) computation->step();
    double worst = 0;
    for (const GoldenValue& value : golden(as_state({8}, computation->result()))) {
      // std::max would drop what is not a number.
      if (!std::isfinite(value.error())) return std::numeric_limits<double>::infinity();
      worst = std::max(worst, value.error());
    }
    return worst;
  };
}

// The dense reference on the host, whatever is measured: independent of the banded algebra and of
// every GPU.
std::function<std::vector<double>(int)> dense_reference(Make make, Size size, Options options) {
  options.launch = Launch::host;
  return [=](int steps) {
    const auto backend = open_backend("host");
    const auto computation = make(*backend, Variant::reference, size, options, {});
    for (int i = 0; i < steps; ++i) computation->step();
    return computation->result();
  };
}

// Mass is conserved to rounding and RK4 dissipates a rough state's energy in each step, so that an
// idle step, a lost border or a second forcing all show.
Invariant conserves_mass_and_loses_energy(Size size) {
  return [=](const std::vector<double>& before,
             const std::vector<double>& after) -> std::optional<std::string> {
    const State first = as_state(size, before), last = as_state(size, after);
    const double mass_before = mass(size, first.h), mass_after = mass(size, last.h);
    const double drift = std::abs(mass_after - mass_before) / largest(first.h);
    if (!(drift <= 1e-12)) return text("mass went from ", mass_before, " to ", mass_after);
    const double energy_before = energy(size, first), energy_after = energy(size, last);
    if (!(energy_after > 0 && energy_after < energy_before * (1 - 1e-9)))
      return text("energy went from ", energy_before, " to ", energy_after,
                  "; it falls in every step that is made");
    return std::nullopt;
  };
}

// A tendency of the unchanged start is the same every time.
Invariant repeats_itself(Size size) {
  return [=](const std::vector<double>& before,
             const std::vector<double>& after) -> std::optional<std::string> {
    const State first = as_state(size, before), last = as_state(size, after);
    if (first.h == last.h && first.v1 == last.v1 && first.v2 == last.v2) return std::nullopt;
    return "the tendency of one state is not the same twice";
  };
}

std::function<std::int64_t(const Backend&, Variant)> peak_by_formula(Size size) {
  return [=](const Backend& backend, Variant variant) {
    return formula_peak_bytes(backend, variant, size);
  };
}

Steps steps(Make make, Size size, Options options, Golden golden, int golden_steps, int warm_up) {
  return {
      .make = [=](Backend& backend,
                  Variant variant) { return make(backend, variant, size, options, {}); },
      .oracle = {.name = text("dense host reference after ",
                              warm_up * (make == &make_loop ? options.steps : 1),
                              " steps, golden values at n = 8"),
                 .limit = accuracy,
                 .expected = dense_reference(make, size, options),
                 .parts = fields(size),
                 .golden = golden_of(
                     make,
                     [&] {
                       Options small = options;
                       small.steps = 10;
                       return small;
                     }(),
                     golden, golden_steps)},
      .invariant = make == &make_rhs ? repeats_itself(size) : conserves_mass_and_loses_energy(size),
      .estimate_bytes = make == &make_rk4_step ? peak_by_formula(size) : nullptr,
      .warm_up = warm_up};
}

Case rhs(Size size, Tier tier) {
  return {.id = id("cubed_sphere_swe/rhs", {{"n", size.n}}, "f64"),
          .tier = tier,
          .work = rhs_work(size),
          .recipe = steps(&make_rhs, size, {}, &golden_tendency, 1, 1)};
}

// Seven steps: odd, and more than the depth of any pipeline that could hide a stale buffer.
Case rk4_step(Size size, Tier tier) {
  return {.id = id("cubed_sphere_swe/rk4_step", {{"n", size.n}}, "f64"),
          .tier = tier,
          .work = rk4_step_work(size),
          .recipe = steps(&make_rk4_step, size, {}, &golden_step, 1, 7),
          .derived = {{.name = "rhs_share", .factor = 4, .other = [=](Backend& backend) {
                         return make_rhs(backend, Variant::optimized, size, {}, {});
                       }}}};
}

// No reference: a loop of the reference is its rk4_step, over and over.
Case loop(Size size, Tier tier, int count, Launch launch) {
  const Options options = {.launch = launch, .steps = count};
  const bool graph = launch == Launch::graph;
  return {
      .id = id(
          "cubed_sphere_swe/loop",
          {{"n", size.n}, {"steps", count}, {"launch", graph ? "graph" : "host"}, {"diag", "none"}},
          "f64"),
      .tier = tier,
      .devices = graph ? std::vector<std::string>{"cuda", "cuda-dry"}
                       : std::vector<std::string>{"host", "cuda", "cuda-dry"},
      .work = loop_work(size, options),
      .recipe = steps(&make_loop, size, options, &golden_ten_steps, 1, 1),
      .reference = false,
      .derived = {{.name = "loop_speedup",
                   .factor = static_cast<double>(count),
                   .other = [=](Backend& backend) {
                     return make_rk4_step(backend, Variant::optimized, size, {}, {});
                   }}}};
}

std::vector<Case> cases(const SuiteOptions& options) {
  struct Row {
    int n;
    Tier tier;
  };
  std::vector<Row> rows = {{24, Tier::smoke}, {48, Tier::gate}, {96, Tier::gate}};
  if (const auto size = options.integer("size")) rows = {{*size, Tier::smoke}};
  const int count = options.integer("steps").value_or(100);
  if (count < 1)
    throw Error(Fault::bad_input,
                text("--steps=", count, ": a loop that is measured has at least one step"));

  std::vector<Case> all;
  for (const auto& [n, tier] : rows) {
    const Size size = {n};
    validate(size, {.steps = count});
    all.push_back(rhs(size, tier));
    all.push_back(rk4_step(size, tier));
    for (const Launch launch : {Launch::host, Launch::graph})
      all.push_back(loop(size, tier, count, launch));
  }
  return all;
}

}  // namespace

Suite suite() {
  return {
      .name = "cubed_sphere_swe",
      .options = {{"size", "N",
                   "one grid of N cells along a panel's edge, 8 to 8192, instead of 24, 48 and 96"},
                  {"steps", "K", "RK4 steps of a loop (100)"}},
      .cases = cases};
}

}  // namespace holdfast
