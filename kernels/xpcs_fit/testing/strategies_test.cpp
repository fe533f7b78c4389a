// SPDX-License-Identifier: Apache-2.0
// Fits by every strategy on the host: the same answer for any parts of the data.
#include <gmock/gmock.h>

#include <utility>

#include "testing/error_of.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

using testing::HasSubstr;

// Chunks begin in the middle of a row, and the last one is shorter.
constexpr std::int64_t thousand = 1000;

struct Way {
  Strategy strategy;
  DataSource source;
};
constexpr Way ways[] = {
    {Strategy::standard, DataSource::resident},  {Strategy::large, DataSource::resident},
    {Strategy::chunked, DataSource::resident},   {Strategy::chunked, DataSource::host},
    {Strategy::streaming, DataSource::resident}, {Strategy::streaming, DataSource::host}};

std::vector<double> fitted(Variant variant, const Problem& problem, Way way, int passes,
                           std::function<void(int, int)> told = {}) {
  const auto backend = open_backend("host");
  return result_of(*make_fit(*backend, variant, problem,
                             {.strategy = way.strategy,
                              .source = way.source,
                              .chunk = thousand,
                              .passes = passes,
                              .told = std::move(told)}),
                   2);
}

TEST(XpcsStrategies, GiveTheSameFit) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem({4, 48}, {.mode = mode}, 0.01);
    const oracle::Fit expected = oracle::fit(one), accounted = oracle::fit(one, accounted_passes);
    for (const Variant variant : {Variant::reference, Variant::optimized})
      for (const Way way : ways) {
        const std::vector<double> fit = fitted(variant, one, way, 0);
        EXPECT_EQ(fit[1], expected.passes);
        EXPECT_EQ(fit[2], converged);
        expect_parameters(fit, expected, 1e-6);
        EXPECT_NEAR(fitted(variant, one, way, accounted_passes)[0] / accounted.cost, 1, 1e-9);
      }
  }
}

// Moved points change the fit in whatever way they are read, and all ways agree.
TEST(XpcsStrategies, ReadEveryPoint) {
  const Problem one = problem({4, 48}, {}, 0.01);
  for (unsigned draw = 0; draw < std::size(ways); ++draw) {
    const Problem moved = with_moved_points(one, 20, 7 + draw);
    const oracle::Fit expected = oracle::fit(moved, accounted_passes);
    const Way way = ways[draw];
    for (const Variant variant : {Variant::reference, Variant::optimized})
      EXPECT_NEAR(fitted(variant, moved, way, accounted_passes)[0] / expected.cost, 1, 1e-9);
    const auto backend = open_backend("host");
    const auto flat = make_stream(
        *backend, moved, {.batch = 500, .passes = accounted_passes, .order = BatchOrder::flat});
    EXPECT_NEAR(result_of(*flat)[0] / expected.cost, 1, 1e-9);
  }
}

TEST(XpcsStrategies, FollowTheOtherParametersWhereTheContrastRests) {
  const Problem one = with_resting_contrast(problem({4, 48}, {}, 0.01));
  const oracle::Fit expected = oracle::fit(one, accounted_passes);
  EXPECT_EQ(expected.parameters[0], 0.2);
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const Way way : ways)
      EXPECT_NEAR(fitted(variant, one, way, accounted_passes)[0] / expected.cost, 1, 1e-9);
  const auto backend = open_backend("host");
  const auto flat = make_stream(
      *backend, one, {.batch = 500, .passes = accounted_passes, .order = BatchOrder::flat});
  EXPECT_NEAR(result_of(*flat)[0] / expected.cost, 1, 1e-9);
}

TEST(XpcsStrategies, TellEveryChunkInItsOrder) {
  const Problem one = problem({4, 48}, {}, 0.01);
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const DataSource source : {DataSource::resident, DataSource::host}) {
      std::vector<std::pair<int, int>> told;
      (void)fitted(variant, one, {Strategy::chunked, source}, accounted_passes,
                   [&](int pass, int chunk) { told.emplace_back(pass, chunk); });
      // Ten batches, of 1000 points or of five rows of every angle; two steps.
      ASSERT_EQ(told.size(), 2 * 8 * 10);
      for (int k = 0; k < 160; ++k) EXPECT_EQ(told[k], std::pair(k / 10 % 8, k % 10));
    }
}

TEST(XpcsStrategies, HoldWhatTheFormulaSays) {
  const Problem one = problem({8, 64}, {}, 0.01);
  for (const Way way : ways)
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      // The plain stream also has batches beside the resident data; no formula covers it.
      const bool plain_twice = variant == Variant::reference &&
                               way.strategy == Strategy::streaming &&
                               way.source == DataSource::resident;
      if (way.strategy < Strategy::chunked || plain_twice) continue;
      const StrategyOptions options = {
          .strategy = way.strategy, .source = way.source, .chunk = 8192};
      const auto backend = open_backend("host");
      const auto fit = make_fit(*backend, variant, one, options);
      fit->step();
      const auto estimate =
          static_cast<double>(estimate_fit_bytes(*backend, variant, one, options));
      EXPECT_NEAR(static_cast<double>(backend->ledger.peak_bytes) / estimate, 1, 0.02);
    }
}

TEST(XpcsStrategies, RefuseWhatTheyAreNot) {
  const auto backend = open_backend("host");
  const Problem one = problem({4, 48}, {}), robust = problem({4, 48}, {.loss = Loss::soft_l1});
  const auto refusal = [&](const Problem& of, const StrategyOptions& options) {
    return refusal_of([&] { return make_fit(*backend, Variant::reference, of, options); });
  };
  EXPECT_THAT(refusal(one, {.source = DataSource::host}),
              HasSubstr("invalid_option: a fit whose strategy is standard has its data resident"));
  EXPECT_THAT(refusal(one, {.strategy = Strategy::large}), HasSubstr("not of 0"));
  EXPECT_THAT(refusal(one, {.passes = 3}), HasSubstr("makes 8 passes or as many as it takes"));
  EXPECT_THAT(refusal(robust, {.strategy = Strategy::chunked, .chunk = 10}),
              HasSubstr("is linear, in f64"));
}

}  // namespace
}  // namespace holdfast::xpcs_fit
