// SPDX-License-Identifier: Apache-2.0
// The family newton_schulz: an update's orthogonalisation, isolated.
#include "gpt_train/newton_schulz.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "gpt_train/oracle/answers.hpp"
#include "gpt_train/oracle/oracle.hpp"
#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

using Values = std::vector<double>;

// Plain loops, also for singular values, would take minutes for larger ones.
constexpr int largest_known = 256;
bool is_known(const Row& row) {
  return row.matrices.least() <= largest_known;
}

double limit_of(const Matrices& what) {
  return what.precision == Precision::bf16 ? 3e-2 : 1e-3;
}
// Of 768 rows one that is wrong is 4 % of the norm, so rows and columns have a limit of their own.
constexpr double limit_of_lines = 0.1;
double off(const Matrices& what, const Values& found, const Values& expected) {
  const std::vector<std::size_t> fields(std::size_t(what.batch), std::size_t(what.each()));
  const double whole = oracle::distance(fields, found, expected);
  if (!std::isfinite(whole)) return whole;
  return std::max(
      whole, limit_of(what) / limit_of_lines * oracle::distance_of_lines(what, found, expected));
}

// Smaller matrices of the same form, which plain loops can answer.
Matrices small(const Matrices& what) {
  Matrices less = what;
  less.rows = std::max(8, what.rows / 16);
  less.columns = std::max(8, what.columns / 16);
  less.batch = 2;
  return less;
}
double off_small(const Matrices& what, Backend& backend, Variant variant) {
  const Matrices less = small(what);
  const auto computation = make_newton_schulz(backend, variant, less);
  computation->step();
  return off(less, computation->result(), oracle::answer(less));
}

Oracle known(const Row& row) {
  const Matrices what = row.matrices;
  Oracle known = {.name = "plain loops in f64", .limit = limit_of(what)};
  // Each variant may be as far from the right result, on opposite sides.
  known.between = [=](const Values& found, const Values& expected) {
    return off(what, found, expected) / 2;
  };
  if (is_known(row)) {
    known.expected = [=](int) {
      static Known<std::string, Values> answers;
      return answers.of(row.family->id(row), [&] { return oracle::answer(what); });
    };
    known.distance = [=](const Values& found, const Values& expected) {
      return off(what, found, expected);
    };
    return known;
  }
  // Five steps bring singular values of 0.01 to 1 to 0.68 .. 1.14, the few smaller ones below 1.21:
  // the norm over the root of their count, their root mean square, stays below 1.14.
  known.name = "plain loops in f64 at a sixteenth of the sides, and norms";
  known.expected = [](int) { return Values{}; };
  known.distance = [=](const Values& found, const Values&) -> double {
    if (std::ssize(found) != what.numbers()) return INFINITY;
    double worst = 0;
    for (std::int64_t first = 0; first < what.numbers(); first += what.each()) {
      const double size =
          oracle::norm(Values(found.begin() + first, found.begin() + first + what.each()));
      const double share = size / std::sqrt(double(what.least()));
      if (!(share > 0.6 && share < 1.14)) worst = INFINITY;
    }
    return worst;
  };
  known.golden = [=](Backend& backend, Variant variant) {
    return off_small(what, backend, variant);
  };
  return known;
}

// The smallest and the largest of all matrices' singular values.
std::vector<NamedReading> singular_values_of(const Matrices& what, const Values& found) {
  if (found.empty()) return {};
  double least = INFINITY, greatest = 0;
  for (std::int64_t first = 0; first < what.numbers(); first += what.each()) {
    const Values all =
        oracle::singular_values(Values(found.begin() + first, found.begin() + first + what.each()),
                                what.rows, what.columns);
    least = std::min(least, all.back());
    greatest = std::max(greatest, all.front());
  }
  return {{"least_singular_value", least}, {"greatest_singular_value", greatest}};
}

std::vector<MetricDeclaration> metrics_of(const Row& row) {
  std::vector<MetricDeclaration> all;
  if (is_for_device(row)) all.push_back({.name = "layout_bytes", .kind = "exact", .devices = gpu});
  if (!is_known(row)) return all;
  all.push_back({.name = "least_singular_value",
                 .kind = "bound",
                 .better = Better::same,
                 .devices = executing});
  all.push_back({.name = "greatest_singular_value",
                 .kind = "bound",
                 .better = Better::same,
                 .devices = executing});
  return all;
}

void told(const Row& row, Steps& steps) {
  const Matrices what = row.matrices;
  steps.estimate_bytes = [=](const Backend&, Variant variant) {
    return formula_peak_bytes(variant, what);
  };
  steps.rewritten = always({"result: matrices"});
  steps.inputs =
      2;  // the second one shows what norms do not: the variants are put beside each other
  steps.read = [=](const Verified& found) {
    if (is_for_device(row)) forbid_silent_moves(found);
    return is_known(row) ? singular_values_of(what, found.result) : std::vector<NamedReading>();
  };
}

}  // namespace

const Family<Row> families::newton_schulz = {
    .id =
        [](const Row& row) {
          const Matrices& what = row.matrices;
          return id("gpt_train/newton_schulz",
                    {{"rows", what.rows}, {"columns", what.columns}, {"batch", what.batch}},
                    name(what.precision));
        },
    .devices = kinds_of,
    .metrics = metrics_of,
    .make = [](const Row& row, Backend& backend,
               Variant variant) { return make_newton_schulz(backend, variant, row.matrices); },
    .work = [](const Row& row) { return work_of(row.matrices); },
    .oracle = known,
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never<Row>,
    .more = told};

}  // namespace holdfast::gpt_train
