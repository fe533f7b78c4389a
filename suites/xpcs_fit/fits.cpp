// SPDX-License-Identifier: Apache-2.0
// The families of whole fits, by strategy: with 8 passes, with as many as they need, and all
// strategies compared.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "families/invariants.hpp"
#include "families/protocols.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/stream/progress.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The limit of memory given to the published rule of chunks.
constexpr double limit_gib = 8;
constexpr std::int64_t rows_of_points = 4194304;  // per batch of rows, approximately

int parameters_of(const Row& row) {
  return parameter_count(row.options, size_of(row).angles);
}

// Small at size t, for several chunks. A host's batches are worth waking its threads for.
std::int64_t chunk_of(const Row& row, Variant variant, bool on_device) {
  constexpr std::int64_t thousand = 1000;
  if (row.size == NamedSize::t) return thousand;
  const bool streams = row.strategy == Strategy::streaming;
  if (variant == Variant::reference)
    return streams ? plain_batch(parameters_of(row), available_gib)
                   : plain_chunk(points_of(row), parameters_of(row), limit_gib, available_gib);
  const std::int64_t least = on_device ? 1 : std::int64_t{1} << 19;
  return streams ? std::clamp(points_of(row) / 16, least, rows_of_points) : rows_of_points;
}

// Reports as to a terminal: each line is written at once.
std::function<void(int, int)> telling(const Row& row, std::int64_t chunk) {
  const auto out = std::make_shared<std::ofstream>("/dev/null");
  const auto chunks = static_cast<int>((points_of(row) + chunk - 1) / chunk);
  const auto progress = std::make_shared<Progress>(chunks, chunk, *out);
  return [out, progress](int pass, int done) { progress->done(pass, done); };
}

StrategyOptions going(const Row& row, const Backend& backend, Variant variant, int passes) {
  StrategyOptions options = {.strategy = row.strategy,
                             .source = row.source,
                             .chunk = chunk_of(row, variant, backend.device != nullptr),
                             .passes = passes};
  if (row.strategy == Strategy::chunked) options.told = telling(row, options.chunk);
  return options;
}

template <int passes>
std::unique_ptr<Computation> made(const Row& row, Backend& backend, Variant variant) {
  return make_fit(backend, variant, problem_of(row, backend.executes()),
                  going(row, backend, variant, passes));
}

bool is_at_once(const Row& row) {
  return row.strategy <= Strategy::large;
}

// The variance that a fit leaves, relative to that of the noise; the published quality of a fit is
// good below 1.5, marginal below 3, else poor.
double reduced_chi2(const Row& row, const std::vector<double>& result) {
  const double freedom = static_cast<double>(points_of(row)) - parameters_of(row);
  return 2 * result[0] / freedom / (Recipe{}.noise * Recipe{}.noise);
}

// A fit's passes, and its distance from the truth.
std::vector<NamedReading> read_fit(const Row& row, const Verified& found) {
  if (!found.backend.executes()) return {};
  return {{"passes", found.result[1]},
          {"pull_max", largest_pull(row, found.result)},
          {"reduced_chi2", reduced_chi2(row, found.result)}};
}
std::vector<MetricDeclaration> fit_metrics(const Row& row) {
  const auto by_size = choose_strategy(points_of(row), parameters_of(row), available_gib);
  std::vector<MetricDeclaration> all = {
      {.name = "passes", .kind = "exact", .better = Better::same, .devices = executing},
      {.name = "pull_max", .kind = "bound", .devices = executing},
      {.name = "reduced_chi2", .kind = "bound", .devices = executing},
      {.name = "strategy_by_size",
       .kind = "exact",
       .better = Better::same,
       .value = static_cast<double>(by_size)}};
  if (row.strategy >= Strategy::chunked)
    all.push_back(
        {.name = "n_batches", .kind = "exact", .better = Better::same, .devices = executing});
  return all;
}

// The reference's stream on a device holds no result: each batch has its sums, the host steps.
std::vector<std::string> written_anew(const Row& row, const Backend& backend, Variant variant) {
  const bool holds_no_result =
      row.strategy == Strategy::streaming && backend.device && variant == Variant::reference;
  return holds_no_result ? std::vector<std::string>{} : std::vector<std::string>{"result"};
}

template <int passes>
void add_to(const Row& row, Steps& steps) {
  steps.read = [=](const Verified& found) { return read_fit(row, found); };
  steps.rewritten = [=](const Backend& backend, Variant variant) {
    return written_anew(row, backend, variant);
  };
  if (passes > 0 && row.source == DataSource::host)
    steps.upload_bytes = [=](Variant) { return 8. * passes * static_cast<double>(points_of(row)); };
  // From size s on the arrays per frame are negligible; for streams the formula includes them.
  if (row.size >= NamedSize::s)
    steps.estimate_bytes = [=](const Backend& backend, Variant variant) {
      return estimate_fit_bytes(backend, variant, problem_of(row, backend.executes()),
                                going(row, backend, variant, passes));
    };
}

Kinds too_slow_eight_times(const Row& row) {
  return row.size > NamedSize::t ? Kinds{"host"} : Kinds{};
}
// The plain formulation streams only from the host; with a stored Jacobian it fits in memory up to
// size l, chunk by chunk up to c.
bool has_plain_one(const Row& row) {
  if (row.strategy == Strategy::streaming && row.source != DataSource::host) return false;
  return row.size <= (row.strategy == Strategy::standard ? NamedSize::l : NamedSize::c);
}

Row standard_of(Row row) {
  row.strategy = Strategy::standard;
  row.source = DataSource::resident;
  return row;
}
std::vector<Derived> beside_others(const Row& row) {
  // The plain fit of size s takes a host seconds, and would be repeated many times.
  if (is_at_once(row) && row.size == NamedSize::t)
    return over_host(row, {Variant::optimized, Variant::reference});
  if (is_at_once(row) && row.size <= NamedSize::l) return over_host(row, {Variant::optimized});
  if (is_at_once(row) || row.size < NamedSize::s || row.size > NamedSize::c) return {};
  Derived rate = over("rate_over_standard", standard_of(row), Derived::Form::other_over_case);
  rate.better = Better::higher;
  return {rate};
}

template <int passes>
constexpr Family<Row> fitted(Family<Row> family) {
  constexpr Unit unit = passes > 0 ? Unit::fit : Unit::converged_fit;
  family.make = made<passes>;
  family.work = [](const Row& row) { return work(unit, size_of(row), row.options); };
  family.oracle = [](const Row& row) { return fit_oracle(unit, row); };
  family.invariant = [](const Row&) { return repeats_itself(); };
  family.chained = never;
  family.metrics = fit_metrics;
  family.more = add_to<passes>;
  family.reference = has_plain_one;
  family.unreferenced = too_slow_eight_times;
  family.derived = beside_others;
  return family;
}

// All four strategies, in chunks of 100000 points, each until it converges, compared with the
// first.
void measure_ladder(const Row& row, Session& session) {
  constexpr int rounds = 5;
  Backend& backend = session.open();
  std::vector<std::unique_ptr<Computation>> fits;
  for (const Strategy strategy :
       {Strategy::standard, Strategy::large, Strategy::chunked, Strategy::streaming}) {
    const bool streams = strategy == Strategy::streaming;
    fits.push_back(make_fit(backend, Variant::optimized, problem_of(row, backend.executes()),
                            {.strategy = strategy,
                             .source = streams ? DataSource::host : DataSource::resident,
                             .chunk = 100000,
                             .passes = 0}));
  }
  std::vector<double> seconds(fits.size(), INFINITY);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t k = 0; k < fits.size(); ++k)
      seconds[k] = std::min(seconds[k], session.seconds(backend, [&] { fits[k]->step(); }));
  const std::vector<double> first = check(session, fit_oracle(Unit::converged_fit, row), *fits[0]);
  double worst = 0;
  for (const auto& fit : fits) worst = larger(worst, pulls_apart(fit->result(), first));
  session.check("the standard way", worst, most_apart);
  session.read("pulls_apart", worst);
  session.read("chunked_over_standard", seconds[0] / seconds[2]);
  session.read("streaming_over_standard", seconds[0] / seconds[3]);
}

std::string called(const std::string& word, const Row& row) {
  return named(
      word, row,
      {{"strategy", strategy_words.of(row.strategy)}, {"source", source_words.of(row.source)}});
}

}  // namespace

const Family<Row> families::fit = fitted<accounted_passes>(
    {.id = [](const Row& row) { return called("fit", row); },
     .rates = [](const Row& row) -> std::vector<holdfast::Rate> {
       return {{.name = "points_per_s_pass",
                .per_step = accounted_passes * static_cast<double>(points_of(row))}};
     }});

// The host checks each pass: on a dry device there are no results to check.
const Family<Row> families::converged = fitted<0>(
    {.id = [](const Row& row) { return called("fit/converged", row); },
     .devices = [](const Row&) { return executing; },
     .expected = [](const Row&) -> std::vector<ExpectedFinding> {
       return {{.finding = "transfers_in_the_loop",
                .why = "each pass tells the host, in 64 B, whether it was the last"},
               {.finding = "syncs_in_the_loop", .why = "the host waits to be told"}};
     },
     .rates = [](const Row& row) -> std::vector<holdfast::Rate> {
       return {{.name = "points_per_s_fit", .per_step = static_cast<double>(points_of(row))}};
     }});

const Family<Row> families::ladder = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/fit/ladder", {{"size", size_words.of(row.size)}}, "f64");
        },
    .devices = [](const Row&) { return executing; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "pulls_apart", .kind = "bound", .devices = executing},
              {.name = "chunked_over_standard", .better = Better::higher, .devices = executing},
              {.name = "streaming_over_standard", .better = Better::higher, .devices = executing}};
    },
    .protocol = measure_ladder,
    .limit = [](const Row& row) { return fit_oracle(Unit::converged_fit, row).limit; }};

}  // namespace holdfast::xpcs_fit
