// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/oracles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "families/invariants.hpp"
#include "families/known.hpp"
#include "harness/measure/known_answers.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr int samples = 4096;  // entries of out that are recomputed
constexpr std::int64_t consumed_rows = 16;
constexpr std::int64_t few_places = 16;  // for as many rows, in short-lived processes

// Whole columns as well, whose means depend on every row; given as fractions of the last place.
constexpr double columns[] = {0.5, 0, 0.25, 1};

// A single one for large inputs, where a column costs as much as all samples, and for whole long
// recordings a minute and more.
std::span<const double> columns_of(const Row& row) {
  constexpr std::int64_t many_pairs = 1'000'000;
  return std::span(columns).first(shape(row.recipe).pairs() < many_pairs ? std::size(columns) : 1);
}

std::int64_t column(const Input& input, double fraction) {
  return static_cast<std::int64_t>(fraction * static_cast<double>(input.bins() - 1));
}

std::vector<Entry> column_entries(const Row& row, const Input& input) {
  std::vector<Entry> entries;
  for (const double fraction : columns_of(row))
    for (std::int64_t t = 0; t < input.rows(); ++t) entries.push_back({t, column(input, fraction)});
  return entries;
}

// Evenly spaced rows including the last, with all their places; repeats some if there are fewer
// rows.
std::int64_t consumed_row(const Input& input, std::int64_t i) {
  return std::max<std::int64_t>((i + 1) * input.rows() / consumed_rows - 1, 0);
}
std::vector<Entry> consumed_entries(const Input& input) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < consumed_rows; ++i)
    for (std::int64_t p = 0; p < input.bins(); ++p) entries.push_back({consumed_row(input, i), p});
  return entries;
}

// The checked entries of a decode: random ones first, then whole columns.
std::vector<Entry> known_entries(const Row& row, const Input& input) {
  std::vector<Entry> entries = sampled_entries(input, row.recipe.seed, samples);
  const auto whole = column_entries(row, input);
  entries.insert(entries.end(), whole.begin(), whole.end());
  return entries;
}

// A few entries of a decode, from all its corners.
std::vector<Entry> few_entries(const Input& input) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < consumed_rows; ++i)
    for (std::int64_t k = 0; k < few_places; ++k)
      entries.push_back({consumed_row(input, i), k * (input.bins() - 1) / (few_places - 1)});
  return entries;
}

// The known results of a family, how a result is compared with them, and the length of one.
using Visitor = std::function<void(double, double)>;
struct Truth {
  std::vector<double> (*compute)(const Row&, const Input&) = nullptr;
  void (*visit)(const Row&, const std::vector<double>& result, const Visitor&) = nullptr;
  std::size_t (*size)(std::size_t rows, std::size_t bins) = nullptr;
};
const Truth& truth_of(const Row& row);

// The key of known results, which do not depend on variant, arithmetic or knobs: they are computed
// once per run.
std::string question(const Row& row) {
  const char* truth = row.family == &families::encode   ? "model"
                      : row.family == &families::local  ? "own position"
                      : row.family == &families::budget ? "consumed"
                                                        : "likelihoods";
  return text(truth, row.options.local_floor ? " floored " : " ", words_of(row.recipe));
}
const std::vector<double>& known(const Row& row) {
  static Known<std::tuple<Recipe, const Truth*, bool>, std::vector<double>> all;
  const Truth& truth = truth_of(row);
  return all.of({row.recipe, &truth, row.options.local_floor}, [&] {
    return kept_answer(question(row), [&] { return truth.compute(row, input_of(row.recipe)); });
  });
}

// The allowed |a - b|: the published profile's for likelihoods in f32, a tenth of it for the
// densities that they are made of, a hundredth of an f32 rounding error for f64.
struct Allowed {
  double absolute = 0, relative = 0;

  double fraction(double a, double b) const {
    const double share = std::abs(a - b) / (absolute + relative * std::abs(b));
    return std::isnan(share) ? std::numeric_limits<double>::infinity() : share;
  }
};
Allowed allowed(const Row& row) {
  if (precision_of(row.options.arithmetic) == Precision::f64) return {1e-9, 1e-9};
  return row.family == &families::encode ? Allowed{1e-6, 1e-5} : Allowed{1e-5, 1e-4};
}

double at(const Input& input, const std::vector<double>& result, const Entry& entry) {
  return result.at(static_cast<std::size_t>(entry.row * input.bins() + entry.bin));
}

// Entry by entry.
void visit_all(const Row& row, const std::vector<double>& result, const Visitor& visit) {
  const std::vector<double>& expected = known(row);
  for (std::size_t i = 0; i < expected.size(); ++i) visit(result.at(i), expected[i]);
}

// Visits each entry of a decode whose value is known, with that value.
void visit_known(const Row& row, const std::vector<double>& result, const Visitor& visit) {
  const std::vector<double>& expected = known(row);
  const Input& input = input_of(row.recipe);
  const auto entries = sampled_entries(input, row.recipe.seed, samples);
  for (std::size_t i = 0; i < entries.size(); ++i)
    visit(at(input, result, entries[i]), expected[i]);
  const auto rows = static_cast<std::size_t>(input.rows());
  auto begin = expected.begin() + static_cast<std::ptrdiff_t>(entries.size());
  for (const double fraction : columns_of(row)) {
    double sum = 0;
    for (std::int64_t t = 0; t < input.rows(); ++t)
      sum += at(input, result, {t, column(input, fraction)});
    const auto end = begin + static_cast<std::ptrdiff_t>(rows);
    visit(sum / static_cast<double>(rows),
          std::accumulate(begin, end, 0.0) / static_cast<double>(rows));
    begin = end;
  }
}

double log_sum(std::span<const double> places) {
  const double most = *std::max_element(places.begin(), places.end());
  double sum = 0;
  for (const double place : places) sum += std::exp(place - most);
  return most + std::log(sum);
}

// For a consumer: ln sum exp of a row, and that no place is likelier than the named one.
void visit_consumed(const Row& row, const std::vector<double>& result, const Visitor& visit) {
  const Input& input = input_of(row.recipe);
  const std::vector<double>& expected = known(row);
  const auto bins = static_cast<std::size_t>(input.bins());
  for (std::int64_t i = 0; i < consumed_rows; ++i) {
    const auto at = static_cast<std::size_t>(consumed_row(input, i));
    const std::span places(expected.data() + static_cast<std::size_t>(i) * bins, bins);
    const double most = *std::max_element(places.begin(), places.end());
    visit(result.at(at), log_sum(places));
    const double named = result.at(static_cast<std::size_t>(input.rows()) + at);
    visit(named >= 0 && named < static_cast<double>(bins) ? places[static_cast<std::size_t>(named)]
                                                          : std::nan(""),
          most);
  }
}

constexpr Truth model = {.compute =
                             [](const Row&, const Input& input) {
                               Encoding encoding = oracle_encoding(input);
                               std::vector<double> both = std::move(encoding.occupancy);
                               both.insert(both.end(), encoding.ground.begin(),
                                           encoding.ground.end());
                               return both;
                             },
                         .visit = visit_all,
                         .size = [](std::size_t, std::size_t bins) { return 2 * bins; }};
constexpr Truth own_position = {.compute =
                                    [](const Row& row, const Input& input) {
                                      return oracle_local(input, row.options.local_floor
                                                                     ? LocalFloor::applied
                                                                     : LocalFloor::omitted);
                                    },
                                .visit = visit_all,
                                .size = [](std::size_t rows, std::size_t) { return rows; }};
constexpr Truth consumed = {
    .compute = [](const Row&,
                  const Input& input) { return oracle_entries(input, consumed_entries(input)); },
    .visit = visit_consumed,
    .size = [](std::size_t rows, std::size_t) { return 2 * rows; }};
constexpr Truth likelihoods = {
    .compute = [](const Row& row,
                  const Input& input) { return oracle_entries(input, known_entries(row, input)); },
    .visit = visit_known,
    .size = [](std::size_t rows, std::size_t bins) { return rows * bins; }};

const Truth& truth_of(const Row& row) {
  return row.family == &families::encode   ? model
         : row.family == &families::local  ? own_position
         : row.family == &families::budget ? consumed
                                           : likelihoods;
}

// Unwritten values are NaN, also where the right one is unknown.
bool is_complete(const Row& row, const std::vector<double>& result) {
  const Input& input = input_of(row.recipe);
  const std::size_t size = truth_of(row).size(static_cast<std::size_t>(input.rows()),
                                              static_cast<std::size_t>(input.bins()));
  return result.size() == size &&
         std::none_of(result.begin(), result.end(), [](double value) { return std::isnan(value); });
}

double distance(const Row& row, const std::vector<double>& result) {
  if (!is_complete(row, result)) return std::numeric_limits<double>::infinity();
  const Allowed tolerance = allowed(row);
  double worst = 0;
  truth_of(row).visit(
      row, result, [&](double a, double b) { worst = std::max(worst, tolerance.fraction(a, b)); });
  return worst;
}

double few_distance(const Row& row, const Input& input, const std::vector<double>& result) {
  if (!is_complete(row, result)) return std::numeric_limits<double>::infinity();
  const std::vector<Entry> entries = few_entries(input);
  const std::vector<double> expected = oracle_entries(input, entries);
  double worst = 0;
  for (std::size_t i = 0; i < entries.size(); ++i)
    worst = std::max(worst, allowed(row).fraction(at(input, result, entries[i]), expected[i]));
  return worst;
}

// The error for the other input, whose decode uses the same model.
double other_distance(const Row& row, const std::vector<double>& result) {
  const Input input = other_input(input_of(row.recipe), encodes(row));
  if (row.family != &families::budget) return few_distance(row, input, result);
  if (!is_complete(row, result)) return std::numeric_limits<double>::infinity();
  const std::int64_t t = consumed_row(input, consumed_rows / 2);
  std::vector<Entry> entries;
  for (std::int64_t p = 0; p < input.bins(); ++p) entries.push_back({t, p});
  const std::vector<double> places = oracle_entries(input, entries);
  return allowed(row).fraction(result.at(static_cast<std::size_t>(t)), log_sum(places));
}

// Each variant may deviate from the truth, so two may differ by twice that; likelihoods stay within
// once.
Allowed allowed_between(const Row& row) {
  const Allowed one = allowed(row);
  if (row.family != &families::encode) return one;
  return {2 * one.absolute, 2 * one.relative};
}
double apart(const Row& row, const std::vector<double>& optimized,
             const std::vector<double>& reference) {
  if (optimized.size() != reference.size()) return std::numeric_limits<double>::infinity();
  const Allowed tolerance = allowed_between(row);
  double worst = 0;
  for (std::size_t i = 0; i < reference.size(); ++i)
    worst = std::max(worst, tolerance.fraction(optimized[i], reference[i]));
  return worst;
}

// Compares values with others, in the numbers that the published profile prints.
class Comparison {
 public:
  explicit Comparison(const Allowed& tolerance) : allowed_(tolerance) {}
  void add(double a, double b) {
    most_ = larger(most_, a - b);
    sum_ += std::abs(a - b);
    ++count_;
    close_ = close_ && allowed_.fraction(a, b) <= 1;
  }
  std::vector<NamedReading> readings(const std::string& prefix) const {
    return {{prefix + "max_abs_diff", told(most_)},
            {prefix + "mean_abs_diff", told(count_ > 0 ? sum_ / count_ : 0)},
            {prefix + "allclose", close_ ? 1. : 0.}};
  }

 private:
  // JSON lacks infinity.
  static double told(double value) {
    return std::isfinite(value) ? value : std::numeric_limits<double>::max();
  }

  Allowed allowed_;
  double most_ = 0, sum_ = 0, count_ = 0;
  bool close_ = true;
};

}  // namespace

Oracle oracle(const Row& row) {
  Oracle one = {.name = "every sum formed in f64",
                .limit = 1,
                .expected = [=](int) { return known(row); },
                .distance = [=](const std::vector<double>& result,
                                const std::vector<double>&) { return distance(row, result); }};
  one.between = [=](const std::vector<double>& optimized, const std::vector<double>& reference) {
    return apart(row, optimized, reference);
  };
  if (!is_decoding(row)) return one;
  one.other = [=](const std::vector<double>& result, int) { return other_distance(row, result); };
  one.name += ", at sampled entries and in whole columns, and spike by spike";
  if (row.family != &families::budget)
    one.few = [=](const std::vector<double>& result) {
      return few_distance(row, input_of(row.recipe), result);
    };
  return one;
}

std::vector<NamedReading> comparison(const Row& row, const std::vector<double>& result) {
  Comparison compared(allowed(row));
  truth_of(row).visit(row, result, [&](double a, double b) { compared.add(a, b); });
  return compared.readings("");
}

std::vector<NamedReading> agreement(const Row& row, const std::vector<double>& optimized,
                                    const std::vector<double>& reference) {
  Comparison compared(allowed_between(row));
  for (std::size_t i = 0; i < reference.size(); ++i) compared.add(optimized.at(i), reference[i]);
  return compared.readings("reference_");
}

}  // namespace holdfast::clusterless_kde
