// SPDX-License-Identifier: Apache-2.0
// The families that are stepped: parts of a fit, all at the start of the default box.
#include "families/invariants.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/oracles.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Each step writes its result anew; from size s on what depends on frames alone is small.
template <Unit unit>
void add_to(const Row& row, Steps& steps) {
  steps.rewritten = [](const Backend&, Variant) { return std::vector<std::string>{"result"}; };
  if (row.size >= NamedSize::s)
    steps.estimate_bytes = [=](const Backend& backend, Variant variant) {
      return estimate_bytes(unit, backend, variant, size_of(row), row.options);
    };
}

// What all of them share.
template <Unit unit>
constexpr Family<Row> stepped(Family<Row> family) {
  family.make = [](const Row& row, Backend& backend, Variant variant) {
    return make(unit, backend, variant, problem_of(row, backend.executes()));
  };
  family.work = [](const Row& row) { return work(unit, size_of(row), row.options); };
  family.oracle = [](const Row& row) {
    return is_fit(unit) ? fit_oracle(unit, row) : oracle_of(unit, row);
  };
  family.invariant = [](const Row&) { return repeats_itself(); };
  family.more = add_to<unit>;
  return family;
}

// Of fits the way they take, and how far from the truth they end.
std::vector<NamedReading> read_fit(const Row& row, const Verified& found) {
  if (!found.backend.executes()) return {};
  return {{"passes", found.result[1]}, {"pull_max", largest_pull(row, found.result)}};
}
std::vector<MetricDeclaration> fit_metrics(const Row&) {
  return {{.name = "passes", .kind = "exact", .better = Better::same, .devices = executing},
          {.name = "pull_max", .kind = "bound", .devices = executing}};
}

template <Unit unit>
constexpr Family<Row> fitted(Family<Row> family) {
  family = stepped<unit>(family);
  family.metrics = fit_metrics;
  family.more = [](const Row& row, Steps& steps) {
    add_to<unit>(row, steps);
    steps.read = [=](const Verified& found) { return read_fit(row, found); };
  };
  return family;
}

Kinds too_large(const Row& row) {
  return row.size > NamedSize::l ? Kinds{"host"} : Kinds{};
}
// A materialised Jacobian takes a host seconds from size s on, and gigabytes beyond.
Kinds too_slow(const Row& row) {
  return row.size > NamedSize::s0 ? Kinds{"host"} : Kinds{};
}
Kinds too_slow_eight_times(const Row& row) {
  return row.size > NamedSize::t ? Kinds{"host"} : Kinds{};
}
bool has_room(const Row& row) {
  return row.size <= NamedSize::l;
}

// How a fit is organised: all data on the device.
std::vector<Axis> strategy_axes() {
  return {{"strategy", "standard"}, {"source", "resident"}};
}

}  // namespace

const Family<Row> families::g2 = stepped<Unit::g2>(
    {.id = [](const Row& row) { return named("g2", row); }, .unreferenced = too_large});

const Family<Row> families::residual = stepped<Unit::residual>(
    {.id = [](const Row& row) { return named("residual", row); }, .unreferenced = too_large});

const Family<Row> families::normal_equations = stepped<Unit::normal_equations>(
    {.id =
         [](const Row& row) {
           return named("normal_eq", row,
                        {{"scaling", scaling_words.of(row.options.scaling)},
                         {"loss", loss_words.of(row.options.loss)},
                         {"weights", weights_words.of(row.options.weights)}});
         },
     .reference = has_room,
     .unreferenced = too_slow});

const Family<Row> families::fit =
    fitted<Unit::fit>({.id = [](const Row& row) { return named("fit", strategy_axes(), row); },
                       .reference = has_room,
                       .unreferenced = too_slow_eight_times});

// The host looks at each pass: what a dry device has not computed tells it nothing.
const Family<Row> families::converged = fitted<Unit::converged_fit>(
    {.id = [](const Row& row) { return named("fit/converged", strategy_axes(), row); },
     .devices = [](const Row&) { return executing; },
     .reference = has_room,
     .unreferenced = too_slow_eight_times});

}  // namespace holdfast::xpcs_fit
