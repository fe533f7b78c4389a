// SPDX-License-Identifier: Apache-2.0
// The families that step a computation: tendency, step, loop, and the parts of a tendency.
#include <utility>

#include "cubed_sphere_swe/oracles.hpp"
#include "cubed_sphere_swe/problem/exact_solution.hpp"
#include "cubed_sphere_swe/problem/golden.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "harness/measure/measure.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;

constexpr auto case_over_other = Derived::Form::case_over_other,
               other_over_case = Derived::Form::other_over_case;

// Stages of rk4_step, in its id; the default ones are omitted.
std::string stages_of_optimized(const Row& row) {
  std::string all;
  if (row.options.runge_kutta == RungeKutta::classical) all += "/classical";
  if (row.options.metric == MetricSource::on_the_fly) all += "/on_the_fly";
  return all;
}
std::string stages(const Row& row) {
  return stages_of_optimized(row) + (row.options.gemm == GemmSource::tile ? "/tile" : "");
}

std::vector<holdfast::Axis> component_axes(const Component& component) {
  if (component.kind == Kind::operator_apply)
    return {{"op", operator_words.of(component.op)}, {"dir", component.direction}};
  if (component.kind == Kind::gradient) return {{"comp", component.components == 1 ? "1" : "both"}};
  return {};
}

// The share of each part of the tendency in the program that computes them one after another: the
// ranking of what to fuse first.
std::vector<Derived> component_rank(const Row& row) {
  std::vector<Derived> shares;
  if (!row.ranks_components) return shares;
  for (const Kind kind :
       {Kind::project, Kind::gradient, Kind::contravariant, Kind::divergence, Kind::sat}) {
    Row part = as(families::component, row);
    part.component = {.kind = kind};
    shares.push_back(over(std::string(component_words.of(kind)) + "_share", part, other_over_case,
                          Variant::reference));
  }
  return shares;
}

std::vector<Derived> derived_of_step(const Row& row) {
  Row plain = row;
  std::vector<Derived> derived = {over("rhs_share", as(families::rhs, row), other_over_case)};
  derived.front().factor = 4;
  if (row.options.runge_kutta == RungeKutta::classical) {
    plain.options.runge_kutta = RungeKutta::horner;
    return {over("classical_over_horner", plain, case_over_other)};
  }
  if (row.options.metric == MetricSource::on_the_fly) {
    plain.options.metric = MetricSource::table;
    return {over("on_the_fly_over_table", plain, case_over_other)};
  }
  if (row.options.gemm == GemmSource::tile) {
    Row library = row;
    library.options.gemm = GemmSource::library;
    derived.push_back(over("tile_over_library", library, case_over_other, Variant::reference));
  }
  if (row.options.precision == Precision::f32) {
    plain.options.precision = Precision::f64;
    derived.push_back(over("f64_over_f32", plain, other_over_case));
  }
  return derived;
}

// A loop compared with as many steps launched by the host, and with itself without diagnostics.
std::vector<Derived> derived_of_loop(const Row& row) {
  Row step = as(families::rk4_step, row), plain = row;
  step.options.launch = Launch::host;
  step.options.diagnostics = plain.options.diagnostics = Diagnostics::none;
  if (row.options.diagnostics != Diagnostics::none) {
    Derived ratio = over("diag_ratio", plain, case_over_other);
    ratio.kind = "bound";
    return {ratio};
  }
  std::vector<Derived> derived = {over("loop_speedup", step, other_over_case)};
  if (row.options.launch == Launch::graph_step)
    derived.push_back(over("reference_loop_speedup", step, other_over_case, Variant::reference));
  for (Derived& each : derived) {
    each.factor = row.options.steps;
    each.kind = "bound";
    each.better = Better::higher;
  }
  return derived;
}

// The published program's time over ours: the minimum in its logs, for a step in f64 on an H100.
std::vector<Rate> beside_published(const Row& row) {
  constexpr std::pair<int, double> published_seconds[] = {
      {24, 0.33e-3}, {48, 0.53e-3}, {96, 0.60e-3}, {192, 0.85e-3}, {384, 2.12e-3}};
  const Options& o = row.options;
  const bool resident = o.launch == Launch::graph || o.launch == Launch::persistent;
  if (!resident || o.diagnostics != Diagnostics::none || o.precision != Precision::f64) return {};
  for (const auto& [n, seconds] : published_seconds)
    if (n == row.n) return {{.name = "vs_seed_loop", .per_step = seconds * o.steps}};
  return {};
}

// Loops that the host launches or reads back from in every step exist to show that cost.
std::vector<ExpectedFinding> expected_of_loop(const Row& row) {
  constexpr int many_steps = 100;  // from here on launches are many, four or five per step
  std::vector<ExpectedFinding> expected;
  if (row.options.launch == Launch::host && row.options.steps >= many_steps)
    expected.push_back({.finding = "many_launches",
                        .why = "it shows what launching each step costs; launch:graph does not"});
  if (row.options.diagnostics != Diagnostics::host) return expected;
  expected.push_back({.finding = "transfers_in_the_loop",
                      .why = "it shows what reading the mass back in every step costs; "
                             "diag:device is how to watch it"});
  expected.push_back(
      {.finding = "syncs_in_the_loop", .why = "the host waits for the mass that it reads back"});
  return expected;
}

// The share of a dense operator's entries that are zero.
double dense_waste(const Row& row) {
  const auto matrix = dense(row.component.op, row.n);
  double used = 0;
  for (const double entry : matrix) used += entry != 0;
  return 1 - used / static_cast<double>(matrix.size());
}

// With the reference, the host's one large grid takes too long.
Kinds too_slow(const Row& row) {
  const bool on_host = devices_of(row).front() == "host";
  return on_host && row.n >= large_n && !row.large ? Kinds{"host"} : Kinds{};
}

void rewrites(const Row& row, Steps& steps) {
  steps.rewritten = [=](const Backend& backend, Variant variant) {
    return rewritten(row, backend, variant);
  };
}

// Also reports the error of the heights against the exact ones, as the published logs do.
void loops(const Row& row, Steps& steps) {
  rewrites(row, steps);
  if (!starts_at_rest(row)) return;
  steps.read = [=](const Verified& found) -> std::vector<NamedReading> {
    if (found.result.empty()) return {};
    const double until = row.options.steps * time_step({row.n}, row.options);
    const Deviation error = deviation({row.n}, as_state({row.n}, found.result).h,
                                      exact_height({row.n}, row.options.start, until));
    return {{"exact_l2_error", error.l2}, {"exact_max_error", error.max}};
  };
}
std::vector<MetricDeclaration> metrics_of_loop(const Row& row) {
  std::vector<MetricDeclaration> all = {
      {.name = "mass_drift", .kind = "bound", .devices = executing}};
  if (!starts_at_rest(row)) return all;
  all.push_back({.name = "exact_l2_error", .devices = executing});
  all.push_back({.name = "exact_max_error", .devices = executing});
  return all;
}

// The formula speaks of the default form of the optimized step.
void estimated(const Row& row, Steps& steps) {
  rewrites(row, steps);
  if (!stages_of_optimized(row).empty()) return;
  steps.estimate_bytes = [=](const Backend& backend, Variant variant) {
    return formula_peak_bytes(backend, variant, {row.n}, row.options);
  };
}

// The second input is exactly twice the first.
void of_two_starts(const Row&, Steps& steps) {
  steps.inputs = 2;
  steps.oracle.other = [limit = steps.oracle, expected = steps.oracle.expected,
                        warm_up = steps.warm_up](std::vector<double> result, int) {
    for (double& value : result) value /= 2;
    return error_of(limit, result, expected(warm_up));
  };
}

// Penalties accumulate; all other parts start from one of two inputs.
void starts_of_part(const Row& row, Steps& steps) {
  rewrites(row, steps);
  if (row.component.kind != Kind::sat) of_two_starts(row, steps);
}

// A device's optimized projection works in place and is restarted from its input.
std::vector<std::string> rewritten_by_part(Kind kind, bool on_device, Variant variant) {
  const bool reference = variant == Variant::reference;
  const char* const between = reference && !on_device ? "work" : "intermediates";
  if (kind == Kind::sat)
    return reference || !on_device ? std::vector<std::string>{between} : std::vector<std::string>{};
  if (kind == Kind::project && on_device && !reference) return {};
  if (kind == Kind::contravariant && reference) return {"result", between};
  return {"result"};
}

}  // namespace

// On a host, rows of the optimized variant are read beyond their ends, against zeros that must
// stay: neither the stages of its steps nor any scratch is named.
std::vector<std::string> rewritten(const Row& row, const Backend& backend, Variant variant) {
  const bool on_device = backend.device != nullptr, tendency = row.family == &families::rhs;
  if (row.family == &families::component)
    return rewritten_by_part(row.component.kind, on_device, variant);
  std::vector<std::string> sites;
  if (variant == Variant::reference) {
    sites = on_device ? std::vector<std::string>{"intermediates", "stages"}
                      : std::vector<std::string>{"work", "tendency", "stages"};
  } else if (tendency) {
    sites = {"result"};
  } else if (on_device) {
    sites = {"stages"};
  }
  if (is_loop(row) && row.options.diagnostics != Diagnostics::none)
    sites.emplace_back(on_device ? "partial masses" : "diagnostics");
  return sites;
}

const Family<Row> families::rhs = {
    .id = [](const Row& row) { return named("rhs", row); },
    .devices = tendencies_and_steps,
    .unreferenced = too_slow,
    .make = [](const Row& row, Backend& backend,
               Variant variant) { return make_rhs(backend, variant, {row.n}, row.options); },
    .work = [](const Row& row) { return rhs_work({row.n}, row.options); },
    .oracle = [](const Row& row) { return oracle(row, golden_tendency); },
    .invariant = [](const Row&) { return repeats_itself_within(0); },
    .chained = never,
    .more =
        [](const Row& row, Steps& steps) {
          rewrites(row, steps);
          of_two_starts(row, steps);
        },
    .derived = component_rank};

// Seven steps: odd, and more than the depth of any pipeline that could hide a stale buffer.
const Family<Row> families::rk4_step = {
    .id = [](const Row& row) { return named("rk4_step" + stages(row), row); },
    .devices = tendencies_and_steps,
    // Other forms of the optimized variant are compared with its default form.
    .reference = [](const Row& row) { return stages_of_optimized(row).empty(); },
    .unreferenced = too_slow,
    .make = [](const Row& row, Backend& backend,
               Variant variant) { return make_rk4_step(backend, variant, {row.n}, row.options); },
    .work = [](const Row& row) { return rk4_step_work({row.n}, row.options); },
    .oracle = [](const Row& row) { return oracle(row, golden_step); },
    .invariant = conserves_mass_and_loses_energy,
    .warm_up = [](const Row& row) { return row.n < large_n ? 7 : 1; },
    .more = estimated,
    .derived = derived_of_step};

// The reference's loop is its rk4_step repeated, except for graph_step, which separates fewer
// launches from a better algorithm.
const Family<Row> families::loop = {
    .id =
        [](const Row& row) {
          return named("loop", row,
                       {{"steps", row.options.steps},
                        {"launch", launch_words.of(row.options.launch)},
                        {"diag", diagnostics_words.of(row.options.diagnostics)}});
        },
    .devices = small_grids,
    .reference = [](const Row& row) { return row.options.launch == Launch::graph_step; },
    .metrics = metrics_of_loop,
    .expected = expected_of_loop,
    .make = [](const Row& row, Backend& backend,
               Variant variant) { return make_loop(backend, variant, {row.n}, row.options); },
    .work = [](const Row& row) { return loop_work({row.n}, row.options); },
    .oracle = [](const Row& row) { return oracle(row, golden_ten_steps); },
    .invariant = conserves_mass_and_loses_energy,
    .more = loops,
    .derived = derived_of_loop,
    .rates = beside_published};

// Two penalties show that the second is added to the first.
const Family<Row> families::component = {
    .id =
        [](const Row& row) {
          return named(std::string(component_words.of(row.component.kind)), row,
                       component_axes(row.component));
        },
    .devices = small_grids,
    .metrics = [](const Row& row) -> std::vector<MetricDeclaration> {
      if (row.component.kind != Kind::operator_apply) return {};
      return {{.name = "dense_waste", .value = dense_waste(row)}};
    },
    .make =
        [](const Row& row, Backend& backend, Variant variant) {
          return make_component(backend, variant, {row.n}, row.component, row.options);
        },
    .work = [](const Row& row) { return component_work({row.n}, row.component, row.options); },
    .oracle =
        [](const Row& row) {
          return oracle(row, [part = row.component](const auto& result) {
            return golden_component(part, result);
          });
        },
    .invariant = invariant_of_component,
    .warm_up = [](const Row& row) { return row.component.kind == Kind::sat ? 2 : 1; },
    .chained = [](const Row& row) { return row.component.kind == Kind::sat; },
    .more = starts_of_part};

}  // namespace holdfast::cubed_sphere_swe
