// SPDX-License-Identifier: Apache-2.0
// The costs of the optimized variant on a dry device, and the refusals of a device.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "gpt_train/device/places.hpp"
#include "gpt_train/testing/support.hpp"
#include "runtime/backend/recording.hpp"
#include "testing/dry_run.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

DryRun dry(Unit unit, const Options& options) {
  return DryRun(90,
                [=](Backend& backend) { return make(unit, backend, Variant::optimized, options); });
}

// Gives each step its own rate, warm-up and batch.
Options warming(Options options) {
  options.warm_tokens = 20 * double(options.shape.tokens());
  return options;
}

// A batch of 12 n + 64 bytes arrives and a loss of 16 leaves, neither of which is waited for.
TEST(DryGpt, TenStepsWithRatesAndBatchesOfTheirOwnWaitForNothing) {
  for (const Optimizer optimizer : optimizers) {
    const Options options = warming(on_device(Model::tiny, optimizer, true, Launch::graph));
    DryRun run = dry(Unit::train_step, options);
    EXPECT_EQ(run.setup.programs, 3);
    for (int k = 0; k < 2; ++k) run.step();  // later ones ask for events of two steps before
    const Counts first = run.step();
    EXPECT_EQ(first.h2d_bytes, 12 * options.shape.tokens() + 64);
    EXPECT_EQ(first.d2h_bytes, 16);
    EXPECT_EQ(first.syncs + first.allocations + first.programs + first.plans + first.copies, 0);
    EXPECT_EQ(first.host_launches, 1);
    for (int k = 0; k < 9; ++k) EXPECT_EQ(run.step(), first);
  }
}

// Nor does a step whose next batch is fetched meanwhile.
TEST(DryGpt, StepsThatFetchAheadCostWhatOthersDo) {
  const auto third_step = [](bool ahead) {
    Options options = warming(on_device(Model::tiny, Optimizer::adamw, true, Launch::graph));
    options.fetching = {.ahead = ahead, .rounds = 2};
    DryRun run = dry(Unit::train_step, options);
    for (int k = 0; k < 2; ++k) run.step();
    run.computation->start_again(0);
    for (int k = 0; k < 2; ++k) run.step();
    const Counts third = run.step();
    for (int k = 0; k < 5; ++k) EXPECT_EQ(run.step(), third);
    return third;
  };
  const Counts ahead = third_step(true);
  EXPECT_EQ(ahead, third_step(false));
  EXPECT_EQ(ahead.syncs + ahead.pageable_bytes, 0);
  EXPECT_EQ(ahead.transfers, 2);
}

TEST(DryGpt, TenStepsWithRatesAndBatchesOfTheirOwnAreOneCapture) {
  const auto backend = open_backend("cuda-dry:sm_90");
  Recording recording(*backend);
  const auto training =
      make(Unit::train_step, *backend, Variant::optimized,
           warming(on_device(Model::tiny, Optimizer::multiscale, true, Launch::graph)));
  for (int k = 0; k < 10; ++k) training->step();
  recording.stop();
  std::map<Activity::Kind, int> verbs;
  for (const Activity& activity : recording.activities()) ++verbs[activity.kind];
  EXPECT_EQ(verbs[Activity::Kind::capture], 1);
  EXPECT_EQ(verbs[Activity::Kind::replay], 10);
}

// The scopes are those of a step on the host, in testing/scopes_test.cpp, and the upload; for a
// replay too.
TEST(DryGpt, AGraphShowsTheScopesOfItsStep) {
  for (const Launch launch : {Launch::host, Launch::graph}) {
    DryRun run = dry(Unit::train_step, on_device(Model::tiny, Optimizer::muon, true, launch));
    Recording recording(*run.backend);
    run.computation->step();
    recording.stop();
    std::vector<std::string> scopes;
    std::map<std::string, int> pieces;
    for (const ScopeRecord& scope : recording.scopes())
      scopes.push_back(std::string(2 * std::size_t(scope.depth), ' ') + scope.name);
    EXPECT_EQ(scopes, (std::vector<std::string>{
                          "data_loading",  "  fetch_batch", "  to_device",   "forward_pass",
                          "  embedding",   "  layer_0",     "    attention", "    gated_mlp",
                          "  layer_1",     "    attention", "    gated_mlp", "loss_computation",
                          "  lm_head",     "backward_pass", "  lm_head",     "  layer_1",
                          "    gated_mlp", "    attention", "  layer_0",     "    gated_mlp",
                          "    attention", "  embedding",   "update"}));
    for (const DeviceSlice& slice : recording.slices())
      if (slice.scope >= 0) ++pieces[recording.scopes()[std::size_t(slice.scope)].name];
    EXPECT_EQ(pieces["to_device"], 1);
    EXPECT_EQ(pieces["update"], 3 + 3 * 19);
  }
}

TEST(DryGpt, LaunchesStayWithinTheirBound) {
  for (const Model model : {Model::tiny, Model::llama3_150m, Model::gpt2_124m})
    for (const Optimizer optimizer : optimizers) {
      const Options options = on_device(model, optimizer);
      const Shape& s = options.shape;
      const std::int64_t chunks = (s.tokens() + 2047) / 2048;
      const std::int64_t groups =
          optimizer == Optimizer::adamw ? 0 : matrix_groups(tensors_of(s)).size();
      const Counts step = dry(Unit::train_step, options).step();
      // Per layer 9 forward, the first norm with the embedding, and 16 backward, in the head 4 a
      // chunk, around them 8; 3 rules, and Adam on matrices or 19 for each shape of them.
      EXPECT_EQ(step.launches,
                25 * s.layers - 1 + 4 * chunks + 8 + 3 + (groups > 0 ? 19 * groups : 1))
          << model_words.of(model) << optimizer_words.of(optimizer);
      EXPECT_LE(step.launches, 30 * s.layers + 4 * chunks + 40 + 25 * groups);
    }
}

TEST(DryGpt, OnlyAnotherHeadWidthIsAnotherProgram) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const auto programs_after = [&](const Options& options) {
    make(Unit::train_step, *backend, Variant::optimized, options)->step();
    return backend->ledger.counts.programs;
  };
  Options options = on_device(Model::tiny);
  EXPECT_EQ(programs_after(options), 3);
  options.shape.columns = 200;
  options.shape.batch = 5;
  options.shape.layers = 3;
  options.learning_rate = 0.01;
  options.optimizer = Optimizer::multiscale;
  EXPECT_EQ(programs_after(options), 3);
  options.shape.head = 64;
  EXPECT_EQ(programs_after(options), 4);
}

TEST(DryGpt, KernelsHoldTheirNumbersInRegisters) {
  const DryRun run = dry(Unit::train_step, on_device(Model::gpt2_124m, Optimizer::muon));
  for (const auto& program : run.backend->compiler->programs())
    for (const Function& function : program->functions) {
      const bool attends = program->source_name.find("attention") != std::string::npos;
      EXPECT_LE(function.registers, attends ? 240 : 128) << function.expression;
      EXPECT_EQ(function.spill_bytes, 0) << function.expression;
    }
}

// Products, kernels and fills only: nothing is moved just to change its layout.
TEST(DryGpt, MovesNothingThatItDoesNotCompute) {
  const auto moved = [](Variant variant, Unit unit) {
    const DryRun run(90, [=](Backend& backend) {
      return make(unit, backend, variant, on_device(Model::tiny, Optimizer::muon));
    });
    std::int64_t copies = run.backend->ledger.counts.copies;
    for (const auto& program : run.backend->compiler->programs())
      for (const Function& function : program->functions)
        if (function.kind == KernelKind::copy) copies += function.launches;
    const double bytes = run.computation->readings().front().value;
    EXPECT_EQ(copies > 0, bytes > 0) << int(unit);
    return bytes;
  };
  for (const Unit unit : {Unit::train_step, Unit::attention_backward, Unit::lm_head, Unit::update})
    EXPECT_EQ(moved(Variant::optimized, unit), 0);
  // The incoming gradient of an isolated layer is restored before each step.
  const Shape& s = shape_of(Model::tiny);
  const auto number = 2. * sizeof(Bf16) * double(s.tokens());
  EXPECT_EQ(moved(Variant::optimized, Unit::layer_backward), number * s.width);
  // q, and the repeated k and v, are permuted head by head, and o is permuted back.
  EXPECT_EQ(moved(Variant::reference, Unit::attention_forward), number * 4 * s.query_width());
  // Wk, Wv and Wd have more rows than columns: they are transposed, and back.
  EXPECT_EQ(moved(Variant::reference, Unit::update),
            2. * 2 * sizeof(float) * s.layers * s.width * (2 * s.key_width() + s.inner));
}

// Parameters, moments and gradients are generated on the device; the host holds none of them.
TEST(DryGpt, AModelOfSixGigabytesTakesAHostLessThanTwoSeconds) {
  const Options options = on_device(Model::gpt2_124m, Optimizer::muon, true, Launch::graph);
  const auto seconds = [&] {
    const double begun = thread_cpu_seconds();
    DryRun run = dry(Unit::train_step, options);
    (void)run.step();
    EXPECT_GT(run.backend->ledger.peak_bytes, 6e9);
    return thread_cpu_seconds() - begun;
  };
  (void)seconds();  // compiles
  EXPECT_LT(seconds(), 2);
}

// At most 2048 rows of logits are held at once.
TEST(DryGpt, HoldsTwoThousandRowsOfLogitsAndNoSquareOfColumns) {
  const DryRun run = dry(Unit::train_step, on_device(Model::llama3_150m));
  EXPECT_EQ(run.backend->ledger.peak_by_site().find("logits")->second, 2 * 2048 * 50432);
  Options once = on_device(Model::tiny), twice = once;
  twice.shape.columns *= 2;
  const auto peak = [](const Options& options) {
    return double(dry(Unit::attention_backward, options).backend->ledger.peak_bytes -
                  std::int64_t(planned_gemm_work_area_bytes));
  };
  EXPECT_LE(peak(twice), 2 * peak(once));
}

// The published formula of a training step's memory: parameters and gradients, moments, the larger
// of activations and Newton-Schulz, a batch, a work area.
double published_peak(const Options& o) {
  const Shape& s = o.shape;
  const double n = double(s.tokens()), d = s.width, v = s.vocabulary, l = s.layers;
  const double da = s.query_width(), dk = s.key_width(), inner = s.inner;
  const double all = double(parameter_count(s)), tensors = double(matrix_count(s));
  const double fixed = 6 * all + 2 * tensors + 8 * v * d + 4 * (2 * l + 1) * d;
  const double per = o.optimizer == Optimizer::adamw ? 8 : 4 * moments_of(o.optimizer);
  const double moments = 16 * v * d + 4 * (2 * l + 1) * d + per * tensors;
  const double sums = 4 * n * s.heads();
  const double saved =
      l * n * (4 * d + 2 * (da + 2 * dk) + 2 * da + 4 * inner + 8) + l * sums + 4 * n * d + 4 * n;
  const double scratch = n * (6 * d + 8 * inner + 2 * (da + 2 * dk) + 2 * da) + sums;
  const double logits = 2 * std::min(2048., n) * v + 4 * n;
  double orthogonal = 0;
  if (o.optimizer != Optimizer::adamw)
    for (const MatrixGroup& group : matrix_groups(tensors_of(s)))
      orthogonal =
          std::max(orthogonal, 4. * moments_of(o.optimizer) * double(group.members.size()) *
                                   (double(group.each()) + double(group.m) * group.m));
  return fixed + moments + std::max(saved + scratch + logits, orthogonal) + 16 * n + 0x1p25;
}

TEST(DryGpt, PeakIsTheFormula) {
  for (const Model model : {Model::tiny, Model::small, Model::llama3_150m, Model::gpt2_124m})
    for (const Optimizer optimizer : optimizers) {
      const Options options = on_device(model, optimizer);
      const double peak = double(dry(Unit::train_step, options).backend->ledger.peak_bytes);
      const double formula =
          double(formula_peak_bytes(Variant::optimized, Unit::train_step, options));
      EXPECT_NEAR(peak / formula, 1, 0.002) << model_words.of(model);
      // Logits are separate from the memory that Newton-Schulz reuses: 0.06 % above the published
      // percent.
      EXPECT_NEAR(peak / published_peak(options), 1, 0.011) << model_words.of(model);
    }
  for (const Unit unit :
       {Unit::forward, Unit::forward_backward, Unit::layer_forward, Unit::layer_backward,
        Unit::attention_forward, Unit::attention_backward, Unit::lm_head, Unit::update}) {
    const Options options = on_device(Model::small);
    EXPECT_NEAR(double(dry(unit, options).backend->ledger.peak_bytes) /
                    double(formula_peak_bytes(Variant::optimized, unit, options)),
                1, 0.002)
        << int(unit);
  }
}

TEST(DryGpt, WhatDoesNotFitIsRefusedWithTheFormulasParts) {
  const auto backend = open_backend("cuda-dry:sm_90");
  constexpr std::int64_t free = 4'000'000'000;
  backend->ledger.limit_to(free);
  const Options options = on_device(Model::llama3_150m);
  const Shape& s = options.shape;
  const std::int64_t moments = 4 * (4 * std::int64_t{s.vocabulary} * s.width +
                                    (2 * s.layers + 1) * s.width + 2 * matrix_count(s));
  const std::string refusal =
      refusal_of([&] { (void)make(Unit::train_step, *backend, Variant::optimized, options); },
                 Fault::out_of_memory);
  const std::int64_t bytes = formula_peak_bytes(Variant::optimized, Unit::train_step, options);
  EXPECT_TRUE(refusal.starts_with(text("it would hold ", bytes, " bytes (parameters"))) << refusal;
  for (const std::string& part : {text(", moments ", moments, ", activations "),
                                  text(", logits ", 2 * 2048 * 50432, ", others "),
                                  text("), and ", free, " are free; choose a smaller batch")})
    EXPECT_NE(refusal.find(part), refusal.npos) << refusal;
  EXPECT_EQ(backend->ledger.peak_bytes, 0);
}

struct Nonsense {
  void (*spoil)(Options&);
  const char* sentence;
};

TEST(DryGpt, WhatADeviceDoesNotTakeIsRefused) {
  const Nonsense all[] = {
      {[](Options& o) { o.precision = Precision::f32; },
       "dtype f32 is a host's; a device takes bf16"},
      {[](Options& o) { o.shape.head = 48; },
       "unsupported head width 48: a device takes 32, 64 or 128"},
      {[](Options& o) { o.shape.width = 100; },
       "width = 100: a device reads eight numbers at a time, so it must be a multiple of 8"},
      {[](Options& o) { o.shape.inner = 388; },
       "inner = 388: a device reads eight numbers at a time, so it must be a multiple of 8"},
      {[](Options& o) { o.shape.vocabulary = 61; },
       "vocabulary = 61: a device reads eight numbers at a time, so it must be a multiple of 8"}};
  for (const auto& [spoil, sentence] : all) {
    Options options = on_device(Model::tiny);
    spoil(options);
    EXPECT_EQ(refusal_of([&] { (void)dry(Unit::train_step, options); }), sentence);
  }
  const auto host = open_backend("host");
  EXPECT_EQ(refusal_of([&] {
              (void)make(Unit::forward, *host, Variant::optimized, on_device(Model::tiny));
            }),
            "dtype bf16 is a device's; a host takes f32 or f64");
}

}  // namespace
}  // namespace holdfast::gpt_train
