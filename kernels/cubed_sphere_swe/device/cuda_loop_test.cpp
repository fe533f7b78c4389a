// SPDX-License-Identifier: Apache-2.0
// Loops of steps on a device: every launch mode gives the same result, and masses stay on the
// device or host as requested.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/device/optimized_kernels.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "testing/expect_no_spills.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

Problem loop_problem(int n, int steps, Launch launch, Diagnostics diagnostics = Diagnostics::none) {
  Problem problem = random_problem(Unit::loop, n);
  problem.options.steps = steps;
  problem.options.launch = launch;
  problem.options.diagnostics = diagnostics;
  return problem;
}

double mass_drift_after(int calls, Variant variant, const Problem& problem) {
  const auto backend = emulated(variant);
  const auto loop = make(*backend, variant, problem);
  for (int i = 0; i < calls; ++i) loop->step();
  const auto readings = loop->readings();
  EXPECT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings.front().name, "mass_drift");
  return readings.front().value;
}

class EmulatedLoop : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(Variants, EmulatedLoop, testing::ValuesIn(variants),
                         [](const auto& variant) { return name(variant.param); });

// An odd number of steps leaves Horner's state in another array each time, so that a second call
// takes another graph.
TEST_P(EmulatedLoop, EqualsItsStepsToTheLastBitHoweverItIsLaunched) {
  for (const auto& [steps, calls] : {std::pair{1, 2}, std::pair{2, 1}, std::pair{3, 1}}) {
    if (GetParam() == Variant::reference && steps == 3) continue;  // it has one array
    SCOPED_TRACE(steps);
    const auto one_by_one = after(calls * steps, GetParam(), random_problem(Unit::rk4_step, 8));
    for (const Launch launch : launches_of(GetParam())) {
      SCOPED_TRACE(static_cast<int>(launch));
      EXPECT_EQ(after(calls, GetParam(), loop_problem(8, steps, launch)), one_by_one);
    }
  }
}

TEST_P(EmulatedLoop, OfNoStepsLeavesTheStart) {
  for (const Launch launch : launches_of(GetParam())) {
    SCOPED_TRACE(static_cast<int>(launch));
    const Problem problem = loop_problem(8, 0, launch, Diagnostics::device);
    EXPECT_LE(largest_difference(after(2, GetParam(), problem),
                                 after(0, GetParam(), random_problem(Unit::rk4_step, 8))),
              0);
  }
}

TEST_P(EmulatedLoop, DiagnosticsChangeNoBitOfTheState) {
  for (const Launch launch : launches_of(GetParam())) {
    SCOPED_TRACE(static_cast<int>(launch));
    EXPECT_EQ(after(1, GetParam(), loop_problem(8, 1, launch, Diagnostics::device)),
              after(1, GetParam(), loop_problem(8, 1, launch)));
  }
}

TEST_P(EmulatedLoop, MassStaysToRounding) {
  for (const Launch launch : launches_of(GetParam()))
    for (const Diagnostics diagnostics :
         {Diagnostics::none, Diagnostics::device, Diagnostics::host}) {
      const bool many_at_once = launch == Launch::graph || launch == Launch::persistent;
      if (many_at_once && diagnostics == Diagnostics::host) continue;  // not supported
      SCOPED_TRACE(text(static_cast<int>(launch), " ", static_cast<int>(diagnostics)));
      EXPECT_LE(mass_drift_after(1, GetParam(), loop_problem(9, 2, launch, diagnostics)), 1e-14);
    }
}

// The drift after each of `steps` steps, by loops of one step, which keep the start's mass and the
// last.
std::vector<double> drifts_of_steps(Variant variant, Problem problem) {
  const int steps = std::exchange(problem.options.steps, 1);
  const auto backend = emulated(variant);
  const auto step = make(*backend, variant, problem);
  std::vector<double> drifts;
  for (int i = 0; i < steps; ++i) {
    step->step();
    drifts.push_back(step->readings().at(0).value);
  }
  return drifts;
}

// In f32, where drifts rise and fall, and each stage of a step has another: one loop ends at the
// largest drift, another continues beyond it.
TEST_P(EmulatedLoop, TellsTheLargestDriftOfAllItsStepsHoweverItIsLaunched) {
  const bool is_reference = GetParam() == Variant::reference;  // its steps take longer
  Problem problem = loop_problem(8, is_reference ? 3 : 7, Launch::host, Diagnostics::device);
  problem.options.precision = Precision::f32;
  problem.dt /= 2;
  problem.options.gemm = GemmSource::tile;  // no library, whose rounding is the CPU's
  const std::vector<double> drifts = drifts_of_steps(GetParam(), problem);
  const auto largest = std::max_element(drifts.begin(), drifts.end());
  ASSERT_LT(drifts.front(), *largest) << testing::PrintToString(drifts);
  ASSERT_LT(drifts.back(), *largest) << testing::PrintToString(drifts);
  for (const auto steps : {largest - drifts.begin() + 1, std::ssize(drifts)})
    for (const Launch launch : launches_of(GetParam()))
      for (const Diagnostics diagnostics : {Diagnostics::device, Diagnostics::host}) {
        const bool reads_back = diagnostics == Diagnostics::host;
        if (reads_back && (is_reference || launch != Launch::host)) continue;
        if (is_reference && launch == Launch::graph_step) continue;  // like Launch::host
        SCOPED_TRACE(text(static_cast<int>(launch), " ", static_cast<int>(diagnostics)));
        problem.options.steps = static_cast<int>(steps);
        problem.options.launch = launch;
        problem.options.diagnostics = diagnostics;
        EXPECT_NEAR(mass_drift_after(1, GetParam(), problem), *largest, 1e-13);
      }
}

TEST_P(EmulatedLoop, BeginsAgainHoweverManyStepsItMade) {
  for (const Launch launch : launches_of(GetParam())) {
    SCOPED_TRACE(static_cast<int>(launch));
    Problem problem = loop_problem(8, 1, launch);
    problem.begin = [start = problem.start](int) { return start; };
    const auto backend = emulated(GetParam());
    const auto loop = make(*backend, GetParam(), problem);
    loop->step();
    loop->start_again(0);
    EXPECT_EQ(result_of(*loop), after(1, GetParam(), random_problem(Unit::rk4_step, 8)));
  }
}

class EmulatedOptions : public testing::TestWithParam<std::pair<RungeKutta, MetricSource>> {
 protected:
  Problem with_options(Problem problem) {
    problem.options.runge_kutta = GetParam().first;
    problem.options.metric = GetParam().second;
    return problem;
  }
};
INSTANTIATE_TEST_SUITE_P(Options, EmulatedOptions,
                         testing::Values(std::pair{RungeKutta::classical, MetricSource::table},
                                         std::pair{RungeKutta::horner, MetricSource::on_the_fly},
                                         std::pair{RungeKutta::classical,
                                                   MetricSource::on_the_fly}),
                         [](const auto& made) {
                           return text(
                               made.param.first == RungeKutta::classical ? "classical" : "horner",
                               made.param.second == MetricSource::table ? "_table" : "_on_the_fly");
                         });

TEST_P(EmulatedOptions, GiveTheGoldenTendency) {
  expect_golden(golden_tendency(
      as_state({8}, after(1, Variant::optimized, with_options(random_problem(Unit::rhs, 8))))));
}

TEST_P(EmulatedOptions, GiveTheGoldenTenSteps) {
  expect_golden(golden_ten_steps(as_state(
      {8}, after(10, Variant::optimized, with_options(random_problem(Unit::rk4_step, 8))))));
}

TEST_P(EmulatedOptions, StayWithinRoundingOfTheDefault) {
  const Problem problem = random_problem(Unit::rk4_step, 17);
  EXPECT_LE(largest_difference(after(3, Variant::optimized, with_options(problem)),
                               after(3, Variant::optimized, problem)),
            1e-14);
}

TEST_P(EmulatedOptions, ALoopEqualsItsStepsHoweverItIsLaunched) {
  const auto one_by_one =
      after(3, Variant::optimized, with_options(random_problem(Unit::rk4_step, 8)));
  for (const Launch launch : launches_of(Variant::optimized)) {
    SCOPED_TRACE(static_cast<int>(launch));
    EXPECT_EQ(after(1, Variant::optimized, with_options(loop_problem(8, 3, launch))), one_by_one);
  }
}

TEST_P(EmulatedOptions, TheUpstreamMetricGivesItsPublishedNorm) {
  Problem problem = with_options(random_problem(Unit::rhs, 8));
  problem.options.q12 = MetricSign::upstream;
  const State tendency = as_state({8}, after(1, Variant::optimized, problem));
  EXPECT_NEAR(norm(tendency.h), 177.3944206342172, 177.4e-13);
}

// More tiles than blocks, some blocks with one tile more than others, and both orders.
TEST(EmulatedPersistentLoop, SharesItsTilesAmongFewBlocks) {
  const Problem one_by_one = random_problem(Unit::rk4_step, 20);
  const Problem loop = loop_problem(20, 1, Launch::persistent, Diagnostics::device);
  const auto expected = after(1, Variant::optimized, one_by_one);
  for (const emulation::Order order : {emulation::Order::forward, emulation::Order::backward})
    EXPECT_EQ(after(1, Variant::optimized, loop, {.multiprocessors = 5, .order = order}), expected);
}

class DryLoop : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Architectures, DryLoop, testing::Values(90),
                         [](const auto& sm) { return text("sm_", sm.param); });
INSTANTIATE_TEST_SUITE_P(Nightly, DryLoop, testing::Values(80, 100),
                         [](const auto& sm) { return text("sm_", sm.param); });

TEST_P(DryLoop, CountsAreThoseOfTheDerivation) {
  struct Expected {
    Variant variant;
    Launch launch;
    Diagnostics diagnostics;
    int launches, nodes, d2h_bytes, syncs;
  };
  constexpr auto none = Diagnostics::none, device = Diagnostics::device, host = Diagnostics::host;
  constexpr auto optimized = Variant::optimized, reference = Variant::reference;
  for (const Expected& expected :
       {Expected{optimized, Launch::host, none, 400, 0, 0, 0},
        Expected{optimized, Launch::graph_step, none, 400, 400, 0, 0},
        Expected{optimized, Launch::graph, none, 400, 400, 0, 0},
        Expected{optimized, Launch::persistent, none, 1, 0, 0, 0},
        Expected{optimized, Launch::host, device, 500, 0, 0, 0},
        Expected{optimized, Launch::graph, device, 500, 500, 0, 0},
        Expected{optimized, Launch::persistent, device, 1, 0, 0, 0},
        Expected{optimized, Launch::host, host, 500, 0, 800, 100},
        Expected{optimized, Launch::graph_step, host, 500, 500, 800, 100},
        Expected{reference, Launch::graph_step, none, 88800, 89600, 0, 0},
        Expected{reference, Launch::host, device, 88900, 0, 0, 0}}) {
    SCOPED_TRACE(text(name(expected.variant), " launch ", static_cast<int>(expected.launch),
                      " diag ", static_cast<int>(expected.diagnostics)));
    DryRun cost(GetParam(), expected.variant,
                loop_problem(24, 100, expected.launch, expected.diagnostics));
    const Counts step = cost.step();
    EXPECT_EQ(step.launches, expected.launches);
    EXPECT_EQ(step.graph_nodes, expected.nodes);
    EXPECT_EQ(step.d2h_bytes, expected.d2h_bytes);
    EXPECT_EQ(step.syncs, expected.syncs);
    EXPECT_EQ(step.h2d_bytes, 0);
    EXPECT_EQ(step.allocations, 0);
    EXPECT_TRUE(cost.computation->readings().empty());  // nothing was computed
  }
}

TEST_P(DryLoop, OneProgramServesEverySizeTimeStepAndStepCountOfAnOptionSet) {
  for (const Variant variant : variants)
    for (const Options& options :
         {Options{}, Options{.runge_kutta = RungeKutta::classical},
          Options{.metric = MetricSource::on_the_fly}, Options{.precision = Precision::f32}}) {
      const auto backend = open_backend(text("cuda-dry:sm_", GetParam()));
      for (const int n : {24, 31, 96})
        for (const Launch launch : launches_of(variant)) {
          Problem problem = loop_problem(n, n == 31 ? 3 : 2, launch, Diagnostics::device);
          problem.options.runge_kutta = options.runge_kutta;
          problem.options.metric = options.metric;
          problem.options.precision = options.precision;
          if (n == 96) problem.dt /= 3;
          make(*backend, variant, problem)->step();
        }
      EXPECT_EQ(backend->ledger.counts.programs, 1);
    }
}

TEST_P(DryLoop, KernelsStayBelow97RegistersAndDoNotSpill) {
  for (const Options& options :
       {Options{}, Options{.runge_kutta = RungeKutta::classical},
        Options{.metric = MetricSource::on_the_fly}, Options{.precision = Precision::f32}}) {
    Problem problem = loop_problem(24, 2, Launch::persistent);
    problem.options = options;
    const DryRun cost(GetParam(), Variant::optimized, problem);
    expect_no_spills(*cost.backend->compiler, 96);
  }
}

// The kernel's blocks read what others wrote since it began; the read-only cache may not show that.
TEST_P(DryLoop, ThePersistentKernelReadsNothingThroughTheReadOnlyCache) {
  const DryRun cost(GetParam(), Variant::optimized, loop_problem(24, 2, Launch::persistent));
  const Compiled& program = *cost.backend->compiler->programs().front();
  const auto body = [&](const std::string& mangled) {
    const auto begin = program.ptx.find(".entry " + mangled);
    EXPECT_NE(begin, std::string::npos) << mangled;
    return program.ptx.substr(begin, program.ptx.find("\n}", begin) - begin);
  };
  for (const Function& function : program.functions) {
    const bool found = body(function.name).find("ld.global.nc") != std::string::npos;
    if (function.kind == KernelKind::loop) {
      EXPECT_FALSE(found);
    } else if (function.expression == "stage<double>") {
      EXPECT_TRUE(found);  // may use it and does, so the search works
    }
  }
}

TEST_P(DryLoop, ThePersistentGridIsResidentAllAtOnceAndNoLargerThanItsTiles) {
  for (const auto& [n, tiles] : {std::pair{24, 12}, std::pair{384, 1950}}) {
    DryRun cost(GetParam(), Variant::optimized, loop_problem(n, 2, Launch::persistent));
    cost.step();
    const Architecture& arch = cost.backend->device->architecture();
    for (const Function& function : cost.backend->compiler->programs().front()->functions)
      if (function.kind == KernelKind::loop) {
        ASSERT_EQ(function.shapes.size(), 1u);
        const LaunchShape& shape = *function.shapes.begin();
        const int resident =
            arch.multiprocessors * occupancy(arch, function.registers, function.shared_bytes,
                                             static_cast<int>(shape.block.x));
        EXPECT_TRUE(shape.cooperative);
        EXPECT_EQ(static_cast<int>(shape.grid.x), std::min(resident, tiles));
      }
  }
}

TEST_P(DryLoop, KernelsAreOfTheirKinds) {
  for (const Variant variant : variants) {
    const DryRun cost(GetParam(), variant, random_problem(Unit::rk4_step, 24));
    for (const Function& function : cost.backend->compiler->programs().front()->functions) {
      const auto starts = [&](std::string_view kernel) {
        return function.expression.starts_with(kernel);
      };
      const KernelKind expected = starts("project") || starts("penalise") ? KernelKind::scatter
                                  : starts("gemm")                        ? KernelKind::gemm
                                  : starts("mass<")                       ? KernelKind::reduce
                                  : starts("loop")                        ? KernelKind::loop
                                                                          : KernelKind::fused;
      EXPECT_EQ(function.kind, expected) << function.expression;
    }
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
