// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/lone_spikes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "families/known.hpp"
#include "harness/measure/known_answers.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr std::int64_t most_spikes = 256;
// Tiny and small inputs are checked at all places, larger ones at enough places for 4096 pairs of
// spike and place.
constexpr std::int64_t few_pairs = 100'000, some_places = 16;

// Known likelihoods are ordered by place, with all rows of one place contiguous; the last row has
// no spike.
struct Lone {
  Input input = {};
  std::vector<Entry> entries = {};
  std::vector<double> known = {};
};

Lone prepared(const Recipe& recipe) {
  Lone lone = {.input = one_spike_per_row(input_of(recipe), most_spikes)};
  const std::int64_t bins = lone.input.bins();
  const std::int64_t places =
      shape(recipe).pairs() < few_pairs ? bins : std::min(bins, some_places);
  for (std::int64_t i = 0; i < places; ++i)
    for (std::int64_t t = 0; t < lone.input.rows(); ++t)
      lone.entries.push_back({t, i * (bins - 1) / std::max<std::int64_t>(places - 1, 1)});
  lone.known = kept_answer("lone spikes " + words_of(recipe),
                           [&] { return oracle_entries(lone.input, lone.entries); });
  return lone;
}

const Lone& lone_spikes(const Recipe& recipe) {
  static Known<Recipe, Lone> all;
  return all.of(recipe, [&] { return prepared(recipe); });
}

}  // namespace

double spike_error(const Row& row, Backend& backend, Variant variant) {
  const Lone& lone = lone_spikes(row.recipe);
  Options options = row.options;
  options.budget.reset();
  options.consume = false;
  const auto decode = make_decode(backend, variant, lone.input, options);
  decode->step();
  const std::vector<double> result = decode->result();
  const std::int64_t bins = lone.input.bins();
  if (static_cast<std::int64_t>(result.size()) != lone.input.rows() * bins)
    return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < lone.entries.size(); ++i) {
    const auto [t, p] = lone.entries[i];
    const double error = std::abs(result[static_cast<std::size_t>(t * bins + p)] - lone.known[i]);
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

// Measured maxima over all sizes: f32 1.1e-5, bf16x3 2.5e-5, tf32 1.1e-3 if rounding and 1.9e-3 if
// truncating; the expanded mark distance adds its cancellation, and nodes their quadrature error.
double spike_limit(const Row& row) {
  const Options& options = row.options;
  if (options.arithmetic == Arithmetic::tf32) return 1.5e-3;
  if (options.arithmetic == Arithmetic::f64)
    return path(shape(row.recipe), Precision::f64) == Path::dense ? 1e-10 : 1e-9;
  return options.distance == Distance::expanded ? 1e-3 : 1e-4;
}

double floored_fraction(const Row& row) {
  const Lone& lone = lone_spikes(row.recipe);
  const auto rows = static_cast<std::size_t>(lone.input.rows());
  std::size_t floored = 0, pairs = 0;
  for (std::size_t begin = 0; begin < lone.known.size(); begin += rows) {
    const double none = lone.known[begin + rows - 1];  // -G
    for (std::size_t t = 0; t + 1 < rows; ++t, ++pairs)
      floored += lone.known[begin + t] - none < log_rate_floor + 1e-9;
  }
  return pairs > 0 ? static_cast<double>(floored) / static_cast<double>(pairs) : 0;
}

}  // namespace holdfast::clusterless_kde
