// SPDX-License-Identifier: Apache-2.0
// A result that is not a fit to all data is detected at every size.
#include "xpcs_fit/fit_oracles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/text.hpp"
#include "families/known.hpp"
#include "xpcs_fit/problem/fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

using Values = std::vector<double>;

Row row_of(NamedSize size, Mode mode, const Family<Row>& family = families::fit) {
  return {.family = &family, .size = size, .options = {.mode = mode}};
}

double distance_of(Unit unit, const Row& row, const Values& result) {
  const Oracle oracle = fit_oracle(unit, row);
  return oracle.distance(result, oracle.expected(1)) / oracle.limit;
}

// On the host, restricted to that many frames of that many angles.
const Values& fitted(Unit unit, Row row, int angles = 0, int frames = 0) {
  static Known<std::string, Values> known;
  row.angles = angles;
  row.frames = frames;
  const std::string key = text(static_cast<int>(unit), " ", static_cast<int>(row.options.mode), " ",
                               static_cast<int>(row.options.precision), " ", size_of(row).angles,
                               " ", size_of(row).frames);
  return known.of(key, [&] {
    const auto backend = open_backend("host");
    const auto fit = make(unit, *backend, Variant::optimized, problem_of(row, true));
    fit->step();
    return fit->result();
  });
}

// F, passes, status, then the expected values.
Values as_expected(const Row& row) {
  const Values known = fit_oracle(Unit::fit, row).expected(1);
  Values result = {known[1], accounted_passes, converged};
  const int p = parameter_count(row.options, size_of(row).angles);
  result.insert(result.end(), known.end() - 2 * p, known.end());
  return result;
}

struct OfAMode : testing::TestWithParam<Mode> {};
INSTANTIATE_TEST_SUITE_P(Both, OfAMode, testing::Values(Mode::at_rest, Mode::laminar),
                         [](const auto& mode) {
                           return mode.param == Mode::laminar ? "laminar" : "at_rest";
                         });

// Far below what derivatives in f32 would move.
TEST_P(OfAMode, SmallFitsAreAThirtiethOfWhatIsAllowedAway) {
  for (const Unit unit : {Unit::fit, Unit::converged_fit}) {
    const Row row = row_of(NamedSize::t, GetParam());
    EXPECT_LT(distance_of(unit, row, fitted(unit, row)), 1 / 30.) << static_cast<int>(unit);
  }
}

void expect_right(NamedSize size, Mode mode) {
  for (const Unit unit : {Unit::fit, Unit::converged_fit}) {
    const Row row = row_of(size, mode);
    EXPECT_LT(distance_of(unit, row, fitted(unit, row)), 1)
        << static_cast<int>(size) << ' ' << static_cast<int>(unit);
  }
}

// One that is solved, one that is published, and one whose truth is known.
TEST_P(OfAMode, FitsOfEveryKindOfSizeAreRight) {
  for (const NamedSize size : {NamedSize::t, NamedSize::s0, NamedSize::l})
    expect_right(size, GetParam());
}

TEST(NightlyFits, OfThePublishedSizeAreRight) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) expect_right(NamedSize::s, mode);
}

TEST_P(OfAMode, AFitOfFewerPointsIsWrong) {
  const Row row = row_of(NamedSize::l, GetParam());
  for (const int frames : {25, 50, 499})
    EXPECT_GT(distance_of(Unit::fit, row, fitted(Unit::fit, row, 20, frames)), 1) << frames;
}

// Changes F as other points would have, and nothing else of the fit.
void expect_less_is_wrong(NamedSize size, Mode mode, double share) {
  Row row = row_of(size, mode);
  row.strategy = Strategy::streaming;
  row.source = size > NamedSize::c ? DataSource::generated : DataSource::host;
  Values result = as_expected(row);
  EXPECT_LT(distance_of(Unit::fit, row, result), 1);
  result[0] *= 1 - share;
  EXPECT_GT(distance_of(Unit::fit, row, result), 1) << static_cast<int>(size);
}

// A row, a batch, a batch.
TEST_P(OfAMode, ACostOfFewerPointsIsWrong) {
  expect_less_is_wrong(NamedSize::l, GetParam(), 1 / 500.);
  expect_less_is_wrong(NamedSize::x, GetParam(), 0.035);
  if (GetParam() == Mode::at_rest) expect_less_is_wrong(NamedSize::xx, GetParam(), 0.004);
}

// A tail of a chunk of a million points, and a batch: these take seconds.
TEST(NightlyFits, ACostOfFewerPointsIsWrong) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    expect_less_is_wrong(NamedSize::c, mode, 0.002);
  expect_less_is_wrong(NamedSize::xx, Mode::laminar, 0.004);
}

TEST_P(OfAMode, NoFitAtAllIsWrong) {
  for (const NamedSize size : {NamedSize::t, NamedSize::l}) {
    const Row row = row_of(size, GetParam());
    const Values right = fitted(Unit::fit, row);
    const std::size_t p = (right.size() - 3) / 2;
    Values nothing(right.size());
    std::fill(nothing.end() - static_cast<std::ptrdiff_t>(p), nothing.end(), INFINITY);
    EXPECT_GT(distance_of(Unit::fit, row, nothing), 1);
    nothing[1] = accounted_passes;
    EXPECT_GT(distance_of(Unit::fit, row, nothing), 1);
    Values other = right;
    other[0] = -7;
    EXPECT_GT(distance_of(Unit::fit, row, other), 1);
    other = right;
    other[1] = 0;
    EXPECT_GT(distance_of(Unit::fit, row, other), 1);
    other[1] = NAN;
    EXPECT_GT(distance_of(Unit::fit, row, other), 1);
    other.resize(3);
    EXPECT_EQ(pulls_apart(other, right), INFINITY);
  }
}

TEST_P(OfAMode, AFitThatDoesNotSayThatItConvergedIsWrong) {
  for (const NamedSize size : {NamedSize::t, NamedSize::l}) {
    const Row row = row_of(size, GetParam());
    Values result = fitted(Unit::converged_fit, row);
    result[2] = out_of_iterations;
    EXPECT_GT(distance_of(Unit::converged_fit, row, result), 1);
  }
}

TEST_P(OfAMode, DeviationsBeyondWhatIsAllowedAreWrong) {
  struct Allowed {
    NamedSize size;
    double share;
  };
  for (const Allowed allowed :
       {Allowed{NamedSize::t, 1e-6}, {NamedSize::s0, 1e-3}, {NamedSize::l, 0.1}}) {
    const Row row = row_of(allowed.size, GetParam());
    for (const double sign : {-2., 2.}) {
      Values result = fitted(Unit::fit, row);
      const std::size_t p = (result.size() - 3) / 2;
      for (std::size_t k = 3 + p; k < result.size(); ++k) result[k] *= 1 + sign * allowed.share;
      EXPECT_GT(distance_of(Unit::fit, row, result), 1) << static_cast<int>(allowed.size);
    }
  }
}

// The tolerance of a fit: of a parameter in deviations, of F as shares of itself.
struct AllowedOfAFit {
  NamedSize size;
  Precision precision;
  double deviations, more, less;
};

// At size l F may be above by 2 F / n, about what two parameters take away, and below by 31 times
// that.
TEST_P(OfAMode, AParameterOrACostBeyondWhatIsAllowedIsWrong) {
  constexpr double of_noise = 2. / (20 * 500 * 500);
  for (const AllowedOfAFit& of : {AllowedOfAFit{NamedSize::t, Precision::f64, 3e-6, 1e-9, 1e-9},
                                  {NamedSize::s0, Precision::f64, 1e-4, 1e-9, 1e-9},
                                  {NamedSize::t, Precision::f32, 1e-2, 1e-6, 1e-6},
                                  {NamedSize::l, Precision::f64, 5, of_noise, 31 * of_noise}}) {
    Row row = row_of(of.size, GetParam());
    row.options.precision = of.precision;
    const Values right = as_expected(row);
    const auto is_right = [&](std::size_t k, double more) {
      Values result = right;
      result[k] += more;
      return distance_of(Unit::fit, row, result) <= 1;
    };
    const std::size_t p = (right.size() - 3) / 2;
    for (const double share : {0.98, 1.02}) {
      for (std::size_t k = 3; k < 3 + p; ++k)
        for (const double sign : {-1., 1.})
          EXPECT_EQ(is_right(k, sign * share * of.deviations * right[k + p]), share < 1)
              << static_cast<int>(of.size) << ' ' << k;
      EXPECT_EQ(is_right(0, share * of.more * right[0]), share < 1) << static_cast<int>(of.size);
      EXPECT_EQ(is_right(0, -share * of.less * right[0]), share < 1) << static_cast<int>(of.size);
    }
  }
}

// Once without the points of batch 3, once with them.
TEST(LostPoints, AreNoneOfTheFit) {
  const Row row = row_of(NamedSize::t, Mode::laminar, families::stream_faults);
  const auto backend = open_backend("host");
  const auto fit =
      make_stream(*backend, problem_of(row, true),
                  {.order = BatchOrder::flat, .settings = {.faults = {.permanent = {3}}}});
  fit->step();
  const Oracle less = fit_oracle(Unit::converged_fit, row, {3 * 512, 512});
  EXPECT_LT(less.distance(fit->result(), less.expected(1)), 1);
  EXPECT_GT(distance_of(Unit::converged_fit, row, fit->result()), 1);
  EXPECT_GT(less.distance(fitted(Unit::converged_fit, row), less.expected(1)), 1);
}

// Fits whose data, model and derivatives are in f32.
TEST(NarrowFits, AreHeldToWhatThatLeaves) {
  for (const NamedSize size : {NamedSize::t, NamedSize::l}) {
    Row row = row_of(size, Mode::laminar);
    row.options.precision = Precision::f32;
    const Values result = fitted(Unit::fit, row);
    EXPECT_LT(distance_of(Unit::fit, row, result), 1);
    EXPECT_GT(distance_of(Unit::fit, row, fitted(Unit::fit, row, 20, 47)), 1);
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
