// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_code/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#ifdef HOLDFAST_CUDA
#include "runtime/backend/backend.hpp"
#include "runtime/sources.hpp"
#endif

namespace holdfast {
namespace {

// The first outputs of splitmix64.c for the seed 1234567, as other implementations publish them.
TEST(SplitMix, GivesThePublishedSequence) {
  const unsigned long long published[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                          9817491932198370423ULL, 4593380528125082431ULL,
                                          16408922859458223821ULL};
  unsigned long long state = 1234567;
  for (const auto expected : published) EXPECT_EQ(mix64(state += golden_gamma), expected);
}

TEST(SplitMix, ValuesAreUniformFromMinusOneToOne) {
  double sum = 0, lowest = 1, highest = -1;
  for (int k = 0; k < 100000; ++k) {
    const double x = value(1, k);
    sum += x;
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
  }
  EXPECT_NEAR(sum / 100000, 0, 0.01);
  EXPECT_LT(lowest, -0.999);
  EXPECT_GT(highest, 0.999);
  EXPECT_GE(lowest, -1);
  EXPECT_LT(highest, 1);
}

TEST(SplitMix, ValuesAreExact) {
  EXPECT_EQ(value(1, 0), -0.7510546255160708);
  EXPECT_EQ(value(1, 2), -0.6831210755435031);
  EXPECT_EQ(value(3, 0), 0.7728005117422143);
}

void expect_words(const Philox4x32& result, const Philox4x32& published) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(result.word[i], published.word[i]) << "word " << i;
}

// Random123's kat_vectors.
TEST(Philox, GivesThePublishedVectors) {
  expect_words(philox4x32_10({{0, 0, 0, 0}}, 0, 0),
               {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  const unsigned ones = 0xffffffff;
  expect_words(philox4x32_10({{ones, ones, ones, ones}}, ones, ones),
               {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect_words(
      philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0),
      {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

#ifdef HOLDFAST_CUDA
TEST(Random, NvrtcComputesTheSame) {
  const Source code{"test/random.cu",
                    "#include \"runtime/device_code/random.hpp\"\n"
                    "static_assert(holdfast::mix64(1234567 + holdfast::golden_gamma) ==\n"
                    "              6457827717110365317ULL);\n"
                    "static_assert(holdfast::value(1, 0) == -0.7510546255160708);\n"
                    "static_assert(holdfast::philox4x32_10({{0, 0, 0, 0}}, 0, 0).word[3] ==\n"
                    "              0x9b00dbd8);\n"
                    "__global__ void fill(double* x) { x[threadIdx.x] =\n"
                    "    holdfast::value(1, threadIdx.x); }"};
  const auto backend = open_backend("cuda-dry:sm_90");
  EXPECT_NO_THROW(backend->compiler->compile(
      {.code = code,
       .headers = {runtime::sources::both_hpp, runtime::sources::random_hpp},
       .entries = {"fill"}}));
}
#endif

}  // namespace
}  // namespace holdfast
