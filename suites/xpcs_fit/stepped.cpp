// SPDX-License-Identifier: Apache-2.0
// The stepped families: parts of a fit, all at the start of the default box.
#include "families/invariants.hpp"
#include "xpcs_fit/oracles.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The sites that a step rewrites: the result; in the optimized variant also integrals over frames
// and partial sums, and on a host the values that pairs of frames share.
template <Unit unit>
std::vector<std::string> written_anew(const Backend& backend, Variant variant) {
  std::vector<std::string> sites = {"result"};
  if (variant == Variant::reference) return sites;
  sites.emplace_back("frames");
  if (unit != Unit::g2) sites.emplace_back("partial sums");
  if (unit != Unit::normal_equations && !backend.device) sites.emplace_back("pairs");
  return sites;
}

// Each step rewrites its result, at one of two starts; from size s on the arrays per frame are
// negligible.
template <Unit unit>
void add_to(const Row& row, Steps& steps) {
  steps.rewritten = written_anew<unit>;
  steps.inputs = 2;
  if (row.size >= NamedSize::s)
    steps.estimate_bytes = [=](const Backend& backend, Variant variant) {
      return estimate_bytes(unit, backend, variant, size_of(row), row.options);
    };
}

// The members that all of these families share.
template <Unit unit>
constexpr Family<Row> stepped(Family<Row> family) {
  family.make = [](const Row& row, Backend& backend, Variant variant) {
    return make(unit, backend, variant, problem_of(row, backend.executes()));
  };
  family.work = [](const Row& row) { return work(unit, size_of(row), row.options); };
  family.oracle = [](const Row& row) { return oracle_of(unit, row); };
  family.invariant = [](const Row&) { return repeats_itself(); };
  family.chained = never;
  family.more = add_to<unit>;
  return family;
}

Kinds too_large(const Row& row) {
  return row.size > NamedSize::l ? Kinds{"host"} : Kinds{};
}
// A stored Jacobian takes a host seconds from size s on, and gigabytes beyond.
Kinds too_slow(const Row& row) {
  return row.size > NamedSize::s0 ? Kinds{"host"} : Kinds{};
}
// The published ratios are for size s.
std::vector<Derived> beside_its_host(const Row& row) {
  if (row.size != NamedSize::s || row.options.precision != Precision::f64) return {};
  return over_host(row, {Variant::optimized, Variant::reference});
}
std::vector<holdfast::Rate> points_a_second(const Row& row) {
  return {{.name = "points_per_s", .per_step = static_cast<double>(points_of(row))}};
}
bool has_room(const Row& row) {
  return row.size <= NamedSize::l;
}

}  // namespace

const Family<Row> families::g2 =
    stepped<Unit::g2>({.id = [](const Row& row) { return named("g2", row); },
                       .unreferenced = too_large,
                       .derived = beside_its_host,
                       .rates = points_a_second});

const Family<Row> families::residual =
    stepped<Unit::residual>({.id = [](const Row& row) { return named("residual", row); },
                             .unreferenced = too_large,
                             .derived = beside_its_host,
                             .rates = points_a_second});

const Family<Row> families::normal_equations = stepped<Unit::normal_equations>(
    {.id =
         [](const Row& row) {
           return named("normal_eq", row, {},
                        {{"scaling", scaling_words.of(row.options.scaling)},
                         {"loss", loss_words.of(row.options.loss)},
                         {"weights", weights_words.of(row.options.weights)}});
         },
     .reference = has_room,
     .unreferenced = too_slow});

}  // namespace holdfast::xpcs_fit
