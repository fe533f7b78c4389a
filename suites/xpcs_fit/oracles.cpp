// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/oracles.hpp"

#include <cmath>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/oracle/golden.hpp"
#include "xpcs_fit/problem/starts.hpp"

namespace holdfast::xpcs_fit {
namespace {

using Values = std::vector<double>;

Values exact(Unit unit, const Problem& problem, int input) {
  const Values start = start_of(problem, input);
  if (unit == Unit::g2) return oracle::model(problem, start);
  if (unit == Unit::normal_equations)
    return oracle::in_a_row(oracle::normal_equations(problem, start));
  Values all = oracle::residual(problem, start);
  all.insert(all.begin(), oracle::cost(problem, start));
  return all;
}

// F relative to itself, every value absolute, because a model is about 1.
double residual_distance(const Values& result, const Values& expected) {
  if (result.size() != expected.size()) return INFINITY;
  double worst = larger(0, result.front() / expected.front() - 1);
  for (std::size_t k = 1; k < result.size(); ++k) worst = larger(worst, result[k] - expected[k]);
  return worst;
}

// The error is 2e-12 for a model in f64 and 1e-11 for sums; 5e-6 in f32, and its effect on a cost.
double limit(Unit unit, Precision precision) {
  if (precision == Precision::f32) return unit == Unit::g2 ? 5e-6 : 5e-5;
  return unit == Unit::normal_equations ? 1e-11 : 2e-12;
}

// The published problem of 3 angles and 8 frames.
double golden_error(Unit unit, const Options& options, Backend& backend, Variant variant) {
  const Recipe recipe = {.size = {3, 8}, .physics = {.dt = 1}};
  const auto computation = make(unit, backend, variant, {make_input(recipe, options), options});
  computation->step();
  const Values result = computation->result();
  if (unit == Unit::g2) return larger(0, result[2 * 64 + 2 * 8 + 5] / golden::m_2_2_5 - 1);
  double worst = larger(0, result[0] / golden::cost - 1);
  for (std::size_t k = 0; unit == Unit::normal_equations && k < 9; ++k) {
    const double size = std::sqrt(2 * golden::cost * golden::diagonal[k]);
    worst = larger(worst, (result[1 + k] - golden::gradient[k]) / size);
    worst = larger(worst, result[10 + 10 * k] / golden::diagonal[k] - 1);
  }
  return worst;
}

const Values& known_of(Unit unit, const Row& row, int input) {
  static Known<std::string, Values> known;
  return known.of(text(row.family->id(row), " ", size_of(row).angles, " ", size_of(row).frames, " ",
                       row.seed, " ", input),
                  [&] { return exact(unit, problem_of(row, true), input); });
}

bool has_golden(const Options& options) {
  return options.mode == Mode::laminar && options.scaling == Scaling::shared &&
         options.loss == Loss::linear && options.weights == Weights::unit;
}

}  // namespace

Oracle oracle_of(Unit unit, const Row& row) {
  Oracle oracle = {.name = "the plain formulation, point by point",
                   .limit = limit(unit, row.options.precision),
                   .expected = [=](int) { return known_of(unit, row, 0); },
                   .distance = unit == Unit::normal_equations
                                   ? Oracle::Distance(oracle::distance)
                                   : Oracle::Distance(residual_distance)};
  // Each may be as far from the truth, on opposite sides.
  oracle.between = [distance = oracle.distance](const Values& ours, const Values& theirs) {
    return distance(ours, theirs) / 2;
  };
  // For larger ones, without a reference beside, the oracle would take too long.
  if (row.size <= NamedSize::s0)
    oracle.other = [=, distance = oracle.distance](const Values& result, int input) {
      return distance(result, known_of(unit, row, input));
    };
  if (has_golden(row.options)) {
    oracle.name += ", and published values";
    oracle.golden = [=](Backend& backend, Variant variant) {
      return golden_error(unit, row.options, backend, variant);
    };
  }
  return oracle;
}

}  // namespace holdfast::xpcs_fit
