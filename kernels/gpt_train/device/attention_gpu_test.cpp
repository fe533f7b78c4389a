// SPDX-License-Identifier: Apache-2.0
// Tiled attention on a real GPU against the oracle.
#include "gpt_train/testing/attention_samples.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast::gpt_train {
namespace {

class AttentionOnGpu : public testing::TestWithParam<Sample> {};
INSTANTIATE_TEST_SUITE_P(All, AttentionOnGpu, testing::ValuesIn(samples),
                         [](const auto& tested) { return tested.param.name; });

// More tiles than stages in flight, and rows that end within one.
INSTANTIATE_TEST_SUITE_P(Long, AttentionOnGpu,
                         testing::Values(Sample{"documents", 2, 2, 64, 2, 1000, 300, 100},
                                         Sample{"one_document", 1, 1, 64, 1, 1024, 0, 0}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(AttentionOnGpu, AgreesWithTheOracleRowByRow) {
  const AttentionInput in = GetParam().input();
  expect_attention(attended(*open_backend("cuda"), in), in,
                   in.shape.columns < 1000 ? limits : limits_of_long);
}

TEST_P(AttentionOnGpu, RepeatsBitForBit) {
  const AttentionInput in = GetParam().input();
  const auto backend = open_backend("cuda");
  expect_same_bits(attended(*backend, in), attended(*backend, in));
}

}  // namespace
}  // namespace holdfast::gpt_train

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
