// SPDX-License-Identifier: Apache-2.0
// Single precision on the host compared with double, and the handling of denormals.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "cubed_sphere_swe/testing/convergence.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "cubed_sphere_swe/variants.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr Options single = {.precision = Precision::f32};

class HostPrecision : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> backend = open_backend("host");
};

// Sizes below, at and above those where rows are as long as a vector.
TEST_F(HostPrecision, SingleStaysCloseToDouble) {
  for (const int n : {8, 9, 15, 16, 17, 31, 32, 48})
    for (const Variant variant : variants) {
      const State exact = state_after(make_rk4_step(*backend, variant, {n}), {n}, 7);
      const double apart =
          difference(state_after(make_rk4_step(*backend, variant, {n}, single), {n}, 7), exact);
      EXPECT_LT(apart, 1e-5) << n;
      EXPECT_GT(apart, 1e-9) << n << ": it was not single precision";
    }
}

TEST_F(HostPrecision, SingleTendenciesStayCloseToDouble) {
  for (const int n : {8, 16, 24})
    for (const Variant variant : variants) {
      const State exact = state_after(make_rhs(*backend, variant, {n}), {n});
      const double apart =
          difference(state_after(make_rhs(*backend, variant, {n}, single), {n}), exact);
      EXPECT_LT(apart, 1e-5) << n;
      EXPECT_GT(apart, 1e-9) << n;
    }
}

TEST_F(HostPrecision, ClassicalRungeKuttaHasSinglePrecisionToo) {
  const Options classical = {.precision = Precision::f32, .runge_kutta = RungeKutta::classical};
  const State exact = state_after(make_rk4_step(*backend, Variant::optimized, {24}), {24}, 7);
  EXPECT_LT(
      difference(state_after(make_rk4_step(*backend, Variant::optimized, {24}, classical), {24}, 7),
                 exact),
      1e-5);
}

TEST_F(HostPrecision, BothInstructionSetsAgreeInSingle) {
  if (host_limits().isa != "x86-64-v4") GTEST_SKIP() << "this CPU has one of the two";
  for (const int n : {8, 16, 24}) {
    const Problem problem = {.unit = Unit::rk4_step,
                             .n = n,
                             .dt = 1. / (3 * n),
                             .options = single,
                             .start = initial_state({n}, Start::random)};
    const State v3 = state_after(isa_v3::make_host_optimized(*backend, problem), {n}, 7);
    EXPECT_LE(difference(state_after(isa_v4::make_host_optimized(*backend, problem), {n}, 7), v3),
              1e-5);
  }
}

TEST_F(HostPrecision, SingleChangesTheErrorByLessThanOnePercent) {
  const Options options = {.start = Start::face, .precision = Precision::f32, .steps = 144};
  const State later = state_after(make_loop(*backend, Variant::optimized, {48}, options), {48});
  EXPECT_NEAR(deviation({48}, later.h, exact_height({48}, Start::face, 1)).l2, 1.5757e-4,
              1.5757e-6);
}

// Until T = 25; the dense reference until T = 1.
TEST_F(HostPrecision, SingleKeepsMassToItsRounding) {
  for (const Variant variant : variants) {
    const auto loop = make_loop(*backend, variant, {24},
                                {.start = Start::face,
                                 .precision = Precision::f32,
                                 .diagnostics = Diagnostics::device,
                                 .steps = variant == Variant::optimized ? 1800 : 72});
    loop->step();
    const double drift = loop->readings().at(0).value;
    EXPECT_LE(drift, 1e-6);
    EXPECT_GT(drift, 0);
  }
}

// Smallest and largest nonzero magnitudes.
double smallest(std::span<const double> values) {
  double least = std::numeric_limits<double>::infinity();
  for (const double x : values)
    if (x != 0) least = std::min(least, std::abs(x));
  return least;
}

// exp(-16 theta^2) reaches 1e-69 at the antipode.
TEST_F(HostPrecision, SingleTakesDenormalsForZero) {
  const State start = initial_state({24}, Start::face);
  EXPECT_LT(smallest(start.h), 1e-60);
  for (const Variant variant : variants)
    for (const int steps : {1, 7}) {
      const auto loop =
          make_loop(*backend, variant, {24},
                    {.start = Start::face, .precision = Precision::f32, .steps = steps});
      EXPECT_GE(smallest(result_of(*loop)), std::numeric_limits<float>::min());
    }
}

TEST_F(HostPrecision, DoubleKeepsDenormals) {
  State tiny = initial_state({12}, Start::face);
  for (double& h : tiny.h) h *= 1e-310;
  for (const Variant variant : variants) {
    const State later = state_after(
        make_loop(*backend, variant, {12}, {.start = Start::face, .steps = 3}, tiny), {12});
    EXPECT_GT(largest(later.h), 1e-311);
    EXPECT_LT(largest(later.h), std::numeric_limits<double>::min());
  }
}

// Also on the threads that shared the work: otherwise a later computation in double would lose its
// denormals there.
TEST_F(HostPrecision, TheProcessorsModeIsGivenBack) {
  const auto modes_changed = [] {
    int changed = 0;
#pragma omp parallel num_threads(host_limits().threads) reduction(+ : changed)
    changed += (_mm_getcsr() & 0x8040) != 0;
    return changed;
  };
  for (const Variant variant : variants) {
    make_loop(*backend, variant, {96}, {.precision = Precision::f32, .steps = 2})->step();
    make_rhs(*backend, variant, {96}, single)->step();
    make_component(*backend, variant, {96}, {.kind = Component::Kind::contravariant}, single)
        ->step();
    EXPECT_EQ(modes_changed(), 0);
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
