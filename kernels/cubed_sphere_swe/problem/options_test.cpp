// SPDX-License-Identifier: Apache-2.0
// The effects of a step's or a loop's options on the host, and what they refuse.
#include <gmock/gmock.h>

#include <optional>

#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class HostOptions : public ::testing::Test {
 protected:
  std::unique_ptr<Backend> backend = open_backend("host");

  std::optional<double> drift(Computation& loop) {
    for (const NamedReading& reading : loop.readings())
      if (reading.name == "mass_drift") return reading.value;
    return std::nullopt;
  }
};

TEST_F(HostOptions, ClassicalRungeKuttaIsHornersForm) {
  for (const int n : {8, 13, 24}) {
    const auto classical =
        make_rk4_step(*backend, Variant::optimized, {n}, {.runge_kutta = RungeKutta::classical});
    const auto horner = make_rk4_step(*backend, Variant::optimized, {n});
    int steps = 0;
    for (const auto& [until, limit] : {std::pair{1, 1e-14}, {7, 2e-14}, {100, 1e-13}}) {
      for (; steps < until; ++steps) {
        classical->step();
        horner->step();
      }
      const double apart =
          difference(as_state({n}, classical->result()), as_state({n}, horner->result()));
      EXPECT_LE(apart, limit) << n << " " << steps;
      EXPECT_GT(apart, 0) << "another order of operations rounds differently";
    }
  }
}

TEST_F(HostOptions, ClassicalRungeKuttaTakesOneStateMore) {
  const Options classical = {.runge_kutta = RungeKutta::classical};
  const auto peak = [](const Options& options) {
    const auto fresh = open_backend("host");
    make_rk4_step(*fresh, Variant::optimized, {48}, options)->step();
    EXPECT_EQ(fresh->ledger.peak_bytes,
              formula_peak_bytes(*fresh, Variant::optimized, {48}, options));
    return fresh->ledger.peak_bytes;
  };
  const auto state = static_cast<std::int64_t>(8 * state_count(48));
  EXPECT_GE(peak(classical) - peak({}), state);
  EXPECT_LE(peak(classical) - peak({}), state + state / 50);
}

TEST_F(HostOptions, DiagnosticsChangeNoState) {
  for (const Variant variant : variants)
    for (const RungeKutta form : {RungeKutta::horner, RungeKutta::classical}) {
      const Options plain = {.runge_kutta = form, .steps = 7};
      Options watched = plain;
      watched.diagnostics = Diagnostics::device;
      const State a = state_after(make_loop(*backend, variant, {13}, watched), {13}, 2);
      const State b = state_after(make_loop(*backend, variant, {13}, plain), {13}, 2);
      EXPECT_EQ(a.h, b.h);
      EXPECT_EQ(a.v1, b.v1);
      EXPECT_EQ(a.v2, b.v2);
    }
}

// A plain sum adds 7e-15 of its own noise.
TEST_F(HostOptions, ALoopTellsItsMassDrift) {
  for (const Variant variant : variants)
    for (const Diagnostics mode : {Diagnostics::none, Diagnostics::device}) {
      const auto loop = make_loop(*backend, variant, {24},
                                  {.start = Start::face, .diagnostics = mode, .steps = 50});
      loop->step();
      ASSERT_TRUE(drift(*loop));
      EXPECT_LE(*drift(*loop), 1e-15);
      EXPECT_TRUE(make_rk4_step(*backend, variant, {24})->readings().empty());
    }
}

// Beyond stability the state grows, and with it the rounding of its mass, which the watch must
// detect.
TEST_F(HostOptions, TheMassDriftIsTheLargestOfAllSteps) {
  for (const Variant variant : variants) {
    const auto loop = make_loop(*backend, variant, {13},
                                {.diagnostics = Diagnostics::device,
                                 .dt = 0.9 * 3.14159 / 26,
                                 .steps = 20,
                                 .allow_unstable = true});
    loop->step();
    const double early = *drift(*loop);
    loop->step();
    EXPECT_GT(*drift(*loop), 1e3 * early);
    EXPECT_GT(early, 0);
  }
}

TEST_F(HostOptions, AnUnwatchedLoopTellsTheDriftOfItsEnd) {
  for (const Variant variant : variants) {
    const auto loop = make_loop(*backend, variant, {13},
                                {.diagnostics = Diagnostics::none,
                                 .dt = 0.9 * 3.14159 / 26,
                                 .steps = 40,
                                 .allow_unstable = true});
    loop->step();
    EXPECT_GT(*drift(*loop), 0);
  }
}

// One such step overflows, and inf - inf is NaN.
TEST_F(HostOptions, AStateThatIsNoNumberHasNoSmallDrift) {
  for (const Variant variant : variants) {
    const auto loop = make_loop(
        *backend, variant, {8},
        {.diagnostics = Diagnostics::device, .dt = 1e300, .steps = 1, .allow_unstable = true});
    loop->step();
    EXPECT_FALSE(*drift(*loop) < 1);
  }
}

TEST_F(HostOptions, PeakMemoryIsTheFormulas) {
  for (const Variant variant : variants)
    for (const Precision precision : {Precision::f32, Precision::f64})
      for (const Diagnostics mode : {Diagnostics::none, Diagnostics::device})
        for (const int n : {8, 15, 48, 100}) {
          const Options options = {.precision = precision, .diagnostics = mode, .steps = 3};
          const auto fresh = open_backend("host");
          make_loop(*fresh, variant, {n}, options)->step();
          EXPECT_EQ(fresh->ledger.peak_bytes, formula_peak_bytes(*fresh, variant, {n}, options))
              << n;
        }
}

TEST_F(HostOptions, WhatOnlyADeviceHasIsRefused) {
  const auto refused = [&](const Options& options, const char* what) {
    for (const Variant variant : variants)
      EXPECT_THAT([&] { make_loop(*backend, variant, {8}, options); },
                  ThrowsMessage<Error>(HasSubstr(what)));
  };
  refused({.launch = Launch::graph}, "launch:graph is unsupported on the backend 'host'");
  refused({.launch = Launch::graph_step}, "the host has launch:host alone");
  refused({.launch = Launch::persistent}, "launch:persistent");
  refused({.diagnostics = Diagnostics::host}, "use diag:none or diag:device");
  refused({.metric = MetricSource::on_the_fly}, "the host has metric:table alone");
  refused({.gemm = GemmSource::tile}, "the host has gemm:library alone");
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
}

TEST_F(HostOptions, WorkIsTheSameHoweverItIsDone) {
  const Work usual = loop_work({48}, {});
  for (const Options& options :
       {Options{.launch = Launch::persistent}, Options{.diagnostics = Diagnostics::device},
        Options{.runge_kutta = RungeKutta::classical},
        Options{.metric = MetricSource::on_the_fly}}) {
    EXPECT_EQ(loop_work({48}, options).flops, usual.flops);
    EXPECT_EQ(loop_work({48}, options).bytes, usual.bytes);
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
