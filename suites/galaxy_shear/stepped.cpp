// SPDX-License-Identifier: Apache-2.0
// The families that step a computation: images, their gradient, a step of a fit, whole fits.
#include <chrono>

#include "base/time.hpp"
#include "families/invariants.hpp"
#include "galaxy_shear/oracles.hpp"
#include "galaxy_shear/problem/words.hpp"
#include "galaxy_shear/row.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr auto case_over_other = Derived::Form::case_over_other,
               other_over_case = Derived::Form::other_over_case;

// Whether a row reports the truncation error of N samples: one galaxy in double precision.
bool truncated(const Row& row) {
  return row.options.batch == 1 && row.options.precision == Precision::f64 && row.options.fft < 512;
}

// Whether an optimized plan has a table of optics, and the seconds it takes to build.
bool tabled(const Row& row) {
  return row.options.psf == Psf::moffat;
}
NamedReading table_seconds(const Row& row) {
  const Scene scene = scene_of(row.options);
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> table = attenuation(scene);
  return {"table_build_s", seconds_since(begin)};
}

void draws(const Row& row, Steps& steps) {
  estimate(row, steps);
  steps.read = [=](const Verified& found) {
    std::vector<NamedReading> all;
    if (found.result.empty()) return all;
    if (truncated(row)) all.push_back({"trunc_err", truncation_error(row, found.result)});
    if (tabled(row) && found.variant == Variant::optimized) all.push_back(table_seconds(row));
    return all;
  };
  steps.rewritten = [](const Backend&, Variant variant) -> std::vector<std::string> {
    return {variant == Variant::reference ? "result: image" : "result"};
  };
  steps.inputs = 2;
}
void multiplies(const Row& row, Steps& steps) {
  estimate(row, steps);
  steps.rewritten = always({"result: sums", "result: gradients"});
  steps.inputs = 2;
}
void rewrites(const Row& row, Steps& steps) {
  estimate(row, steps);
  steps.rewritten = always({"result"});
}
void tabulates(const Row& row, Steps& steps) {
  rewrites(row, steps);
  steps.read = [=](const Verified& found) -> std::vector<NamedReading> {
    if (found.result.empty() || found.variant == Variant::reference) return {};
    return {table_seconds(row)};
  };
}
void compares(const Row& row, Steps& steps) {
  rewrites(row, steps);
  steps.inputs = 2;
}

// Whether a row fits many galaxies to rest and reports the one farthest from its truth.
bool spread(const Row& row) {
  return rests(row) && row.options.batch > 1;
}
void fits(const Row& row, Steps& steps) {
  compares(row, steps);
  if (!spread(row)) return;
  steps.read = [=](const Verified& found) -> std::vector<NamedReading> {
    if (found.result.empty()) return {};
    return {{"posterior_error", posterior_error(row, found.result)}};
  };
}

// A batch in f32 compared with its bytes in f64, whose own case is checked against the formula.
bool halved(const Row& row) {
  return row.options.batch >= 64 && row.options.precision == Precision::f32;
}
// Whether a row of the benchmark's stamps is compared with its like at N = 128.
bool resampled(const Row& row) {
  return row.options.fft != 128 && row.options.image <= 64;
}
void goes_on(const Row& row, Steps& steps) {
  estimate(row, steps);
  if (!halved(row) && !resampled(row)) return;
  steps.read = [=](const Verified& found) {
    const auto peak = static_cast<double>(found.backend.ledger.peak_bytes);
    const auto bytes_of = [&](const Options& other) {
      return static_cast<double>(
          formula_peak_bytes(found.backend, found.variant, unit_of(row), other));
    };
    std::vector<NamedReading> all;
    Options twice = row.options, usual = row.options;
    twice.precision = Precision::f64;
    usual.fft = 128;
    if (halved(row)) all.push_back({"f64_over_f32_bytes", bytes_of(twice) / peak});
    if (resampled(row)) all.push_back({"bytes_over_fft_128", peak / bytes_of(usual)});
    return all;
  };
}

// The metric `path`: 0 if a block of a device holds a galaxy, 1 if several share it.
std::vector<MetricDeclaration> with_path(const Row&) {
  return {{.name = "path", .kind = "exact", .devices = gpu}};
}
std::vector<MetricDeclaration> of_images(const Row& row) {
  std::vector<MetricDeclaration> all = with_path(row);
  if (truncated(row)) all.push_back({.name = "trunc_err", .kind = "bound", .devices = executing});
  if (tabled(row)) all.push_back({.name = "table_build_s", .devices = executing});
  return all;
}
std::vector<MetricDeclaration> of_fits(const Row& row) {
  std::vector<MetricDeclaration> all = with_path(row);
  if (spread(row))
    all.push_back({.name = "posterior_error", .kind = "bound", .devices = executing});
  return all;
}
std::vector<MetricDeclaration> of_steps(const Row& row) {
  std::vector<MetricDeclaration> all = with_path(row);
  if (halved(row))
    all.push_back(
        {.name = "f64_over_f32_bytes", .kind = "bound", .better = Better::higher, .devices = gpu});
  if (resampled(row)) all.push_back({.name = "bytes_over_fft_128"});
  return all;
}

Derived bounded(Derived derived) {
  derived.kind = "bound";
  return derived;
}

std::vector<Derived> beside_f64(const Row& row) {
  if (row.options.precision == Precision::f64) return {};
  Row twice = row;
  twice.options.precision = Precision::f64;
  return {over("f64_over_f32_time", twice, other_over_case)};
}

std::vector<Derived> beside_render(const Row& row) {
  std::vector<Derived> derived = beside_f64(row);
  derived.push_back(bounded(over("grad_over_forward", as(families::render, row), case_over_other)));
  return derived;
}

// Also what fewer samples save, and what more of them cost.
std::vector<Derived> beside_128(const Row& row) {
  std::vector<Derived> derived = beside_render(row);
  if (!resampled(row)) return derived;
  Row usual = row;
  usual.options.fft = 128;
  derived.push_back(bounded(over("over_fft_128", usual, case_over_other)));
  return derived;
}

// The time that priors and the likelihood add to drawing an image.
std::vector<Derived> beside_image(const Row& row) {
  std::vector<Derived> derived = beside_f64(row);
  derived.push_back(
      bounded(over("overhead_vs_render", as(families::render, row), case_over_other)));
  return derived;
}

// The time of a step of a whole fit over an isolated one's.
std::vector<Derived> beside_step(const Row& row) {
  Derived ratio = bounded(over("overhead_ratio", as(families::svi_step, row), case_over_other));
  ratio.factor = 1. / row.options.steps;
  return {ratio};
}

// Galaxies per second; for one image of 48 x 48 at N = 128 also the published program's time over
// ours.
std::vector<Rate> beside_published(const Row& row, const char* name, double published_seconds) {
  const Options& o = row.options;
  std::vector<Rate> rates = {{.name = "galaxies_per_s", .per_step = double(o.batch)}};
  if (o.batch == 1 && o.fft == 128 && o.image == 48)
    rates.push_back({.name = name, .per_step = published_seconds});
  return rates;
}

std::string latents(const Row& row) {
  return std::to_string(row.options.latents);
}

// A fit launched by the host reads back the loss of each step, like a progress bar.
std::vector<ExpectedFinding> looks_at_each_step(const Row& row) {
  if (row.options.launch != Launch::host) return {};
  return {
      {.finding = "transfers_in_the_loop",
       .why = "it shows what reading the loss back in every step costs; launch:graph does not"},
      {.finding = "syncs_in_the_loop", .why = "the host waits for the loss that it reads back"}};
}

}  // namespace

const Family<Row> families::render = {
    .id = [](const Row& row) { return named("render", row); },
    .metrics = of_images,
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::render, row.options); },
    .oracle = oracle_of,
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = draws,
    .derived = beside_f64,
    .rates = [](const Row& row) { return beside_published(row, "vs_seed_render", 0.6e-3); }};

const Family<Row> families::render_grad = {
    .id = [](const Row& row) { return named("render_grad", row); },
    .metrics = with_path,
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::render_grad, row.options); },
    .oracle = oracle_of,
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = multiplies,
    .derived = beside_render,
    .rates = [](const Row& row) { return beside_published(row, "vs_seed_grad", 24e-3); }};

const Family<Row> families::forward = {
    .id =
        [](const Row& row) {
          return named("forward", row, {{"sample", row.options.sample ? "1" : "0"}});
        },
    .metrics = with_path,
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::forward, row.options); },
    .oracle = oracle_of,
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = compares,
    .derived = beside_image};

// Three steps exceed the depth of any pipeline that could hide a stale buffer.
const Family<Row> families::svi_step = {
    .id =
        [](const Row& row) {
          return named("svi_step", row, {{"latents", latents(row)}});
        },
    .metrics = of_steps,
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::svi_step, row.options); },
    .oracle = oracle_of,
    .invariant = fit_goes_on,
    .warm_up = [](const Row&) { return 3; },
    .more = goes_on,
    .derived = beside_128,
    .rates = [](const Row& row) { return beside_published(row, "vs_seed_step", 25e-3); }};

// The reference adds up the objects' images, drawn one by one.
const Family<Row> families::scene_step = {
    .id =
        [](const Row& row) {
          return id("galaxy_shear/scene_step",
                    {{"objects", row.options.objects},
                     {"fft", row.options.fft},
                     {"image", row.options.image}},
                    name(row.options.precision));
        },
    .unreferenced =
        [](const Row& row) { return row.options.objects < 64 ? Kinds{} : Kinds{"host"}; },
    .metrics = with_path,
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::scene_step, row.options); },
    .oracle = oracle_of,
    .invariant = fit_goes_on,
    .more = estimate,
    .derived = beside_f64,
    .rates =
        [](const Row& row) {
          return std::vector<Rate>{
              {.name = "galaxies_per_s", .per_step = double(row.options.objects)}};
        }};

// The published program waits for the loss of every step, so its fits have launch:host alone; a
// host measures it on short ones.
const Family<Row> families::map = {
    .id =
        [](const Row& row) {
          return named("map", row,
                       {{"latents", latents(row)},
                        {"steps", row.options.steps},
                        {"launch", launch_words.of(row.options.launch)}});
        },
    .devices = [](const Row& row) { return row.options.launch == Launch::host ? any_kind : gpu; },
    .reference = [](const Row& row) { return row.options.launch == Launch::host; },
    .unreferenced =
        [](const Row& row) { return row.options.steps == 20 ? Kinds{} : Kinds{"host"}; },
    .metrics = of_fits,
    .expected = looks_at_each_step,
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::map, row.options); },
    .oracle = oracle_of,
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = fits,
    .derived = beside_step,
    .rates =
        [](const Row& row) {
          return beside_published(row, "vs_seed_run", 0.4 * row.options.steps);
        }};

// A closed form for half-integer beta, a sum of exponentials otherwise.
const Family<Row> families::psf_table = {
    .id =
        [](const Row& row) {
          return id("galaxy_shear/psf_table",
                    {{"beta", text(row.options.beta)}, {"fft", row.options.fft}},
                    name(row.options.precision));
        },
    .metrics =
        [](const Row&) {
          return std::vector<MetricDeclaration>{{.name = "table_build_s", .devices = executing}};
        },
    .make = make_unit,
    .work = [](const Row& row) { return work_of(Unit::psf_table, row.options); },
    .oracle = oracle_of,
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = tabulates};

}  // namespace holdfast::galaxy_shear
