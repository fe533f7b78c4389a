// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/oracles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "families/known.hpp"
#include "harness/measure/measure.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using Kind = Component::Kind;

// The row's computation in f64, with the host's default options.
Row plainest(Row row) {
  row.options = {.start = row.options.start,
                 .q12 = row.options.q12,
                 .dt = row.options.dt,
                 .steps = row.options.steps};
  return row;
}

// Computed once per process, because several cases use the same result.
const std::vector<double>& host_result(const Row& wanted, Variant variant, int steps) {
  Row row = plainest(wanted);
  if (is_loop(row)) {
    row.family = &families::rk4_step;
    steps *= row.options.steps;
  }
  static Known<std::string, std::vector<double>> known;
  const Options& options = row.options;
  const std::string key =
      text(row.family->id(row), " ", static_cast<int>(variant), " ", steps, " ",
           static_cast<int>(options.start), " ", static_cast<int>(options.q12), " ", options.dt);
  return known.of(key, [&] {
    const auto backend = open_backend("host");
    const auto computation = make(row, *backend, variant);
    for (int i = 0; i < steps; ++i) computation->step();
    return computation->result();
  });
}

// A hundred dense steps of a large grid take minutes, so the host's banded ones stand in; they are
// compared with the dense ones wherever both are affordable.
Variant who_knows(const Row& row) {
  const bool affordable = row.n < large_n || (row.n == large_n && !is_loop(row));
  return affordable || row.large ? Variant::reference : Variant::optimized;
}

// The number of steps, or loops, that take the dense computation of a small grid less than a
// second. In two loops the variants differed by a measured 6e-15, in f32 by 3e-6.
int cheap_steps(const Row& row) {
  constexpr int small_n = 48;
  if (row.n > small_n) return 0;
  return is_loop(row) ? 2 : 40;
}

std::string what_steps(const Row& row) {
  const int steps = warm_up(row) * (is_loop(row) ? row.options.steps : 1);
  return text(steps, steps == 1 ? " step" : " steps");
}

double rounding(Precision precision) {
  return precision == Precision::f32 ? 0x1p-23 : 0x1p-52;
}

// Every step adds the same penalty again: the total is a whole multiple of it, the same at each
// border point.
Invariant adds_whole_penalties(const Row& row) {
  return [=](const std::vector<double>& before,
             const std::vector<double>& after) -> std::optional<std::string> {
    const std::vector<double> once = host_result(row, Variant::reference, 1),
                              twice = host_result(row, Variant::reference, 2);
    std::vector<double> penalty(once.size());
    for (std::size_t i = 0; i < once.size(); ++i) penalty[i] = twice[i] - once[i];
    const auto at = static_cast<std::size_t>(
        std::max_element(penalty.begin(), penalty.end(),
                         [](double a, double b) { return std::abs(a) < std::abs(b); }) -
        penalty.begin());
    const double steps = std::round((after[at] - before[at]) / penalty[at]);
    double most = 0;
    for (std::size_t i = 0; i < penalty.size(); ++i)
      most = larger(most, after[i] - before[i] - steps * penalty[i]);
    // Each addition rounds relative to the sum so far.
    const double allowed =
        (warm_up(row) + steps) * rounding(row.options.precision) * largest(after);
    if (steps >= 1 && std::isfinite(most) && most <= allowed) return std::nullopt;
    return text("what ", steps, " steps added is no multiple of the penalty: off by ", most);
  };
}

bool has_golden(const Row& row) {
  const Options& options = row.options;
  return options.q12 == MetricSign::correct && !starts_at_rest(row) && options.dt == 0 &&
         !is_component(row, Kind::operator_apply);
}

// The error of the row's computation on the smallest grid.
double small_error(const Row& row, Backend& backend, Variant variant, const Golden& golden) {
  Row small = row;
  small.n = 8;
  small.options.steps = 10;
  const auto computation = make(small, backend, variant);
  computation->step();
  const std::vector<double> result = computation->result();
  if (!has_golden(row))
    return relative_error(result, host_result(small, Variant::reference, 1), fields(small));
  double worst = 0;
  for (const GoldenValue& value : golden(result)) {
    // std::max would drop a NaN.
    if (!std::isfinite(value.error())) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, value.error());
  }
  return worst;
}

}  // namespace

std::vector<std::size_t> fields(const Row& row) {
  const std::size_t h = height_count(row.n), v = velocity_count(row.n);
  if (row.family != &families::component) return {h, v, v};
  switch (row.component.kind) {
    case Kind::operator_apply:
      return {onto_vertices(row.component.op) ? h : v};
    case Kind::gradient:
      return row.component.components == 1 ? std::vector{v} : std::vector{v, v};
    case Kind::contravariant:
      return {v, v};
    case Kind::project:
    case Kind::divergence:
    case Kind::sat:
      return {h};
  }
  return {};
}

// After up to 100 steps from the discontinuous random state the two variants differed by a measured
// 3.6e-15 in f64, where a single f32 or TF32 product would show as 1e-7; in f32 by 1.1e-6, where a
// TF32 product shows as 1e-3.
double accuracy(Precision precision) {
  return precision == Precision::f32 ? 2e-5 : 1e-13;
}

// Rounding accumulates: in loops of 10^5 steps at n = 8 the variants differed by a measured 4e-13,
// in f32 by 2e-4. A smooth bump spreads, so that its amplitude shrinks while its rounding remains:
// after 1800 steps at n = 24 the variants differed by 4e-5 in f32. Its velocities come from
// differences of heights over 1/n, which round n times as coarsely as the heights: by 6e-5 in f32
// at n = 384, and 1e-13 in f64.
double accuracy(const Row& row) {
  constexpr double few_steps = 1000, coarse_n = 24, spread = 8;
  const double longer = is_loop(row) ? row.options.steps / few_steps : 0;
  const double smooth = starts_at_rest(row) ? std::max(spread, row.n / coarse_n) : 1;
  return accuracy(row.options.precision) * std::max(1., longer) * smooth;
}

std::string small_oracle(const Row& row) {
  return has_golden(row) ? "golden values at n = 8" : "dense computation on the host at n = 8";
}

Oracle oracle(const Row& row, const Golden& golden) {
  const Variant known_by = who_knows(row);
  return {.name = text(known_by == Variant::reference ? "dense" : "banded",
                       " computation on the host in f64 after ", what_steps(row), ", ",
                       small_oracle(row)),
          .limit = accuracy(row),
          .expected = [=](int steps) { return host_result(row, known_by, steps); },
          .most_steps = cheap_steps(row),
          .parts = fields(row),
          .golden = [=](Backend& backend,
                        Variant variant) { return small_error(row, backend, variant, golden); }};
}

Oracle oracle(const Row& row, std::vector<GoldenValue> (*golden)(const State&)) {
  return oracle(row,
                [=](const std::vector<double>& result) { return golden(as_state({8}, result)); });
}

bool loses_energy(const Row& row) {
  return !starts_at_rest(row) && time_step({row.n}, row.options) >= time_step({row.n}, {});
}

Invariant conserves_mass_and_loses_energy(const Row& row) {
  const Size size = {row.n};
  const MetricSign q12 = row.options.q12;
  const bool single = row.options.precision == Precision::f32, loses = loses_energy(row);
  const double allowed = single ? 1e-5 : 1e-12, growth = single ? 1e-4 : 1e-9;
  return [=](const std::vector<double>& before,
             const std::vector<double>& after) -> std::optional<std::string> {
    const State first = as_state(size, before), last = as_state(size, after);
    const double mass_before = mass(size, first.h), mass_after = mass(size, last.h);
    const double drift = std::abs(mass_after - mass_before) / largest(first.h);
    if (!(drift <= allowed)) return text("mass went from ", mass_before, " to ", mass_after);
    const double energy_before = energy(size, first, q12), energy_after = energy(size, last, q12);
    if (!loses) {
      if (before == after) return text("no value moved");
      if (energy_after > 0 && energy_after <= energy_before * (1 + growth)) return std::nullopt;
      return text("energy went from ", energy_before, " to ", energy_after, "; no step adds any");
    }
    if (!(energy_after > 0 && energy_after < energy_before * (1 - 1e-9)))
      return text("energy went from ", energy_before, " to ", energy_after,
                  "; it falls in every step that is made");
    return std::nullopt;
  };
}

Invariant invariant_of_component(const Row& row) {
  if (row.component.kind == Kind::sat) return adds_whole_penalties(row);
  return repeats_itself_within(
      row.component.kind == Kind::project ? 4 * rounding(row.options.precision) : 0);
}

}  // namespace holdfast::cubed_sphere_swe
