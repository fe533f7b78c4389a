// SPDX-License-Identifier: Apache-2.0
// Identities that hold for any numbers, checked on the optimized variant on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "testing/differences.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/problem/model.hpp"
#include "xpcs_fit/testing/support.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Size size = {3, 37};

std::vector<double> model_at(const Options& options, const std::vector<double>& parameters,
                             const std::vector<double>& angles = default_angles(3)) {
  const Problem one = changed(problem(size, options), [&](Input& in) {
    in.box.start = parameters;
    in.angles = angles;
  });
  const auto backend = open_backend("host");
  return result_of(*make(Unit::g2, *backend, Variant::optimized, one));
}

const std::vector<double> flow = {0.3, 1, 1000, 0.5, 50, 2e-4, 0.3, 5e-5, -6};

TEST(XpcsInvariants, DiagonalIsOffsetAndContrast) {
  const std::vector<double> m = model_at({}, flow);
  for (int a = 0; a < size.angles; ++a)
    for (int i = 0; i < size.frames; ++i)
      ASSERT_NEAR(m[a * size.plane() + i * size.frames + i], 1.3, 1e-14);
}

TEST(XpcsInvariants, AtRestNoAngleTells) {
  const std::vector<double> m = model_at({.mode = Mode::at_rest}, {0.3, 1, 1000, 0.5, 50});
  for (std::int64_t k = 0; k < size.plane(); ++k) ASSERT_EQ(m[k], m[size.plane() + k]);
}

TEST(XpcsInvariants, FlowHasADirectionButNoSign) {
  std::vector<double> turned = flow;
  turned[8] += 180;
  EXPECT_LT(largest_difference(model_at({}, flow), model_at({}, turned)), 1e-12);
}

TEST(XpcsInvariants, AcrossTheFlowTheSampleIsAtRest) {
  const std::vector<double> across = model_at({}, flow, {84, -96, 84});
  const std::vector<double> still =
      model_at({.mode = Mode::at_rest}, {flow.begin(), flow.begin() + 5});
  EXPECT_LT(largest_difference(across, still), 1e-14);
}

TEST(XpcsInvariants, PlainDiffusionIsAnExponential) {
  const std::vector<double> m = model_at({.mode = Mode::at_rest}, {0.3, 1, 1000, 0, 0});
  const Physics physics = default_physics(size);
  for (int j = 0; j < size.frames; ++j)
    ASSERT_NEAR(m[j], 1 + 0.3 * std::exp(-physics.q * physics.q * physics.dt * 1000 * j), 1e-13);
}

// The integral of t^2: half the step, a quarter of the error.
TEST(XpcsInvariants, TrapezoidsConvergeAsTheyShould) {
  const auto error = [](int frames_in_all, double alpha) {
    const double dt = 8. / (frames_in_all - 1);
    const double parameters[] = {0, 0, 1, alpha, 0};
    const Frames all = frames({.dt = dt}, frames_in_all, Mode::at_rest, parameters);
    const double whole = all.s.back() - all.s.front();
    return std::abs(whole * dt - std::pow(8, alpha + 1) / (alpha + 1));
  };
  EXPECT_NEAR(error(65, 2) / error(129, 2), 4, 0.01);
  EXPECT_LT(error(65, 1), 1e-9);
  EXPECT_NEAR(error(1025, 0.5) / error(2049, 0.5), 2.81, 0.03);
}

// F, g and N of soft_l1 differ from those of least squares by (r / C)^2.
TEST(XpcsInvariants, ALossOfLargeScaleIsLinear) {
  const auto backend = open_backend("host");
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    const auto sums = [&](const Options& options) {
      return result_of(*make(Unit::normal_equations, *backend, variant, problem(size, options)));
    };
    const std::vector<double> linear = sums({});
    EXPECT_LT(oracle::distance(sums({.loss = Loss::soft_l1, .loss_scale = 1e3}), linear), 1e-6);
    EXPECT_GT(oracle::distance(sums({.loss = Loss::soft_l1, .loss_scale = 0.1}), linear), 1e-3);
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
