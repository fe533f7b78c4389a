// SPDX-License-Identifier: Apache-2.0
// The optimisers' rates, which the oracle and the variants share.
#include "gpt_train/problem/rates.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::gpt_train {
namespace {

TEST(GptRates, WeightsOfTimescalesArePublished) {
  const auto expect = [](Optimizer optimizer, const std::vector<double>& published, double to) {
    const Rates rates = rates_of({.optimizer = optimizer}, 0);
    ASSERT_EQ(rates.timescales.size(), published.size());
    for (std::size_t k = 0; k < published.size(); ++k)
      EXPECT_NEAR(rates.timescales[k].weight, published[k], to) << k;
  };
  expect(Optimizer::muon, {0.9999995}, 5e-8);
  expect(Optimizer::multiscale, {0.87416503, 0.21595315, 0.05382971}, 5e-9);
}

// A step trains 256 tokens.
TEST(GptRates, WarmUpEndsWhereAllOfItsTokensAreTrained) {
  const Options options = {
      .optimizer = Optimizer::multiscale, .learning_rate = 0.02, .warm_tokens = 2560};
  const Options at_its_end = {.optimizer = Optimizer::multiscale, .learning_rate = 0.02, .warm = 1};
  const double whole = rates_of(at_its_end, 0).norm.rate;
  for (const int before : {0, 1, 5, 10, 11, 1000}) {
    const double share = before < 10 ? before / 10. : 1;
    const Rates rates = rates_of(options, before);
    EXPECT_DOUBLE_EQ(rates.norm.rate, share * whole) << before;
    EXPECT_DOUBLE_EQ(rates.timescales[2].gain,
                     share * share * share * share * (1 - rates.timescales[2].beta))
        << before;
  }
}

}  // namespace
}  // namespace holdfast::gpt_train
