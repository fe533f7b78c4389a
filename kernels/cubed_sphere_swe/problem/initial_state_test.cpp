// SPDX-License-Identifier: Apache-2.0
// Initial states, their exact solutions, and everything that is refused.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/exact_solution.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(InitialState, RandomValuesAreSplitMix64s) {
  const State state = initial_state({8}, Start::random);
  EXPECT_EQ(state.h[0], -0.7510546255160708);
  EXPECT_EQ(state.h[1], -0.1453549310667428);
  EXPECT_EQ(state.h[2], -0.6831210755435031);
  EXPECT_EQ(state.v1[0], -0.5786555951919632);
  EXPECT_EQ(state.v2[0], 0.7728005117422143);
}

TEST(InitialState, EveryOtherStartIsAtRestAndContinuous) {
  for (const Start start : {Start::seed, Start::face, Start::edge, Start::vertex, Start::tilt,
                            Start::mode1, Start::mode2}) {
    const State state = initial_state({12}, start);
    EXPECT_EQ(largest(state.v1), 0);
    EXPECT_EQ(largest(state.v2), 0);
    EXPECT_LT(largest(border_offset(12, state.h)), 1e-14);
  }
}

TEST(InitialState, SeedIsACentimetreHighAtTheNorthPole) {
  const State state = initial_state({24}, Start::seed);
  EXPECT_DOUBLE_EQ(state.h[height_index(24, 0, 12, 12)], 0.01);
  EXPECT_NEAR(mass({24}, state.h), 0.0054881375423630916, 1e-17);
}

TEST(InitialState, PanelBumpIsZeroOffItsPanel) {
  const State state = panel_bump({16}, 1, std::sqrt(1. / 32));
  EXPECT_NEAR(mass({16}, state.h), 1.9051668895e-01, 1e-11);
  EXPECT_DOUBLE_EQ(state.h[height_index(16, 0, 8, 8)], 1);
  EXPECT_EQ(largest(std::span(state.h).subspan(17 * 17)), 0);
}

TEST(ExactSolution, SeriesReproducesTheBumpAtTimeZero) {
  constexpr double at_once = 1e-300;  // where every cosine is 1; at 0 the start itself is returned
  const auto series = exact_height({24}, Start::face, at_once);
  const auto bump = exact_height({24}, Start::face, 0);
  for (std::size_t k = 0; k < bump.size(); ++k) EXPECT_NEAR(series[k], bump[k], 7e-13) << k;
}

TEST(ExactSolution, SeriesConservesTheMeanHeight) {
  // P_0's term does not oscillate: the mean over the sphere is the same at any time, to the
  // quadrature's error.
  const double before = mass({96}, exact_height({96}, Start::face, 0));
  EXPECT_NEAR(mass({96}, exact_height({96}, Start::face, 1)), before, 1e-6);
}

TEST(ExactSolution, ModesOscillateAtTheirFrequency) {
  const int n = 8, pole = height_index(n, 0, 4, 4);
  const double t = 0.7;
  EXPECT_NEAR(exact_height({n}, Start::mode1, t)[pole], std::cos(std::numbers::sqrt2 * t), 1e-15);
  EXPECT_NEAR(exact_height({n}, Start::mode2, t)[pole], std::cos(std::sqrt(6.) * t), 1e-15);
}

TEST(ExactSolution, RandomHasNone) {
  EXPECT_THAT([] { exact_height({8}, Start::random, 0); },
              ThrowsMessage<Error>(HasSubstr("no exact solution")));
}

TEST(ExactSolution, AHeightThatIsNoNumberIsInfinitelyFarFromIt) {
  const std::vector<double> expected = exact_height({8}, Start::mode1, 0);
  std::vector<double> h = expected;
  EXPECT_EQ(deviation({8}, h, expected).max, 0);
  h[7] = NAN;
  EXPECT_EQ(deviation({8}, h, expected).max, INFINITY);
}

TEST(BadInput, SizesOutOfRangeAreRefused) {
  EXPECT_THAT([] { validate({7}, Options{}); }, ThrowsMessage<Error>(HasSubstr("n must be >= 8")));
  EXPECT_THAT([] { validate({-1}, Options{}); }, ThrowsMessage<Error>(HasSubstr("n must be >= 8")));
  EXPECT_THAT([] { validate({8193}, Options{}); }, ThrowsMessage<Error>(HasSubstr("n too large")));
  EXPECT_NO_THROW(validate({8}, Options{}));
  EXPECT_NO_THROW(validate({8192}, Options{}));
}

TEST(BadInput, TimeStepsThatAreNotPositiveAreRefused) {
  for (const double dt :
       {-1e-3, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THAT([dt] { validate({8}, Options{.dt = dt}); },
                ThrowsMessage<Error>(HasSubstr("dt must be positive")));
}

TEST(BadInput, TimeStepsBeyondStabilityAreRefusedUnlessAllowed) {
  const double dx = std::numbers::pi / 48;
  EXPECT_THAT([dx] { validate({24}, Options{.dt = 0.61 * dx}); },
              ThrowsMessage<Error>(HasSubstr("exceeds the RK4 stability limit")));
  EXPECT_NO_THROW(validate({24}, Options{.dt = 0.59 * dx}));
  EXPECT_NO_THROW(validate({24}, Options{.dt = 0.61 * dx, .allow_unstable = true}));
}

TEST(BadInput, NegativeStepCountsAreRefused) {
  EXPECT_THAT([] { validate({8}, Options{.steps = -1}); },
              ThrowsMessage<Error>(HasSubstr("nsteps")));
}

TEST(BadInput, StatesOfAnotherSizeAreRefused) {
  State state = initial_state({8}, Start::seed);
  EXPECT_THAT([&] { validate({9}, state); },
              ThrowsMessage<Error>(HasSubstr("expected [6, 10, 10]")));
  state.v2.pop_back();
  EXPECT_THAT([&] { validate({8}, state); },
              ThrowsMessage<Error>(HasSubstr("v2: expected [6, 9, 8]")));
}

TEST(BadInput, NonFiniteStatesAreRefusedWithTheirPlace) {
  State state = initial_state({8}, Start::seed);
  state.v1[(2 * 8 + 3) * 9 + 4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { validate({8}, state); },
              ThrowsMessage<Error>(HasSubstr("non-finite state at v1[2, 3, 4]")));
}

TEST(BadInput, IsRefusedBeforeAnythingIsAllocated) {
  const auto backend = open_backend("host");
  State state = initial_state({8}, Start::seed);
  state.h[0] = std::numeric_limits<double>::infinity();
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    EXPECT_THROW(make_rk4_step(*backend, variant, {7}), Error);
    EXPECT_THROW(make_loop(*backend, variant, {8}, {.steps = -1}), Error);
    EXPECT_THROW(make_rhs(*backend, variant, {8}, {}, state), Error);
  }
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
