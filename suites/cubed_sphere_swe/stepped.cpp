// SPDX-License-Identifier: Apache-2.0
// The cases that step a computation: tendency, step, loop, and the parts of a tendency.
#include <utility>

#include "cubed_sphere_swe/oracles.hpp"
#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/row.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;

Work work(const Row& row) {
  const Size size = {row.n};
  switch (row.family) {
    case Family::rhs:
      return rhs_work(size, row.options);
    case Family::loop:
      return loop_work(size, row.options);
    case Family::component:
      return component_work(size, row.component, row.options);
    default:
      return rk4_step_work(size, row.options);
  }
}

// Seven steps are odd, and more than the depth of any pipeline that could hide a stale buffer. Two
// penalties show that the second is added to the first.
int warm_up(const Row& row) {
  if (row.family == Family::rk4_step) return row.n < large_n ? 7 : 1;
  return row.family == Family::component && row.component.kind == Kind::sat ? 2 : 1;
}

Derived over(std::string name, Row other, Derived::Form form = Derived::Form::case_over_other) {
  return {.name = std::move(name),
          .other = [=](Backend& backend) { return make(other, backend, Variant::optimized); },
          .form = form};
}

// What each part of the tendency costs in the program that makes them one after another: the
// ranking that says what to fuse first.
std::vector<Derived> component_rank(const Row& row) {
  std::vector<Derived> shares;
  for (const Kind kind :
       {Kind::project, Kind::gradient, Kind::contravariant, Kind::divergence, Kind::sat}) {
    Row part = row;
    part.family = Family::component;
    part.component = {.kind = kind};
    shares.push_back(
        {.name = std::string(component_words.of(kind)) + "_share",
         .other = [=](Backend& backend) { return make(part, backend, Variant::reference); },
         .against = Variant::reference});
  }
  return shares;
}

std::vector<Derived> derived_of_step(const Row& row) {
  Row tendency = row, plain = row;
  tendency.family = Family::rhs;
  std::vector<Derived> derived = {over("rhs_share", tendency, Derived::Form::other_over_case)};
  derived.front().factor = 4;
  if (row.options.runge_kutta == RungeKutta::classical) {
    plain.options.runge_kutta = RungeKutta::horner;
    return {over("classical_over_horner", plain)};
  }
  if (row.options.metric == MetricSource::on_the_fly) {
    plain.options.metric = MetricSource::table;
    return {over("on_the_fly_over_table", plain)};
  }
  if (row.options.precision == Precision::f32) {
    plain.options.precision = Precision::f64;
    derived.push_back(over("f64_over_f32", plain, Derived::Form::other_over_case));
  }
  return derived;
}

// A loop against as many steps that the host launches one by one, and against itself without
// diagnostics.
std::vector<Derived> derived_of_loop(const Row& row) {
  Row step = row, plain = row;
  step.family = Family::rk4_step;
  step.options.launch = Launch::host;
  step.options.diagnostics = plain.options.diagnostics = Diagnostics::none;
  if (row.options.diagnostics != Diagnostics::none) return {over("diag_ratio", plain)};
  std::vector<Derived> derived = {over("loop_speedup", step, Derived::Form::other_over_case)};
  if (row.options.launch == Launch::graph_step)
    derived.push_back(
        {.name = "reference_loop_speedup",
         .other = [=](Backend& backend) { return make(step, backend, Variant::reference); },
         .against = Variant::reference});
  for (Derived& each : derived) each.factor = row.options.steps;
  return derived;
}

std::vector<Derived> derived(const Row& row) {
  if (row.family == Family::rk4_step) return derived_of_step(row);
  if (row.family == Family::loop) return derived_of_loop(row);
  return row.ranks_components ? component_rank(row) : std::vector<Derived>{};
}

// The share of a dense operator's entries that are zero.
double dense_waste(const Row& row) {
  const auto matrix = dense(row.component.op, row.n);
  double used = 0;
  for (const double entry : matrix) used += entry != 0;
  return 1 - used / static_cast<double>(matrix.size());
}

std::vector<MetricDeclaration> metrics_of(const Row& row) {
  if (row.family == Family::loop) return {{.name = "mass_drift", .devices = {"host", "cuda"}}};
  if (row.family == Family::component && row.component.kind == Kind::operator_apply)
    return {{.name = "dense_waste", .value = dense_waste(row)}};
  return {};
}

// The formula speaks of the default form of a step.
bool has_formula(const Row& row) {
  return row.family == Family::rk4_step && row.options.runge_kutta == RungeKutta::horner &&
         row.options.metric == MetricSource::table;
}

}  // namespace

Case stepped(const Row& row) {
  Steps steps = {
      .make = [=](Backend& backend, Variant variant) { return make(row, backend, variant); },
      .oracle = oracle(row, warm_up(row)),
      .invariant = invariant(row, warm_up(row)),
      .warm_up = warm_up(row)};
  if (has_formula(row))
    steps.estimate_bytes = [=](const Backend& backend, Variant variant) {
      return formula_peak_bytes(backend, variant, {row.n}, row.options);
    };
  return {.id = id_of(row),
          .tier = row.tier,
          .devices = devices_of(row),
          .work = work(row),
          .recipe = std::move(steps),
          .reference = has_reference(row),
          .unreferenced = unreferenced(row),
          .counted = row.counted,
          .metrics = metrics_of(row),
          .derived = derived(row)};
}

}  // namespace holdfast::cubed_sphere_swe
