// SPDX-License-Identifier: Apache-2.0
// Tiled attention: its results on the emulated device, and its compilation.
#include "gpt_train/device/attention.hpp"

#include <gmock/gmock.h>

#include "gpt_train/testing/attention_on_cpu.hpp"
#include "gpt_train/testing/attention_samples.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

using testing::HasSubstr;

std::unique_ptr<Backend> emulated(int head, emulation::Order order = emulation::Order::forward) {
  EmulatedKernels kernels;
  add_attention(kernels, head);
  return make_emulated_backend(std::move(kernels), {.order = order});
}

class AttentionSample : public testing::TestWithParam<Sample> {};
INSTANTIATE_TEST_SUITE_P(All, AttentionSample, testing::ValuesIn(samples),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(AttentionSample, AgreesWithTheOracleRowByRow) {
  const AttentionInput in = GetParam().input();
  expect_attention(attended(*emulated(in.shape.head), in), in);
}

// The other order reverses threads, blocks and copies.
TEST_P(AttentionSample, HasTheSameBitsInEveryOrderOfItsThreads) {
  const AttentionInput in = GetParam().input();
  expect_same_bits(attended(*emulated(in.shape.head), in),
                   attended(*emulated(in.shape.head, emulation::Order::backward), in));
}

// A NaN poisons everything multiplied by it, even with a share of zero.
TEST(Attention, LooksAtNoTileThatNobodySees) {
  AttentionInput in =
      Sample{.groups = 1, .repeats = 1, .head = 32, .batch = 1, .columns = 192}.input();
  for (int n = 0; n < 192; ++n) in.segments[std::size_t(n)] = n / 64;
  for (int i = 64 * 32; i < 128 * 32; ++i) in.q[i] = in.k[i] = in.v[i] = in.d_o[i] = NAN;
  const AttentionOutput found = attended(*emulated(32), in);
  for (const Values* values : {&found.o, &found.d_q, &found.d_k, &found.d_v})
    for (int i = 0; i < 192 * 32; ++i)
      ASSERT_EQ(std::isnan((*values)[std::size_t(i)]), i / (64 * 32) == 1) << i;
}

TEST(Attention, OneWrongBitOfTheMaskIsFound) {
  const AttentionInput in = samples[1].input();
  ASSERT_EQ(in.segments[planted_query], in.segments[planted_key]);
  EmulatedKernels kernels;
  add_planted_attention(kernels, 64);
  const auto backend = make_emulated_backend(std::move(kernels));
  const AttentionOutput found = attended(*backend, in), expected = expected_attention(in);
  EXPECT_GT(worst_row(found.o, expected.o, 64), 2 * limits.o);
  EXPECT_GT(worst_row(found.d_q, expected.d_q, 64), 2 * limits.d_q);
  EXPECT_GT(worst_row(found.d_k, expected.d_k, 64), 2 * limits.d_k);
  EXPECT_GT(worst_row(found.d_v, expected.d_v, 64), 2 * limits.d_v);
}

TEST(Attention, TakesOneLaunchForwardAndTwoBackward) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const AttentionInput in = samples[0].input();
  (void)attended(*backend, in);
  EXPECT_EQ(backend->ledger.counts.launches, 4);  // and one for the batch
  EXPECT_EQ(backend->ledger.counts.programs, 1);
}

TEST(Attention, HoldsALineOfTilesAndNoSquare) {
  const auto held = [](int columns) {
    const auto backend = open_backend("cuda-dry:sm_90");
    const Shape shape = {.groups = 2, .repeats = 2, .head = 64, .batch = 3, .columns = columns};
    const TiledAttention attention(*backend, shape);
    EXPECT_EQ(backend->ledger.live_bytes, std::int64_t(TiledAttention::bytes(shape)));
    return backend->ledger.live_bytes;
  };
  EXPECT_EQ(held(2048), 2 * held(1024));
}

TEST(Attention, OfAnotherHeadWidthIsRefused) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const Error refused = error_of([&] { TiledAttention(*backend, {.head = 48}); });
  EXPECT_EQ(refused.fault(), Fault::bad_input);
  EXPECT_THAT(refused.what(), HasSubstr("unsupported head width 48"));
}

TEST(Attention, WithoutMatrixUnitsOfBf16IsRefused) {
  const auto backend = open_backend("cuda-dry:sm_75");
  EXPECT_THAT(error_of([&] { TiledAttention(*backend, {.head = 64}); }).what(),
              HasSubstr("sm_80 or later"));
}

class AttentionKernelsOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Heads, AttentionKernelsOf, testing::Values(32, 64, 128),
                         testing::PrintToStringParamName());

TEST_P(AttentionKernelsOf, KeepsItsNumbersInRegisters) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const AttentionKernels kernels(*backend->compiler, GetParam());
  for (const Function& function : backend->compiler->programs().front()->functions) {
    EXPECT_EQ(function.spill_bytes, 0) << function.expression;
    // No model has heads of width 128.
    if (GetParam() < 128) {
      EXPECT_LE(function.registers, 240) << function.expression;
    }
  }
}

// The PTX of one kernel, from its name to its end.
std::string ptx_of(const Compiled& program, const Function& function) {
  const auto begin = program.ptx.find(".entry " + function.name);
  return program.ptx.substr(begin, program.ptx.find("\n}", begin) - begin);
}

TEST_P(AttentionKernelsOf, MultipliesOnMatrixUnitsWhatIsCopiedBehindItsBack) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const AttentionKernels kernels(*backend->compiler, GetParam());
  const Compiled& program = *backend->compiler->programs().front();
  for (const Function* function : {&kernels.attend.function(), &kernels.back_queries.function(),
                                   &kernels.back_keys.function()}) {
    const std::string ptx = ptx_of(program, *function);
    for (const char* wanted : {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "cp.async.cg",
                               "cp.async.wait_group 1", "ldmatrix.sync.aligned.m8n8.x4.trans"})
      EXPECT_THAT(ptx, HasSubstr(wanted)) << function->expression;
  }
}

TEST(AttentionProgram, CompilesForEveryArchitectureWithSuchUnits) {
  for (const int sm : {80, 89, 100}) {
    const auto backend = open_backend(text("cuda-dry:sm_", sm));
    EXPECT_NO_THROW(AttentionKernels(*backend->compiler, 64));
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
