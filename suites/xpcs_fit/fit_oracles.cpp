// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/fit_oracles.hpp"

#include <cmath>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/problem/fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

using Values = std::vector<double>;

// What is known of a fit, and how closely: F, passes (0: not), parameters, deviations.
struct End {
  double cost = 0, passes = 0;
  Values parameters = {}, sigma = {};
  double allowed = 1e-4;  // of parameters, in deviations
};

struct Published {
  NamedSize size;
  Mode mode;
  double cost, converged_cost;  // after 8 passes, and where it converges
  int passes;                   // until then; 0: not published
  Values parameters;            // after 8 passes
};

// Noise of 0.01, contrast and offset shared.
const Published* published(const Row& row) {
  static const Published table[] = {
      {NamedSize::s0,
       Mode::at_rest,
       5.31989981813548,
       0,
       0,
       {0.299788212188, 0.99999245125, 986.362914805, 0.502668132092, 70.3885437472}},
      {NamedSize::s0,
       Mode::laminar,
       5.09133586055332,
       0,
       0,
       {0.299598989051, 0.999991973379, 1027.46235831, 0.492903284558, 20.6458373825,
        0.000185495447121, 0.314084163564, 6.45595620605e-05, -5.97396922349}},
      {NamedSize::s,
       Mode::at_rest,
       47.8838676471581,
       47.88386764755197,
       5,
       {0.300123804571, 1.00000202689, 1002.1132639, 0.499570539785, 48.7407694823}},
      {NamedSize::s,
       Mode::laminar,
       45.8418218148776,
       45.84182181722163,
       6,
       {0.300097957291, 0.999994947892, 999.30057364, 0.499336687637, 63.0980727369,
        0.000204698192366, 0.296478151341, 4.36142435149e-05, -6.00610872311}}};
  for (const Published& one : table)
    if (one.size == row.size && one.mode == row.options.mode) return &one;
  return nullptr;
}

// Standard deviations of a minimum, by the oracle's normal equations there.
Values sigma_at(const Problem& problem, const Values& parameters) {
  const oracle::Normal normal = oracle::normal_equations(problem, parameters);
  const auto p = static_cast<int>(parameters.size());
  Values memory(static_cast<std::size_t>(fit_count(p)));
  const FitState fit = {memory.data(), p};
  fit.cost() = normal.cost;
  std::copy(normal.matrix.begin(), normal.matrix.end(), fit.matrix());
  const Values all = fit_result(fit, freedom(problem));
  return {all.end() - p, all.end()};
}

End end_of(Unit unit, Row row) {
  if (row.size > NamedSize::s)
    return {.parameters = truth(row.options, size_of(row).angles), .allowed = 5};
  row.source = DataSource::host;  // the oracle reads data that a device may make itself
  const Problem problem = problem_of(row, true);
  const bool converged = unit == Unit::converged_fit;
  if (const Published* known = published(row)) {
    return {.cost = converged ? known->converged_cost : known->cost,
            .passes = converged ? static_cast<double>(known->passes) : accounted_passes,
            .parameters = known->parameters,
            .sigma = sigma_at(problem, known->parameters),
            .allowed = converged ? 2e-3 : 1e-4};
  }
  const oracle::Fit fit = oracle::fit(problem, converged ? 0 : accounted_passes);
  return {.cost = fit.cost,
          .passes = static_cast<double>(fit.passes),
          .parameters = fit.parameters,
          .sigma = fit.sigma};
}

// In a row, for the harness: the limit, F, passes, parameters and, where they are known,
// deviations.
Values in_a_row(const End& end) {
  Values all = {end.allowed, end.cost, end.passes};
  all.insert(all.end(), end.parameters.begin(), end.parameters.end());
  all.insert(all.end(), end.sigma.begin(), end.sigma.end());
  return all;
}

// Of what is allowed: F by 1e-9, deviations by 1e-3, the number of passes exact.
double distance(std::size_t p, const Values& result, const Values& expected) {
  if (result.size() != 3 + 2 * p) return INFINITY;
  const bool knows_sigma = expected.size() == 3 + 2 * p;
  double worst = 0;
  if (expected[1] != 0) worst = larger(worst, (result[0] / expected[1] - 1) / 1e-9);
  if (expected[2] != 0 && result[1] != expected[2]) return INFINITY;
  for (std::size_t k = 0; k < p; ++k) {
    const double sigma = knows_sigma ? expected[3 + p + k] : result[3 + p + k];
    worst = larger(worst, (result[3 + k] - expected[3 + k]) / sigma / expected[0]);
    if (knows_sigma) worst = larger(worst, (result[3 + p + k] / sigma - 1) / 1e-2);
  }
  return worst;
}

}  // namespace

Oracle fit_oracle(Unit unit, const Row& row, std::optional<double> within) {
  const auto p = static_cast<std::size_t>(parameter_count(row.options, size_of(row).angles));
  const bool exact = row.size <= NamedSize::s;
  return {.name = exact ? "the plain solver, and published fits" : "the truth within 5 deviations",
          .limit = 1,
          .expected =
              [=](int) {
                static Known<std::string, Values> known;
                const std::string key =
                    text(row.family->id(row), " ", size_of(row).angles, " ", size_of(row).frames,
                         " ", row.seed, " ", static_cast<int>(unit), " ", within.value_or(0));
                return known.of(key, [&] {
                  End end = end_of(unit, row);
                  // Fewer points have another cost, other passes and other deviations.
                  if (within) end = {.parameters = end.parameters, .allowed = *within};
                  return in_a_row(end);
                });
              },
          .distance = [=](const Values& result,
                          const Values& expected) { return distance(p, result, expected); }};
}

double pulls_apart(const Values& one, const Values& other) {
  const std::size_t p = (one.size() - 3) / 2;
  double worst = 0;
  for (std::size_t k = 0; k < p; ++k)
    worst = larger(worst, (one[3 + k] - other[3 + k]) / other[3 + p + k]);
  return worst;
}

double largest_pull(const Row& row, const Values& result) {
  const Values known = truth(row.options, size_of(row).angles);
  double worst = 0;
  for (std::size_t k = 0; k < known.size(); ++k)
    worst = larger(worst, (result[3 + k] - known[k]) / result[3 + known.size() + k]);
  return worst;
}

}  // namespace holdfast::xpcs_fit
