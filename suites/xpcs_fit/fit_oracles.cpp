// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/fit_oracles.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/problem/fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

using Values = std::vector<double>;

// The known end of a fit, and its tolerances.
struct End {
  double allowed = 1e-4;                  // for parameters, in deviations
  double cost = 0, above = 0, below = 0;  // F, and its tolerances on either side
  double fewest = 0, most = 0;            // passes
  double sigma_allowed = 1e-3;            // for deviations, relative
  Values parameters = {}, sigma = {};
};

struct Published {
  NamedSize size;
  Mode mode;
  double cost, converged_cost;  // after 8 passes, and when converged
  int passes;                   // until it converges; 0: not published
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

End published_end(const Published& known, const Problem& problem, bool converges) {
  const oracle::Normal normal = oracle::normal_equations(problem, known.parameters);
  const double passes = converges ? known.passes : accounted_passes;
  return {.allowed = converges ? 2e-3 : 1e-4,
          .cost = converges ? known.converged_cost : known.cost,
          .fewest = passes,
          .most = passes,
          .parameters = known.parameters,
          .sigma = oracle::find_sigma(normal.matrix, normal.cost, freedom(problem))};
}

// The oracle's own fit to the points that were not lost: lost ones have no weight.
End solved_end(Problem problem, bool converges, const LostPoints& lost) {
  if (lost.count > 0) {
    const auto input = std::make_shared<Input>(*problem.input);
    input->weights.assign(input->data.size(), 1);
    std::fill_n(input->weights.begin() + lost.first, lost.count, 0.);
    problem.input = input;
    problem.options.weights = Weights::array;
  }
  const oracle::Fit fit = oracle::fit(problem, converges ? 0 : accounted_passes);
  End end = {.cost = fit.cost,
             .fewest = static_cast<double>(fit.passes),
             .most = static_cast<double>(fit.passes),
             .parameters = fit.parameters,
             .sigma = fit.sigma};
  const double all = freedom(problem), kept = all - static_cast<double>(lost.count);
  for (double& sigma : end.sigma) sigma *= std::sqrt(all / kept);
  return end;
}

// Up to size s: exact to rounding and, for a converging fit, to its stopping rule.
End exact_end(const Row& row, bool converges, const LostPoints& lost) {
  const Problem problem = problem_of(row, true);
  const Published* known = lost.count > 0 ? nullptr : published(row);
  if (known && converges && known->passes == 0) known = nullptr;
  End end =
      known ? published_end(*known, problem, converges) : solved_end(problem, converges, lost);
  const bool narrow = row.options.precision == Precision::f32;
  end.above = end.below = (narrow ? 1e-6 : 1e-9) * end.cost;
  if (narrow) {
    end.allowed = 1e-2;
  } else if (row.size == NamedSize::t) {
    // Derivatives rounded to f32 move parameters by 6e-6 deviations, and these by 2e-6 of
    // themselves; of as few points right fits differ by a thousandth of that.
    end.allowed = 3e-6;
    end.sigma_allowed = 1e-6;
  }
  return end;
}

// Means over points at the truth: of m^2, and of the products of derivatives, [p, p].
struct Means {
  double square = 0;
  Values products = {};
};

Means means_of(Row row, int frames) {
  row.angles = size_of(row).angles;
  row.frames = frames;
  const Problem problem = problem_of(row, true);
  const Values known = truth(row.options, row.angles);
  const auto n = static_cast<double>(problem.input->size.points());
  Means all = {.products = oracle::normal_equations(problem, known).matrix};
  for (double& product : all.products) product /= n;
  for (const double m : oracle::model(problem, known)) all.square += m * m / n;
  return all;
}

// The means of a size with too many points, from fewer frames over the same 100 s and angles. Rates
// have a root at time 0, so that sums over frames converge with the power 1.5 of their number: from
// size l to 4000 frames this leaves an error of 1e-4 of the square and 5 % of the deviations.
Means means_at(const Row& row) {
  constexpr int few = 100, more = 200;
  const auto power = [](double frames) { return std::pow(frames, -1.5); };
  const double far = (power(size_of(row).frames) - power(more)) / (power(few) - power(more));
  const Means less = means_of(row, few);
  Means all = means_of(row, more);
  all.square += far * (less.square - all.square);
  for (std::size_t k = 0; k < all.products.size(); ++k)
    all.products[k] += far * (less.products[k] - all.products[k]);
  return all;
}

// F of n points with noise v z is v^2 / 2 sum m^2 z^2. For sizes l and c it is summed at the truth,
// from where p parameters take away about p / 2 of 2 F / n: up to 31 pass, and a missing row does
// not. Beyond, its mean is known: z^2 varies by 1.7; six deviations pass, plus the error of the
// means.
void add_cost(const Row& row, double square, End& end) {
  const bool summed = row.size <= NamedSize::c;
  const Problem problem = problem_of(row, summed);
  if (summed) {
    end.cost = oracle::cost(problem, end.parameters);
    end.above = 2 * end.cost / freedom(problem);
    end.below = 31 * end.above;
    return;
  }
  const auto n = static_cast<double>(problem.input->size.points());
  const double noise = problem.input->noise;
  end.cost = noise * noise / 2 * square * n;
  end.above = end.below = end.cost * (6 * std::sqrt(1.75 / n) + 2e-4);
}

// Beyond size s: the truth, and the effect of its noise on F and on the parameters.
End noisy_end(const Row& row) {
  End end = {
      .allowed = 5, .sigma_allowed = 0.1, .parameters = truth(row.options, size_of(row).angles)};
  Means means = means_at(row);
  add_cost(row, means.square, end);
  const auto n = static_cast<double>(size_of(row).points());
  for (double& product : means.products) product *= n;
  end.sigma = oracle::find_sigma(means.products, end.cost, n);
  return end;
}
// A converging fit takes as many passes as are published for any noise.
End expected_end(const Row& row, bool converges) {
  static Known<std::string, End> known;
  const bool laminar = row.options.mode == Mode::laminar;
  End end = known.of(text(laminar, " ", size_words.of(row.size), " ", row.seed),
                     [&] { return noisy_end(row); });
  end.fewest = !converges ? accounted_passes : laminar ? 6 : 5;
  end.most = !converges ? accounted_passes : laminar ? 10 : 6;
  return end;
}

End end_of(Row row, bool converges, const LostPoints& lost) {
  row.source = DataSource::host;  // the oracle reads data that a device may generate itself
  if (row.size <= NamedSize::s) return exact_end(row, converges, lost);
  return expected_end(row, converges);
}

// In a row, for the harness: tolerances and known values, then parameters, then deviations.
Values in_a_row(const End& end) {
  Values all = {end.allowed, end.cost, end.above,        end.below,
                end.fewest,  end.most, end.sigma_allowed};
  all.insert(all.end(), end.parameters.begin(), end.parameters.end());
  all.insert(all.end(), end.sigma.begin(), end.sigma.end());
  return all;
}
End out_of_a_row(const Values& all) {
  const auto parameters = all.begin() + 7, sigma = parameters + (all.end() - parameters) / 2;
  return {.allowed = all[0],
          .cost = all[1],
          .above = all[2],
          .below = all[3],
          .fewest = all[4],
          .most = all[5],
          .sigma_allowed = all[6],
          .parameters = {parameters, sigma},
          .sigma = {sigma, all.end()}};
}

// The distance relative to the tolerances; a wrong number of passes is infinitely far.
double distance(const Values& result, const End& end) {
  const std::size_t p = end.parameters.size();
  if (result.size() != 3 + 2 * p) return INFINITY;
  if (!(result[1] >= end.fewest && result[1] <= end.most)) return INFINITY;
  const double over = result[0] - end.cost;
  double worst = larger(0, over / (over > 0 ? end.above : end.below));
  for (std::size_t k = 0; k < p; ++k) {
    const double sigma = end.sigma[k];
    worst = larger(worst, (result[3 + k] - end.parameters[k]) / sigma / end.allowed);
    worst = larger(worst, (result[3 + p + k] / sigma - 1) / end.sigma_allowed);
  }
  return worst;
}

}  // namespace

Oracle fit_oracle(Unit unit, const Row& row, const LostPoints& lost) {
  const bool exact = row.size <= NamedSize::s;
  const bool converges = unit == Unit::converged_fit;
  return {.name = exact ? "the plain solver, and published fits"
                        : "the truth within 5 deviations, and F of its noise",
          .limit = 1,
          .expected =
              [=](int) {
                static Known<std::string, Values> known;
                const Options& options = row.options;
                const std::string key =
                    text(static_cast<int>(options.mode), " ", static_cast<int>(options.precision),
                         " ", size_of(row).angles, " ", size_of(row).frames, " ", row.seed, " ",
                         converges, " ", lost.first, " ", lost.count);
                return known.of(key, [&] { return in_a_row(end_of(row, converges, lost)); });
              },
          .distance = [=](const Values& result, const Values& expected) -> double {
            // A fit that should converge but does not report it.
            if (converges && (result.size() < 3 || result[2] != converged)) return INFINITY;
            return distance(result, out_of_a_row(expected));
          }};
}

double pulls_apart(const Values& one, const Values& other) {
  if (one.size() < 3 || one.size() != other.size()) return INFINITY;
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
