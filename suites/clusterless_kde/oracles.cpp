// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/oracles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "clusterless_kde/oracle.hpp"
#include "harness/measure.hpp"
#include "runtime/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr int samples = 4096;              // entries of out that are formed anew
constexpr std::int64_t lone_spikes = 256;  // that are looked at one by one
constexpr std::int64_t consumed_rows = 16;

// Whole columns besides: their means depend on every row. As fractions of the last place.
constexpr double columns[] = {0.5, 0, 0.25, 1};

// One alone of a whole long recording, where a column takes a minute and more.
std::span<const double> columns_of(const Row& row) {
  constexpr std::int64_t many_pairs = 1'000'000'000;
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

// Rows evenly spread, the last one among them, with all their places.
std::int64_t consumed_row(const Input& input, std::int64_t i) {
  return (i + 1) * input.rows() / consumed_rows - 1;
}
std::vector<Entry> consumed_entries(const Input& input) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < consumed_rows; ++i)
    for (std::int64_t p = 0; p < input.bins(); ++p) entries.push_back({consumed_row(input, i), p});
  return entries;
}

// Of the entries of a decode: first those drawn, then whole columns.
std::vector<Entry> known_entries(const Row& row, const Input& input) {
  if (row.family == Family::budget) return consumed_entries(input);
  std::vector<Entry> entries = sampled_entries(input, row.recipe.seed, samples);
  const auto whole = column_entries(row, input);
  entries.insert(entries.end(), whole.begin(), whole.end());
  return entries;
}

std::vector<double> compute_known(const Row& row) {
  const Input& input = input_of(row.recipe);
  if (row.family == Family::local)
    return oracle_local(input, row.options.local_floor ? LocalFloor::applied : LocalFloor::omitted);
  if (row.family != Family::encode) return oracle_entries(input, known_entries(row, input));
  Encoding encoding = oracle_encoding(input);
  std::vector<double> both = std::move(encoding.occupancy);
  both.insert(both.end(), encoding.ground.begin(), encoding.ground.end());
  return both;
}

// What is known of a result does not depend on the variant, the arithmetic or a knob: it is formed
// once per process.
const std::vector<double>& known(const Row& row) {
  using Key = std::tuple<Recipe, int, bool>;
  static std::map<Key, std::vector<double>> all;
  const int kind = row.family == Family::encode   ? 0
                   : row.family == Family::local  ? 1
                   : row.family == Family::budget ? 2
                                                  : 3;
  const Key key = {row.recipe, kind, row.options.local_floor};
  const auto found = all.find(key);
  return found != all.end() ? found->second : all.emplace(key, compute_known(row)).first->second;
}

// |a - b| that is let pass: the published profile's for likelihoods in f32, a tenth of it for the
// densities that they are made of, a hundredth of a rounding of f32 for f64.
struct Allowed {
  double absolute = 0, relative = 0;

  double fraction(double a, double b) const {
    const double share = std::abs(a - b) / (absolute + relative * std::abs(b));
    return std::isnan(share) ? std::numeric_limits<double>::infinity() : share;
  }
};
Allowed allowed(const Row& row) {
  if (precision_of(row.options.arithmetic) == Precision::f64) return {1e-9, 1e-9};
  return row.family == Family::encode ? Allowed{1e-6, 1e-5} : Allowed{1e-5, 1e-4};
}

// Measured over all sizes: f32 1.1e-5, bf16x3 2.5e-5, tf32 1.1e-3 when it rounds and 1.9e-3 when it
// truncates; the expanded form of the mark distance adds its cancellation.
double spike_limit(const Options& options) {
  if (options.arithmetic == Arithmetic::tf32) return 1.5e-3;
  if (options.arithmetic == Arithmetic::f64) return 1e-9;
  return options.distance == Distance::expanded ? 1e-3 : 1e-4;
}

// Spikes in rows of their own, and what is known of them; made once per process.
struct Lone {
  Input input = {};
  Decoding known = {};
};
const Lone& lone(const Recipe& recipe) {
  static std::map<Recipe, Lone> all;
  const auto found = all.find(recipe);
  if (found != all.end()) return found->second;
  Lone made = {.input = one_spike_per_row(input_of(recipe), lone_spikes)};
  made.known = oracle_decoding(made.input);
  return all.emplace(recipe, std::move(made)).first->second;
}

// In nats. What a budget or a consumer makes of the likelihoods is another question.
double spike_error(const Row& row, Backend& backend, Variant variant) {
  const auto& [input, known] = lone(row.recipe);
  Options options = row.options;
  options.budget.reset();
  options.consume = false;
  const auto decode = make_decode(backend, variant, input, options);
  decode->step();
  const std::vector<double> result = decode->result();
  if (result.size() != known.likelihood.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double error = std::abs(result[i] - known.likelihood[i]);
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

// Where a result says something of which the answer is known, and that answer, one after another.
void visit_known(const Row& row, const std::vector<double>& result,
                 const std::function<void(double, double)>& visit) {
  const std::vector<double>& expected = known(row);
  if (row.family == Family::encode || row.family == Family::local) {
    for (std::size_t i = 0; i < expected.size(); ++i) visit(result.at(i), expected[i]);
    return;
  }
  const Input& input = input_of(row.recipe);
  const auto entries = sampled_entries(input, row.recipe.seed, samples);
  for (std::size_t i = 0; i < entries.size(); ++i)
    visit(result.at(static_cast<std::size_t>(entries[i].row * input.bins() + entries[i].bin)),
          expected[i]);
  const auto rows = static_cast<std::size_t>(input.rows());
  auto begin = expected.begin() + static_cast<std::ptrdiff_t>(entries.size());
  for (const double fraction : columns_of(row)) {
    const auto bin = static_cast<std::size_t>(column(input, fraction));
    double sum = 0;
    for (std::size_t t = 0; t < rows; ++t)
      sum += result.at(t * static_cast<std::size_t>(input.bins()) + bin);
    const auto end = begin + static_cast<std::ptrdiff_t>(rows);
    visit(sum / static_cast<double>(rows),
          std::accumulate(begin, end, 0.0) / static_cast<double>(rows));
    begin = end;
  }
}

// Of a consumer: ln sum exp of a row, and that no place is likelier than the one it names.
void visit_consumed(const Row& row, const std::vector<double>& result,
                    const std::function<void(double, double)>& visit) {
  const Input& input = input_of(row.recipe);
  const std::vector<double>& expected = known(row);
  const auto bins = static_cast<std::size_t>(input.bins());
  for (std::int64_t i = 0; i < consumed_rows; ++i) {
    const auto at = static_cast<std::size_t>(consumed_row(input, i));
    const std::span places(expected.data() + static_cast<std::size_t>(i) * bins, bins);
    const double most = *std::max_element(places.begin(), places.end());
    double sum = 0;
    for (const double place : places) sum += std::exp(place - most);
    visit(result.at(at), most + std::log(sum));
    const double named = result.at(static_cast<std::size_t>(input.rows()) + at);
    visit(named >= 0 && named < static_cast<double>(bins) ? places[static_cast<std::size_t>(named)]
                                                          : std::nan(""),
          most);
  }
}

void visit(const Row& row, const std::vector<double>& result,
           const std::function<void(double, double)>& visitor) {
  row.family == Family::budget ? visit_consumed(row, result, visitor)
                               : visit_known(row, result, visitor);
}

std::size_t expected_size(const Row& row) {
  const Input& input = input_of(row.recipe);
  const auto rows = static_cast<std::size_t>(input.rows()),
             bins = static_cast<std::size_t>(input.bins());
  switch (row.family) {
    case Family::encode:
      return 2 * bins;
    case Family::local:
      return rows;
    case Family::budget:
      return 2 * rows;
    default:
      return rows * bins;
  }
}

double distance(const Row& row, const std::vector<double>& result) {
  if (result.size() != expected_size(row)) return std::numeric_limits<double>::infinity();
  const Allowed tolerance = allowed(row);
  double worst = 0;
  visit(row, result,
        [&](double a, double b) { worst = std::max(worst, tolerance.fraction(a, b)); });
  return worst;
}

}  // namespace

bool is_decoding(const Row& row) {
  return row.family != Family::encode && row.family != Family::local;
}

Oracle oracle(const Row& row, const std::shared_ptr<Found>& found) {
  Oracle one = {.name = "every sum formed in f64, at sampled entries and in whole columns",
                .limit = 1,
                .expected = [=](int) { return known(row); },
                .distance = [=](const std::vector<double>& result,
                                const std::vector<double>&) { return distance(row, result); }};
  if (row.family == Family::encode || row.family == Family::local)
    one.name = "every sum formed in f64";
  if (!is_decoding(row)) return one;
  one.name += ", and spike by spike";
  one.golden = [=](Backend& backend, Variant variant) {
    const double error = spike_error(row, backend, variant);
    found->spike_error[variant == Variant::reference] = error;
    return error / spike_limit(row.options);
  };
  return one;
}

Invariant repeats_itself() {
  return [](const std::vector<double>& before,
            const std::vector<double>& after) -> std::optional<std::string> {
    if (before.size() != after.size())
      return text("the result had ", before.size(), " values and has ", after.size());
    for (std::size_t i = 0; i < before.size(); ++i)
      if (std::bit_cast<std::uint64_t>(before[i]) != std::bit_cast<std::uint64_t>(after[i]))
        return text("value ", i, " of the result from unchanged inputs went from ", before[i],
                    " to ", after[i]);
    return std::nullopt;
  };
}

std::vector<NamedReading> comparison(const Row& row, const std::vector<double>& result) {
  const Allowed tolerance = allowed(row);
  double most = 0, sum = 0, count = 0;
  bool close = true;
  visit(row, result, [&](double a, double b) {
    most = std::max(most, std::abs(a - b));
    sum += std::abs(a - b);
    ++count;
    close = close && tolerance.fraction(a, b) <= 1;
  });
  return {{"max_abs_diff", most}, {"mean_abs_diff", sum / count}, {"allclose", close ? 1. : 0.}};
}

double floored_fraction(const Row& row) {
  return lone(row.recipe).known.floored_fraction;
}

}  // namespace holdfast::clusterless_kde
