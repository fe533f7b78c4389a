// SPDX-License-Identifier: Apache-2.0
// The solver, and both variants' fits on the host compared with published ones.
#include "xpcs_fit/problem/fit.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "testing/error_of.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/oracle/oracle.hpp"
#include "xpcs_fit/testing/support.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Variant fitting_variants[] = {Variant::reference, Variant::optimized};
constexpr Size t = {4, 48};

// F, passes, status, parameters, deviations.
std::vector<double> fitted(Unit unit, Variant variant, const Problem& problem) {
  const auto backend = open_backend("host");
  return result_of(*make(unit, *backend, variant, problem));
}

struct Published {
  Options options = {};
  double noise = 0.001;
  int passes = 7;  // until it converges
  double cost = 0;
  double accounted_cost = 0;
  std::vector<double> accounted = {};  // parameters
};
const Published published[] = {
    {.options = {.mode = Mode::at_rest},
     .passes = 5,
     .cost = 0.004920166150213934,
     .accounted_cost = 0.00492016615000809,
     .accounted = {0.300056451663, 1.00000602809, 1005.45769128, 0.499037099794, 42.4582428242}},
    {.cost = 0.00469107148450051,
     .accounted_cost = 0.00469107148415167,
     .accounted = {0.29995603039, 0.999991403637, 991.600893089, 0.50398677011, 0,
                   0.000204052597693, 0.29585592584, 4.67406406621e-05, -6.00120619245}},
    {.options = {.scaling = Scaling::per_angle},
     .cost = 0.004689690263350897,
     .accounted_cost = 0.00468969026305833,
     .accounted = {0.299937056169, 0.299834350099, 0.299969971834, 0.3000778255, 0.999981158306,
                   1.00001183011, 0.999993280496, 0.999977508347, 993.377919151, 0.503735195611, 0,
                   0.000204014492606, 0.295843078341, 4.6750809686e-05, -5.99986692368}},
    {.noise = 0.01,
     .passes = 6,
     .cost = 0.4692969007797889,
     .accounted_cost = 0.469296900405515,
     .accounted = {0.299647908957, 0.999913977377, 720.072490996, 0.583564615671, 0,
                   0.000253172846783, 0.256678681582, 0, -6.01336420352}}};

TEST(XpcsFit, ConvergesAsPublished) {
  for (const Published& one : published)
    for (const Variant variant : fitting_variants) {
      const std::vector<double> fit =
          fitted(Unit::converged_fit, variant, problem(t, one.options, one.noise));
      EXPECT_EQ(fit[1], one.passes);
      EXPECT_EQ(fit[2], converged);
      EXPECT_NEAR(fit[0] / one.cost, 1, 1e-9);
    }
}

// The cost at each accepted trial, from the variant's own normal equations.
std::vector<double> path_of(Variant variant, const Problem& problem) {
  const auto backend = open_backend("host");
  HostFit fit(problem, 0);
  std::vector<double> path;
  for (bool over = false; !over;) {
    const auto pass = make(Unit::normal_equations, *backend, variant, at(problem, fit.trial()));
    over = fit.take(result_of(*pass).data());
    if (path.empty() || fit.state().cost() != path.back()) path.push_back(fit.state().cost());
  }
  return path;
}

TEST(XpcsFit, GoesDownThePublishedPath) {
  const std::vector<double> at_rest = {50.69248537770979, 0.34960274170941963, 0.009998515692594875,
                                       0.004921118079071224, 0.004920166150213934};
  for (const Published& one : published) {
    const Problem flow = problem(t, one.options, one.noise);
    const std::vector<double> expected =
        one.options.mode == Mode::at_rest ? at_rest : oracle::fit(flow).path;
    for (const Variant variant : fitting_variants) {
      const std::vector<double> path = path_of(variant, flow);
      ASSERT_EQ(path.size(), expected.size());
      for (std::size_t k = 0; k < path.size(); ++k) EXPECT_NEAR(path[k] / expected[k], 1, 1e-9);
    }
  }
}

TEST(XpcsFit, MakesEightPassesAsPublished) {
  for (const Published& one : published)
    for (const Variant variant : fitting_variants) {
      const std::vector<double> fit =
          fitted(Unit::fit, variant, problem(t, one.options, one.noise));
      const std::size_t p = one.accounted.size();
      ASSERT_EQ(fit.size(), 3 + 2 * p);
      EXPECT_EQ(fit[1], accounted_passes);
      EXPECT_NEAR(fit[0] / one.accounted_cost, 1, 1e-9);
      for (std::size_t k = 0; k < p; ++k)
        EXPECT_NEAR(fit[3 + k], one.accounted[k], 1e-4 * fit[3 + p + k]) << "parameter " << k;
    }
}

TEST(XpcsFit, KeepsWithinItsBox) {
  const std::vector<double> fit =
      fitted(Unit::converged_fit, Variant::optimized, problem(t, {}, 0.001));
  EXPECT_EQ(fit[3 + 4], 0);  // D_offset, at its lower bound
}

TEST(XpcsFit, BeginsInTheBoxWhenTheStartIsOutside) {
  const Problem outside = changed(problem(t, {}, 0.001), [](Input& in) {
    in.box.start[0] = 7;
    in.box.start[4] = -3;
  });
  const oracle::Fit expected = oracle::fit(outside);
  const std::vector<double> fit = fitted(Unit::converged_fit, Variant::optimized, outside);
  EXPECT_EQ(fit[1], expected.passes);
  EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
}

TEST(XpcsFit, StepsWhereOneParameterTellsNothing) {
  // N is singular: its last row and column are zero.
  const std::vector<double> start = {1, 1}, lower = {-5, -5}, upper = {5, 5};
  std::vector<double> memory(fit_count(2)), step(2), scaled(scaled_count(2)),
      work(box_step_work(2));
  const FitState fit = {memory.data(), 2};
  const BoxView box = {start.data(), lower.data(), upper.data()};
  restart(fit, box);
  const double normal[] = {3, 4, 0, 2, 0, 0, 0};
  judge(fit, normal);
  fill_units(fit, scaled.data(), 0, 1);
  fill_scaled(fit, scaled.data(), 0, 1);
  ASSERT_TRUE(box_step(fit, scaled.data(), box, 1e-3, step.data(), work.data()));
  EXPECT_NEAR(step[0], -2 / 1.001, 1e-12);
  EXPECT_EQ(step[1], 0);
}

TEST(XpcsFit, PutsAStepThatWouldLeaveOnTheSideOfTheBox) {
  const std::vector<double> start = {0, 0}, lower = {-1, -9}, upper = {1, 9};
  std::vector<double> memory(fit_count(2)), step(2), scaled(scaled_count(2)),
      work(box_step_work(2));
  const FitState fit = {memory.data(), 2};
  const BoxView box = {start.data(), lower.data(), upper.data()};
  restart(fit, box);
  // The unconstrained minimum is (3, 0); with the first parameter at 1, the second moves to 1.
  const double normal[] = {100, -6, -3, 2, 1, 1, 2};
  judge(fit, normal);
  fill_units(fit, scaled.data(), 0, 1);
  fill_scaled(fit, scaled.data(), 0, 1);
  ASSERT_TRUE(box_step(fit, scaled.data(), box, 0, step.data(), work.data()));
  EXPECT_EQ(step[0], 1);
  EXPECT_NEAR(step[1], 1, 1e-12);
}

// A fit of one parameter whose trials have a promised gain of one and these costs.
class Judged {
 public:
  Judged() {
    restart(fit_, {&start_, &lower_, &upper_});
    judge(fit_, normal_);
  }
  double damping_after(double cost) {
    fit_.gain() = 1;
    fit_.trial()[0] = fit_.parameters()[0] + 1;
    normal_[0] = cost;
    judge(fit_, normal_);
    return fit_.damping();
  }

 private:
  double start_ = 0, lower_ = -99, upper_ = 99, normal_[3] = {20, 0, 1};
  std::vector<double> memory_ = std::vector<double>(fit_count(1));
  FitState fit_ = {memory_.data(), 1};
};

TEST(XpcsFit, DoublesItsDampingAgainOnceATrialHasGained) {
  Judged fit;
  EXPECT_DOUBLE_EQ(fit.damping_after(21), 2e-3);
  EXPECT_DOUBLE_EQ(fit.damping_after(21), 8e-3);
  EXPECT_DOUBLE_EQ(fit.damping_after(19.5), 8e-3);  // half of what was promised
  EXPECT_DOUBLE_EQ(fit.damping_after(20), 16e-3);
}

TEST(XpcsFit, DampsAlwaysByATrillionth) {
  Judged fit;
  for (int trial = 1; trial < 9; ++trial) EXPECT_GT(fit.damping_after(20 - trial), 1e-12);
  for (int trial = 9; trial < 19; ++trial) (void)fit.damping_after(20 - trial);
  EXPECT_EQ(fit.damping_after(1), 1e-12);
}

TEST(XpcsFit, IsRefusedWhereItStartsAtNoNumber) {
  const Problem flow =
      changed(problem(t, {}, 0.001), [](Input& in) { in.data[77] = std::nan(""); });
  for (const Variant variant : fitting_variants)
    EXPECT_THAT(refusal_of([&] { return fitted(Unit::converged_fit, variant, flow); }),
                testing::HasSubstr("nonfinite_start: F at the start is nan"));
}

TEST(XpcsFit, RejectsATrialThatIsNoNumberAndDampsMore) {
  const Problem flow = problem(t, {}, 0.001);
  HostFit fit(flow, 0);
  const oracle::Normal first = oracle::normal_equations(flow, fit.trial());
  std::vector<double> normal = oracle::in_a_row(first);
  ASSERT_FALSE(fit.take(normal.data()));
  const std::vector<double> trial = fit.trial();
  std::fill(normal.begin(), normal.end(), std::nan(""));
  ASSERT_FALSE(fit.take(normal.data()));
  EXPECT_EQ(fit.state().damping(), 2e-3);
  EXPECT_EQ(fit.state().cost(), first.cost);
  EXPECT_NE(fit.trial(), trial);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
