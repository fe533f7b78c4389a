// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/galaxy_shear: one row per claim, in the order of the list.
#include <tuple>

#include "families/given.hpp"
#include "galaxy_shear/row.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using namespace galaxy_shear;

using Rows = std::vector<Row>;

const Kinds host = {"host"};

Row row(const Family<Row>& family, Tier tier, const Options& options, const Kinds& only = {}) {
  return {.family = &family,
          .tier = tier,
          .options = options,
          .only = only,
          .counted = tier != Tier::full && options.batch == 1 && options.steps < 200};
}

constexpr Precision f32 = Precision::f32;

// Images: the seed's size in both types, the costs of a Moffat profile and of fewer or more
// samples, and the gain of a batch.
void add_images(Rows& rows) {
  const Family<Row>& render = families::render;
  rows.push_back(row(render, Tier::smoke, {.steps = 1}));
  rows.push_back(row(render, Tier::full, {.steps = 1, .precision = f32}));
  rows.push_back(row(render, Tier::gate, {.psf = Psf::moffat, .steps = 1}));
  rows.push_back(row(render, Tier::gate, {.batch = 64}));
  rows.push_back(row(render, Tier::full, {.batch = 64, .precision = f32}));
  for (const Precision precision : {Precision::f64, f32})
    rows.push_back(row(render, Tier::full, {.batch = 1024, .precision = precision}, gpu));
  rows.push_back(row(render, Tier::gate, {.fft = 64, .steps = 1}));
  rows.push_back(row(render, Tier::full, {.fft = 256, .steps = 1}));
  for (const int fft : {64, 256})
    rows.push_back(row(render, Tier::full, {.fft = fft, .psf = Psf::moffat, .steps = 1}));
  rows.push_back(row(render, Tier::full, {.fft = 256, .image = 64, .steps = 1}));
  rows.push_back(row(render, Tier::full, {.fft = 256, .image = 64, .steps = 1, .precision = f32}));
  // Stamps beyond a block's shared memory.
  for (const auto& [fft, image, batch] : {std::tuple{256, 128, 256}, {512, 256, 16}}) {
    rows.push_back(row(render, Tier::full, {.fft = fft, .image = image, .batch = batch}, gpu));
    rows.push_back(row(render, Tier::full, {.fft = fft, .image = image, .batch = 4}, host));
  }
}

void add_gradients(Rows& rows) {
  const Family<Row>& render_grad = families::render_grad;
  rows.push_back(row(render_grad, Tier::gate, {.steps = 1}));
  rows.push_back(row(render_grad, Tier::full, {.steps = 1, .precision = f32}));
  rows.push_back(row(render_grad, Tier::full, {.psf = Psf::moffat, .steps = 1}));
  rows.push_back(row(render_grad, Tier::gate, {.batch = 64}));
  rows.push_back(row(render_grad, Tier::full, {.batch = 1024}, gpu));
}

// The probabilistic layer: priors and likelihood, at given latents and at drawn ones.
void add_losses(Rows& rows) {
  const Family<Row>& forward = families::forward;
  rows.push_back(row(forward, Tier::gate, {.steps = 1}));
  rows.push_back(row(forward, Tier::gate, {.steps = 1, .sample = true}));
  rows.push_back(row(forward, Tier::full, {.steps = 1, .precision = f32}));
  for (const Precision precision : {Precision::f64, f32})
    rows.push_back(row(forward, Tier::full, {.batch = 64, .precision = precision}));
  rows.push_back(row(forward, Tier::full, {.batch = 1024}, gpu));
}

// One step of a fit, isolated.
void add_steps(Rows& rows) {
  const Family<Row>& step = families::svi_step;
  rows.push_back(row(step, Tier::gate, {.steps = 1}));
  rows.push_back(row(step, Tier::full, {.steps = 1, .precision = f32}));
  rows.push_back(row(step, Tier::gate, {.latents = 8, .steps = 1}));
  rows.push_back(row(step, Tier::full, {.latents = 8, .steps = 1, .precision = f32}));
  rows.push_back(row(step, Tier::full, {.psf = Psf::moffat, .steps = 1}));
  for (const Precision precision : {Precision::f64, f32}) {
    rows.push_back(row(step, Tier::gate, {.batch = 64, .precision = precision}));
    rows.push_back(row(step, Tier::full, {.batch = 1024, .precision = precision}, gpu));
    rows.push_back(row(step, Tier::full, {.fft = 64, .steps = 1, .precision = precision}));
    rows.push_back(
        row(step, Tier::full, {.fft = 256, .image = 64, .steps = 1, .precision = precision}));
  }
  // A survey's larger stamps, on twice as many samples.
  for (const auto& [fft, image] : {std::pair{128, 64}, {256, 128}})
    rows.push_back(row(step, Tier::full, {.fft = fft, .image = image, .steps = 1}));
  rows.push_back(row(step, Tier::full, {.fft = 512, .image = 256, .batch = 16}, gpu));
}

// Whole fits, by how their steps reach the device.
void add_fits(Rows& rows) {
  const Family<Row>& map = families::map;
  rows.push_back(row(map, Tier::smoke, {.steps = 5}));
  rows.push_back(row(map, Tier::gate, {.steps = 20}));
  for (const Launch launch : {Launch::host, Launch::graph, Launch::persistent})
    rows.push_back(row(map, Tier::gate, {.launch = launch}));
  for (const Launch launch : {Launch::host, Launch::graph, Launch::persistent})
    rows.push_back(row(map, Tier::full, {.launch = launch, .precision = f32}));
  for (const Launch launch : {Launch::host, Launch::persistent})
    rows.push_back(row(map, Tier::full, {.psf = Psf::moffat, .launch = launch}));
  rows.push_back(row(map, Tier::gate, {.batch = 16}, host));
  for (const int batch : {64, 1024})
    rows.push_back(row(map, Tier::full, {.batch = batch, .launch = Launch::persistent}));
  rows.push_back(
      row(map, Tier::full, {.batch = 1024, .launch = Launch::persistent, .precision = f32}));
  for (const Launch launch : {Launch::host, Launch::persistent})
    rows.push_back(
        row(map, Tier::full, {.image = 32, .latents = 8, .steps = 500, .launch = launch}));
}

// One step of a fit of several galaxies in one image. A host would take minutes to draw 256 images
// one by one.
void add_scenes(Rows& rows) {
  const Family<Row>& scene = families::scene_step;
  rows.push_back(row(scene, Tier::gate, {.image = 64, .objects = 16, .steps = 1}));
  rows.push_back(
      row(scene, Tier::full, {.image = 64, .objects = 16, .steps = 1, .precision = f32}));
  rows.push_back(row(scene, Tier::full, {.fft = 256, .image = 128, .objects = 256}));
}

// Walks, which evaluate the gradient repeatedly, and how often.
void add_walks(Rows& rows) {
  for (const Family<Row>* walk : {&families::vi_step, &families::hmc_sample})
    rows.push_back(row(*walk, Tier::gate, {.steps = 1}));
}

void add_protocols(Rows& rows) {
  for (const double beta : {2.5, 3.1})
    rows.push_back(row(families::psf_table, beta == 2.5 ? Tier::gate : Tier::full,
                       {.psf = Psf::moffat, .beta = beta, .steps = 1}));
  for (const Precision precision : {Precision::f64, f32})
    rows.push_back(row(families::first_call, precision == f32 ? Tier::full : Tier::gate,
                       {.precision = precision}));
  rows.push_back(row(families::first_run, Tier::gate, {}));
  rows.push_back(row(families::shape_change, Tier::gate, {}, gpu));
  rows.push_back(row(families::in_turn, Tier::full, {.steps = 5}));
  for (const auto& [batch, tier] : {std::pair{1, Tier::gate}, {64, Tier::full}})
    rows.push_back(row(families::memory, tier, {.batch = batch}));
  rows.push_back(row(families::memory, Tier::full, {.batch = 1024}, gpu));
}

void check_light(const SuiteOptions& options) {
  const auto given = options.custom.find("light");
  if (given != options.custom.end() && given->second != "exponential")
    throw Error(Fault::bad_input, text("light = ", given->second,
                                       ": a galaxy is an exponential disc; Sersic and de "
                                       "Vaucouleurs profiles are unsupported"));
}

// A row changed by the suite's own options.
Row with(const SuiteOptions& options, Row each) {
  const Given given(options);
  if (each.family == &families::map) given.number("num-steps", each.options.steps);
  given.number("fft-size", each.options.fft);
  given.number("image-size", each.options.image);
  if (given.real("lr", each.options.learning_rate) && each.options.learning_rate == 0)
    throw Error(Fault::bad_input, "learning rate = 0: it must be positive");
  return each;
}

std::vector<Case> cases(const SuiteOptions& given) {
  Rows rows;
  add_images(rows);
  add_gradients(rows);
  add_losses(rows);
  add_steps(rows);
  add_fits(rows);
  add_scenes(rows);
  add_walks(rows);
  add_protocols(rows);
  check_light(given);
  Rows asked;
  for (const Row& each : rows) {
    if (each.family == &families::shape_change && given.custom.contains("skip-recompilation-check"))
      continue;
    asked.push_back(with(given, each));
    validate(asked.back().options);
  }
  return cases_of(asked);
}

}  // namespace

Suite suite() {
  return {.name = "galaxy_shear",
          .options = {{"num-steps", "T", "steps of every whole fit"},
                      {"lr", "RATE", "learning rate of every fit"},
                      {"fft-size", "N", "samples along an axis of the Fourier plane, 16 to 1024"},
                      {"image-size", "S", "pixels along an axis of a stamp"},
                      {"light", "PROFILE", "of every galaxy: exponential, which is all there is"},
                      {"skip-recompilation-check", "", "leave compile/shape_change out"}},
          .cases = cases};
}

}  // namespace holdfast
