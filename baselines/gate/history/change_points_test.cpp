// SPDX-License-Identifier: Apache-2.0
#include "gate/history/change_points.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>

namespace holdfast::gate {
namespace {

std::vector<std::size_t> begins(const std::vector<double>& values) {
  std::vector<std::size_t> out;
  for (const Segment& part : segment(values).segments) out.push_back(part.first);
  return out;
}

std::vector<double> levels(std::initializer_list<std::pair<std::size_t, double>> parts) {
  std::vector<double> values;
  for (const auto& [count, level] : parts) values.insert(values.end(), count, level);
  return values;
}

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ChangePoints, AnEmptySeriesHasNoSegment) {
  EXPECT_THAT(segment({}).segments, IsEmpty());
}

TEST(ChangePoints, OneOrTwoPointsAreOneSegment) {
  EXPECT_THAT(begins({7}), ElementsAre(0));
  EXPECT_THAT(begins({7, 9}), ElementsAre(0));
}

TEST(ChangePoints, AConstantSeriesIsOneSegment) {
  EXPECT_THAT(begins(levels({{40, 888}})), ElementsAre(0));
}

TEST(ChangePoints, AConstantSeriesIsNotSearched) {
  EXPECT_THAT(begins(levels({{300'000, 888}})), ElementsAre(0));  // minutes, if it were
}

TEST(ChangePoints, ACountThatStepsByOneChangesExactlyThere) {
  EXPECT_THAT(begins(levels({{20, 4}, {20, 5}, {20, 4}})), ElementsAre(0, 20, 40));
}

TEST(ChangePoints, ACountThatLeavesZeroIsAChange) {
  const std::vector<double> values = levels({{20, 0}, {20, 1}});
  EXPECT_THAT(begins(values), ElementsAre(0, 20));
  EXPECT_EQ(relative_change(0, 1), 1);
}

TEST(ChangePoints, AChangeIsFiniteWhateverTheLevels) {
  EXPECT_EQ(relative_change(5e-324, 1), std::numeric_limits<double>::max());
  EXPECT_EQ(relative_change(1e-3, -1e308), std::numeric_limits<double>::lowest());
  EXPECT_EQ(segment({1e308, 1.2e308}).segments.front().median, 1.1e308);
}

TEST(ChangePoints, TwoPointsAtANewLevelAreNotYetASegment) {
  EXPECT_THAT(begins(levels({{20, 4}, {2, 5}})), ElementsAre(0));
  EXPECT_THAT(begins(levels({{20, 4}, {3, 5}})), ElementsAre(0, 20));
}

TEST(ChangePoints, AChangeUnderOnePercentIsTakenBack) {
  EXPECT_THAT(begins(levels({{20, 1000}, {20, 1009}})), ElementsAre(0));
  EXPECT_THAT(begins(levels({{20, 1000}, {20, 1011}})), ElementsAre(0, 20));
}

TEST(ChangePoints, OneWildPointIsAnOutlierAndNoChange) {
  std::vector<double> values = levels({{40, 1.0}});
  values[17] = 3.0;
  const Segmentation result = segment(values);
  EXPECT_EQ(result.segments.size(), 1u);
  EXPECT_TRUE(result.outliers[17]);
  EXPECT_EQ(std::count(result.outliers.begin(), result.outliers.end(), true), 1);
}

TEST(ChangePoints, SegmentsCoverTheSeriesWithTheirMedians) {
  const Segmentation result = segment(levels({{10, 2.0}, {15, 3.0}}));
  ASSERT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.segments[0].last, 9u);
  EXPECT_EQ(result.segments[1].last, 24u);
  EXPECT_THAT(result.segments[1].median, DoubleNear(3.0, 1e-12));
}

// Series with known steps in the kinds of noise that performance histories show. The generator is
// written out, because the distributions of <random> differ between standard libraries.
enum class Noise { gaussian, outliers, autocorrelated, bimodal };
constexpr Noise all_noises[] = {Noise::gaussian, Noise::outliers, Noise::autocorrelated,
                                Noise::bimodal};
constexpr double deviation = 0.01;      // of one commit's value, relative
constexpr std::size_t near_enough = 5;  // commits between a true change and the one found

class Generator {
 public:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double normal() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

  // `steps`: index to the logarithm of the change.
  std::vector<double> series(Noise noise, std::size_t length,
                             const std::map<std::size_t, double>& steps) {
    std::vector<double> values;
    double level = 0;
    double slow = normal();
    for (std::size_t i = 0; i < length; ++i) {
      if (const auto step = steps.find(i); step != steps.end()) level += step->second;
      double error = 0;
      if (noise == Noise::gaussian) error = normal();
      if (noise == Noise::outliers) error = normal() + (uniform() < 0.05 ? 5 + 10 * uniform() : 0);
      if (noise == Noise::autocorrelated) error = slow = 0.5 * slow + std::sqrt(0.75) * normal();
      if (noise == Noise::bimodal) error = 0.5 * normal() + (uniform() < 0.3 ? 2 : 0);
      values.push_back(std::exp(level + deviation * error));
    }
    return values;
  }

  // Up to three steps of 2 to 10 %, up or down, at least ten commits apart.
  std::map<std::size_t, double> some_steps(std::size_t length) {
    constexpr double sizes[] = {0.02, 0.03, 0.05, 0.10};
    std::map<std::size_t, double> steps;
    for (auto left = static_cast<int>(4 * uniform()); left > 0; --left) {
      const auto at = 10 + static_cast<std::size_t>(uniform() * static_cast<double>(length - 20));
      const double size = std::log1p(sizes[static_cast<std::size_t>(4 * uniform())]);
      const double sign = uniform() < 0.5 ? -1 : 1;
      const bool apart = std::all_of(steps.begin(), steps.end(), [&](const auto& step) {
        return std::max(at, step.first) - std::min(at, step.first) >= 10;
      });
      if (apart) steps[at] = sign * size;
    }
    return steps;
  }

 private:
  std::mt19937_64 random_{20261121};
};

bool close(std::size_t a, std::size_t b) {
  return std::max(a, b) - std::min(a, b) <= near_enough;
}

struct Score {
  double hits = 0, false_ones = 0, missed = 0;
  double f1() const { return 2 * hits / (2 * hits + false_ones + missed); }
};

Score score(Generator& generator, Noise noise, int repetitions) {
  Score total;
  for (int i = 0; i < repetitions; ++i) {
    const auto steps = generator.some_steps(120);
    std::set<std::size_t> left;
    for (const auto& [at, size] : steps) left.insert(at);
    for (const std::size_t found : begins(generator.series(noise, 120, steps))) {
      if (found == 0) continue;
      const auto hit =
          std::find_if(left.begin(), left.end(), [&](std::size_t at) { return close(at, found); });
      if (hit == left.end()) {
        ++total.false_ones;
      } else {
        ++total.hits;
        left.erase(hit);
      }
    }
    total.missed += static_cast<double>(left.size());
  }
  return total;
}

// Changes reported at any time while a series without any grows commit by commit, per 100 commits.
double false_changes_per_100(Generator& generator, Noise noise, int repetitions) {
  double reported = 0;
  double commits = 0;
  for (int i = 0; i < repetitions; ++i) {
    const std::vector<double> values = generator.series(noise, 120, {});
    std::vector<std::size_t> known;
    for (std::size_t length = 20; length <= values.size(); ++length, ++commits) {
      for (const std::size_t found :
           begins({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(length)})) {
        if (found == 0 ||
            std::any_of(known.begin(), known.end(), [&](std::size_t k) { return close(k, found); }))
          continue;
        known.push_back(found);
        ++reported;
      }
    }
  }
  return 100 * reported / commits;
}

// The share of steps of this size, at commit 60, that are found `later` commits on.
double found_within(Generator& generator, double size, std::size_t later, int repetitions) {
  double found = 0;
  for (const Noise noise : all_noises) {
    for (int i = 0; i < repetitions; ++i) {
      const auto all = begins(generator.series(noise, 60 + later, {{60, std::log1p(size)}}));
      found += std::any_of(all.begin(), all.end(), [](std::size_t at) { return close(at, 60); });
    }
  }
  return found / (static_cast<double>(std::size(all_noises)) * repetitions);
}

// Measured on these series: F1 0.934, 0.39 false changes per 100 commits, a 5 % step found in 98.5
// % within 5 commits and always within 10, a 2 % step in 63 % within 10 and in 92 % within 30. On
// the mixture that the method was chosen on, which has recorded noise as well, it was 0.88, 0.33,
// 99 and 100 %, 69 and 88 %.
TEST(ChangePoints, FindTheStepsOfGeneratedSeries) {
  Generator generator;
  Score total;
  for (const Noise noise : all_noises) {
    const Score one = score(generator, noise, 100);
    total = {total.hits + one.hits, total.false_ones + one.false_ones, total.missed + one.missed};
  }
  EXPECT_GE(total.f1(), 0.92);
}

TEST(ChangePoints, StandStillWhereGeneratedSeriesDo) {
  Generator generator;
  double total = 0;
  for (const Noise noise : all_noises) total += false_changes_per_100(generator, noise, 25);
  EXPECT_LE(total / 4, 0.45);
}

// The share of series of this length, without a step, in which a change is found.
double changed_share(Generator& generator, std::size_t length, int repetitions) {
  double changed = 0;
  for (const Noise noise : all_noises)
    for (int i = 0; i < repetitions; ++i)
      changed += begins(generator.series(noise, length, {})).size() > 1 ? 1 : 0;
  return changed / (static_cast<double>(std::size(all_noises)) * repetitions);
}

// Every series is that short in the first nights on another driver or branch: measured 1 to 5 % of
// series with a change; 15 % at 11 points without the allowance for few.
TEST(ChangePoints, StandStillInShortSeriesToo) {
  Generator generator;
  for (const std::size_t length : {6, 7, 8, 9, 10, 11, 12, 13, 15, 17, 20}) {
    const double share = changed_share(generator, length, 500);
    EXPECT_LE(share, 0.05) << length;
  }
}

// Measured 0.5 %; 1.4 % without the allowance for few.
TEST(ChangePoints, FifteenPointsAreAllowedMoreNoiseThanTwenty) {
  Generator generator;
  EXPECT_LE(changed_share(generator, 15, 500), 0.009);
}

// Two steps of one sign look like slow noise: measured 177 of 200, and 139 where such noise is
// taken to be correlated by up to 0.9.
TEST(ChangePoints, TwoStepsOfOneSignAreNotTakenForSlowNoise) {
  Generator generator;
  const double size = std::log1p(0.05);
  int found = 0;
  for (int i = 0; i < 200; ++i)
    found +=
        begins(generator.series(Noise::autocorrelated, 40, {{13, size}, {26, size}})).size() == 3;
  EXPECT_GE(found, 165);
}

TEST(ChangePoints, ATenPercentStepIsFoundInSixPoints) {
  Generator generator;
  int found = 0;
  for (int i = 0; i < 200; ++i)
    found +=
        begins(generator.series(Noise::gaussian, 6, {{3, std::log1p(0.1)}})).size() > 1 ? 1 : 0;
  EXPECT_GE(found, 185);
}

// From the third week of nights on: between 12 and 18 points hardly one such step was found, and
// of two none below 30.
TEST(ChangePoints, ALargeStepIsFoundWhereverItIsInAShortSeries) {
  Generator generator;
  for (std::size_t length = 6; length <= 24; ++length)
    for (std::size_t at = 3; at + 3 <= length; ++at)
      EXPECT_GT(begins(generator.series(Noise::gaussian, length, {{at, std::log1p(0.5)}})).size(),
                1u)
          << at << " of " << length;
}

TEST(ChangePoints, ALossAndItsRepairAreBothFoundInAShortSeries) {
  Generator generator;
  for (std::size_t length = 14; length <= 36; length += 2) {
    const double size = std::log1p(0.5);
    const auto values =
        generator.series(Noise::gaussian, length, {{length / 3, size}, {2 * length / 3, -size}});
    EXPECT_EQ(begins(values).size(), 3u) << length;
  }
}

TEST(ChangePoints, AFivePercentStepIsFoundWithinFiveToTenCommits) {
  Generator generator;
  EXPECT_GE(found_within(generator, 0.05, 5, 100), 0.97);
  EXPECT_GE(found_within(generator, 0.05, 10, 100), 0.99);
}

// Many small losses of equal size leave no step in between, and a far lag takes them for noise.
TEST(ChangePoints, ARampIsFoundAsStepsInThirtyPoints) {
  for (const double total : {0.1, 0.17, 0.3}) {
    std::vector<double> values(30);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::pow(1 + total, static_cast<double>(i) / 29);
    const std::vector<Segment> parts = segment(values).segments;
    EXPECT_GT(parts.size(), 1u) << total;
    EXPECT_GT(parts.back().median / parts.front().median, 1 + total / 3) << total;
  }
}

TEST(ChangePoints, ATwoPercentStepIsFoundWithinTenToThirtyCommits) {
  Generator generator;
  EXPECT_GE(found_within(generator, 0.02, 10, 100), 0.60);
  EXPECT_GE(found_within(generator, 0.02, 30, 100), 0.90);
}

}  // namespace
}  // namespace holdfast::gate
