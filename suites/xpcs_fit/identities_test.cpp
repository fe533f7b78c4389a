// SPDX-License-Identifier: Apache-2.0
// Identities of sums for any numbers: they equal those of their parts and, since the model is
// symmetric in its two frames, those of both points of a pair folded into one.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

// The rounding error of sums, each by its own scale: at most 2e-15 was observed.
constexpr double rounding = 1e-14;
constexpr Size few_points = {5, 37};
constexpr Variant both_variants[] = {Variant::optimized, Variant::reference};

std::vector<double> computed(Unit unit, Variant variant, const Problem& of) {
  const auto backend = open_backend("host");
  return result_of(*make(unit, *backend, variant, of));
}
// F, g, N.
std::vector<double> sums_of(Variant variant, const Problem& of) {
  return computed(Unit::normal_equations, variant, of);
}

Problem with(const Problem& one, const auto& change) {
  const auto input = std::make_shared<Input>(*one.input);
  Problem other = one;
  change(*input, other.options);
  other.input = input;
  return other;
}

// Calls visit(flat index of i, j; of j, i) for each pair of different frames at each angle.
void for_pairs(const Size& size, const auto& visit) {
  for (int a = 0; a < size.angles; ++a)
    for (std::int64_t i = 0; i < size.frames; ++i)
      for (std::int64_t j = i + 1; j < size.frames; ++j)
        visit(a * size.plane() + i * size.frames + j, a * size.plane() + j * size.frames + i);
}

// Both points of a pair are replaced by their average. The cost removed by this is independent of
// the model: 1/4 sum (d_ij - d_ji)^2 over pairs.
struct Folded {
  Problem problem;
  double cost = 0;
};
Folded folded(const Problem& one) {
  Folded all;
  all.problem = with(one, [&](Input& input, Options&) {
    for_pairs(input.size, [&](std::int64_t above, std::int64_t below) {
      double &upper = input.data[above], &lower = input.data[below];
      all.cost += (upper - lower) * (upper - lower) / 4;
      upper = lower = (upper + lower) / 2;
    });
  });
  return all;
}

// F from one point of each pair.
double cost_of_pairs(const Folded& from, const std::vector<double>& model) {
  const Input& input = *from.problem.input;
  const auto square = [&](std::int64_t k) {
    return (model[k] - input.data[k]) * (model[k] - input.data[k]);
  };
  double cost = from.cost;
  for_pairs(input.size, [&](std::int64_t above, std::int64_t) { cost += square(above); });
  for (int a = 0; a < input.size.angles; ++a)
    for (std::int64_t i = 0; i < input.size.frames; ++i)
      cost += square(a * input.size.plane() + i * (input.size.frames + 1)) / 2;
  return cost;
}

struct OfBothModes : testing::TestWithParam<Mode> {
  static Problem noisy(Options options = {}) {
    options.mode = GetParam();
    return problem(few_points, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Xpcs, OfBothModes, testing::Values(Mode::at_rest, Mode::laminar),
                         [](const auto& mode) {
                           return mode.param == Mode::laminar ? "laminar" : "at_rest";
                         });

TEST_P(OfBothModes, ACostIsThatOfFoldedPairs) {
  const Problem one = noisy();
  for (const Variant variant : both_variants) {
    const double cost = cost_of_pairs(folded(one), computed(Unit::g2, variant, one));
    EXPECT_NEAR(computed(Unit::residual, variant, one)[0] / cost, 1, rounding);
    EXPECT_NEAR(sums_of(variant, one)[0] / cost, 1, rounding);
  }
}

TEST_P(OfBothModes, NormalEquationsAreThoseOfFoldedPairs) {
  for (const Scaling scaling : {Scaling::shared, Scaling::per_angle}) {
    const Problem one = noisy({.scaling = scaling});
    const Folded half = folded(one);
    for (const Variant variant : both_variants) {
      std::vector<double> sums = sums_of(variant, half.problem);
      sums[0] += half.cost;
      EXPECT_LT(oracle::distance(sums, sums_of(variant, one)), rounding);
    }
  }
}

TEST_P(OfBothModes, AFitIsThatOfFoldedPairs) {
  const Problem one = noisy();
  const Folded half = folded(one);
  for (const Variant variant : both_variants) {
    const std::vector<double> fit = computed(Unit::fit, variant, one),
                              other = computed(Unit::fit, variant, half.problem);
    EXPECT_LT(pulls_apart(other, fit), most_apart);
    EXPECT_NEAR((other[0] + half.cost) / fit[0], 1, rounding);
  }
}

// Adds each sum to that of the parts before.
void add_to(std::vector<double>& total, const std::vector<double>& part) {
  total.resize(part.size());
  for (std::size_t k = 0; k < part.size(); ++k) total[k] += part[k];
}

// Points of one part keep their weights, and all others get almost none: neighbours belong to
// different parts.
TEST_P(OfBothModes, SumsAreThoseOfTheirPartsPointByPoint) {
  constexpr double next_to_none = 1e-10;  // its square is below rounding
  for (const Scaling scaling : {Scaling::shared, Scaling::per_angle})
    for (const Loss loss : {Loss::linear, Loss::soft_l1})
      for (const Weights weights : {Weights::unit, Weights::array})
        for (const Variant variant : both_variants) {
          const Problem whole =
              noisy({.scaling = scaling, .loss = loss, .weights = weights, .loss_scale = 0.1});
          std::vector<double> total;
          for (std::size_t part = 0; part < 3; ++part)
            add_to(total, sums_of(variant, with(whole, [&](Input& input, Options& options) {
                                    options.weights = Weights::array;
                                    input.weights.resize(input.data.size(), 1);
                                    for (std::size_t k = 0; k < input.data.size(); ++k)
                                      if (k * k % 7 % 3 != part) input.weights[k] *= next_to_none;
                                  })));
          EXPECT_LT(oracle::distance(total, sums_of(variant, whole)), rounding);
        }
}

// Each angle is a separate problem.
TEST_P(OfBothModes, SumsAreThoseOfTheirAngles) {
  const Problem whole = noisy();
  for (const Variant variant : both_variants) {
    std::vector<double> total;
    for (int a = 0; a < few_points.angles; ++a)
      add_to(total, sums_of(variant, with(whole, [&](Input& input, Options&) {
                              const auto begin = input.data.begin() + a * few_points.plane();
                              input.data = {begin, begin + few_points.plane()};
                              input.angles = {input.angles[static_cast<std::size_t>(a)]};
                              input.size.angles = 1;
                            })));
    EXPECT_LT(oracle::distance(total, sums_of(variant, whole)), rounding);
  }
}

// A fit's result after one pass, from its sums: the deviations come from the inverse of N.
std::vector<double> after_one_pass(const Problem& whole, const std::vector<double>& sums) {
  HostFit fit(whole, 1);
  fit.take(sums.data());
  return fit_result(fit.state(), freedom(whole));
}

// Streams of one pass, whose batches end within rows, at the last point or one before it.
TEST_P(OfBothModes, SumsAreThoseOfTheirBatches) {
  const Problem whole = noisy();
  const std::vector<double> expected = after_one_pass(whole, sums_of(Variant::optimized, whole));
  for (const BatchOrder order : {BatchOrder::flat, BatchOrder::rows})
    for (const std::int64_t batch : {1, 36, 512, 1000, 6844, 6845}) {
      double cost = 0;
      StreamOptions options = {.batch = batch, .passes = 1, .order = order};
      options.settings.watch = [&](const BatchRecord& record) { cost += record.cost; };
      const auto backend = open_backend("host");
      const std::vector<double> result = result_of(*make_stream(*backend, whole, options));
      EXPECT_NEAR(cost / expected[0], 1, rounding) << batch;
      EXPECT_NEAR(result[0] / expected[0], 1, rounding) << batch;
      ASSERT_EQ(result.size(), expected.size());
      for (std::size_t k = (3 + expected.size()) / 2; k < expected.size(); ++k)
        EXPECT_NEAR(result[k] / expected[k], 1, 1e-8) << batch << ' ' << k;
    }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
