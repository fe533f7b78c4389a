// SPDX-License-Identifier: Apache-2.0
// Both variants on the emulated device against the oracle, and their costs.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "runtime/backend/spoil.hpp"
#include "testing/differences.hpp"
#include "testing/dry_run.hpp"
#include "testing/expect_f64_instructions.hpp"
#include "testing/expect_no_spills.hpp"
#include "xpcs_fit/device/kernels.hpp"
#include "xpcs_fit/device/spectrum_kernels.hpp"
#include "xpcs_fit/oracle/distance.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/spectrum.hpp"
#include "xpcs_fit/testing/kernels_on_cpu.hpp"
#include "xpcs_fit/testing/support.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

std::vector<double> result(Unit unit, Backend& backend, Variant variant, const Problem& problem) {
  return result_of(*make(unit, backend, variant, problem), 2);
}

TEST(XpcsDevice, ComputesTheModel) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem(emulated_size, {.mode = mode});
    const std::vector<double> expected = oracle::model(one, one.input->box.start);
    const auto ours = emulated_optimized(), theirs = emulated_reference(one.options);
    EXPECT_LT(largest_difference(result(Unit::g2, *ours, Variant::optimized, one), expected),
              2e-12);
    EXPECT_LT(largest_difference(result(Unit::g2, *theirs, Variant::reference, one), expected),
              2e-12);
    Problem narrow = one;
    narrow.options.precision = Precision::f32;
    EXPECT_LT(largest_difference(result(Unit::g2, *ours, Variant::optimized, narrow), expected),
              5e-6);
  }
}

TEST(XpcsDevice, ComputesTheResidualAndItsCost) {
  const Problem one = problem(emulated_size, {});
  std::vector<double> expected = oracle::residual(one, one.input->box.start);
  expected.insert(expected.begin(), oracle::cost(one, one.input->box.start));
  const auto ours = emulated_optimized(emulation::Order::backward),
             theirs = emulated_reference(one.options);
  EXPECT_LT(largest_difference(result(Unit::residual, *ours, Variant::optimized, one), expected),
            1e-11);
  EXPECT_LT(largest_difference(result(Unit::residual, *theirs, Variant::reference, one), expected),
            1e-11);
}

TEST(XpcsDevice, BeginsAgainAtAnotherStart) {
  const Problem one = problem(emulated_size, {});
  const auto ours = emulated_optimized(), theirs = emulated_reference(one.options);
  for (const Unit unit : {Unit::g2, Unit::residual, Unit::normal_equations}) {
    expect_turns(unit, *ours, Variant::optimized, one);
    expect_turns(unit, *theirs, Variant::reference, one);
  }
}

// After its memory is spoilt, a step uses nothing of the step before.
TEST(XpcsDevice, WritesIntegralsAndSumsInEachStep) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Unit unit : {Unit::g2, Unit::residual, Unit::normal_equations}) {
      const auto backend = emulated_optimized();
      const auto computation =
          make(unit, *backend, Variant::optimized, problem(emulated_size, {.mode = mode}));
      const std::vector<double> first = result_of(*computation);
      for (const std::string_view site : {"frames", "partial sums", "result"})
        (void)spoil(*backend, site);
      EXPECT_EQ(result_of(*computation), first);
    }
}

constexpr emulation::Order orders[] = {emulation::Order::forward, emulation::Order::backward};

// As many as on a large device, of whole numbers, whose sums are exact.
TEST(XpcsDevice, AddsUpMorePartialSumsThanABlockHasThreads) {
  constexpr int groups = 2, slots = 5 * sum_threads + 7, count = 3;
  std::vector<double> partial, expected(groups * count);
  for (int k = 0; k < groups * slots * count; ++k) {
    partial.push_back(k * 7919 % 1009);
    expected[k / (slots * count) * count + k % count] += partial.back();
  }
  for (const emulation::Order order : orders) {
    const auto backend = emulated_optimized(order);
    const CommonKernels kernels(*backend->compiler);
    const Buffer<double> from(*backend, partial, "partial sums"),
        sums(*backend, expected.size(), "sums");
    kernels.reduce({.grid = {count, groups}, .block = {sum_threads}}, from.data(), slots, count,
                   sums.data());
    EXPECT_EQ(sums.to_host(), expected);
  }
}

TEST(XpcsDevice, AddsUpThePowerOfMoreBlocksThanABlockHasThreads) {
  constexpr int count = 8 * pair_threads + 3;
  std::vector<double> partial;
  for (int k = 0; k < count; ++k) partial.push_back(k);
  const auto backend = emulated_optimized();
  const SpectrumKernels kernels(*backend->compiler);
  const Buffer<double> from(*backend, partial, "partial sums"), sum(*backend, 1, "sum");
  kernels.total({.block = {pair_threads}}, from.data(), count, sum.data());
  EXPECT_EQ(sum.to_host().front(), count * (count - 1) / 2);
}

// Threads have runs of frames, the last of which is shorter or empty.
TEST(XpcsDevice, IntegratesOverMoreFramesThanABlockHasThreads) {
  const std::vector<double> known = {0.3, 1, 1500, -0.7, 10, 3e-2, 0.3, 1e-3, 20}, turned = {30};
  for (const int count : {frame_threads - 1, frame_threads + 1, 2 * frame_threads + 88})
    for (const emulation::Order order : orders) {
      const auto backend = emulated_optimized(order);
      const CommonKernels kernels(*backend->compiler);
      const Buffer<double> parameters(*backend, known, "parameters"),
          angles(*backend, turned, "angles"), work(*backend, std::size_t(8) * count, "integrals"),
          frames(*backend, work.size(), "frames");
      const Buffer<AngleRow<double>> rows(*backend, 1, "rows");
      const Grid grid = {
          .kappa = 1, .flow = 1, .dt = 0.1, .angles = 1, .count = count, .laminar = 1};
      kernels.prefix64({.grid = {1, 8}, .block = {frame_threads}}, grid, parameters.data(), 9,
                       angles.data(), work.data(), frames.data(), rows.data());
      const std::vector<double> found = work.to_host();
      const auto rate = [&](int array, int i) {
        const Rate of = array < 4 ? diffusion_rate(i * grid.dt, known.data() + 2)
                                  : shear_rate(i * grid.dt, grid.dt, known.data() + 5);
        return array % 4 == 0 ? of.value : of.by[array % 4 - 1];
      };
      for (int array = 0; array < 8; ++array) {
        std::vector<double> expected = {-(rate(array, 0) + rate(array, 1)) / 2, 0};
        for (int i = 2; i < count; ++i)
          expected.push_back(expected.back() + (rate(array, i - 1) + rate(array, i)) / 2);
        const auto own = std::span(found).subspan(std::size_t(array) * count, count);
        const double size = largest_difference(expected, std::vector<double>(expected.size()));
        EXPECT_LT(largest_difference(own, expected), 1e-13 * size)
            << count << " frames, array " << array;
      }
    }
}

TEST(XpcsDevice, ComputesNormalEquationsInEveryForm) {
  for (const Options& options : every_form) {
    const Problem one = problem(emulated_size, options);
    const auto expected = oracle::in_a_row(oracle::normal_equations(one, one.input->box.start));
    for (const auto order : orders) {
      const auto ours = emulated_optimized(order);
      EXPECT_LT(oracle::distance(result(Unit::normal_equations, *ours, Variant::optimized, one),
                                 expected),
                1e-11);
    }
    if (options.mode == Mode::at_rest && options.scaling == Scaling::per_angle) continue;
    const auto theirs = emulated_reference(options);
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, *theirs, Variant::reference, one),
                               expected),
              1e-11);
  }
}

TEST(XpcsDevice, KeepsInSinglePrecisionWhatThatLeaves) {
  for (const Mode mode : {Mode::at_rest, Mode::laminar}) {
    const Problem one = problem(emulated_size, {.mode = mode, .precision = Precision::f32});
    const auto expected = oracle::in_a_row(oracle::normal_equations(one, one.input->box.start));
    const auto backend = emulated_optimized();
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, *backend, Variant::optimized, one),
                               expected),
              5e-5);
    const oracle::Fit fit = oracle::fit(one, 8);
    const std::vector<double> found = result(Unit::fit, *backend, Variant::optimized, one);
    expect_parameters(found, fit, 1e-2);
  }
}

TEST(XpcsDevice, TakesPhasesOfThousandsForWhatTheyAre) {
  const auto ours = emulated_optimized(), theirs = emulated_reference({});
  expect_phases_of_thousands(*ours, Variant::optimized, emulated_size);
  expect_phases_of_thousands(*theirs, Variant::reference, emulated_size);
}

void expect_derivatives(const Problem& one, double limit) {
  const auto expected = oracle::in_a_row(oracle::normal_equations(one, one.input->box.start));
  const auto ours = emulated_optimized(), theirs = emulated_reference(one.options);
  for (const auto& [variant, backend] :
       {std::pair{Variant::optimized, ours.get()}, {Variant::reference, theirs.get()}})
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, *backend, variant, one), expected),
              limit);
}

TEST(XpcsDevice, LeavesClippedPointsOutOfDerivatives) {
  for (const auto& start : clipped_starts)
    expect_derivatives(at(problem(emulated_size, {}), start), 1e-11);
}

// The last integrals of the shear differ by rounding alone.
TEST(XpcsDevice, LeavesFlooredRatesOutOfDerivatives) {
  expect_derivatives(with_floored_rates(emulated_size), 1e-6);
}

// Moved points change F, g and N by their contributions.
TEST(XpcsDevice, ReadsEveryPoint) {
  const Problem one = problem(emulated_size, {});
  for (const unsigned seed : {5, 6}) {
    const Problem moved = with_moved_points(one, 20, seed);
    const auto expected = oracle::in_a_row(oracle::normal_equations(moved, moved.input->box.start));
    const auto ours = emulated_optimized(), theirs = emulated_reference(one.options);
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, *ours, Variant::optimized, moved),
                               expected),
              1e-11);
    EXPECT_LT(oracle::distance(result(Unit::normal_equations, *theirs, Variant::reference, moved),
                               expected),
              1e-11);
  }
}

// All threads read the judgement, the trial and the restart that one of them writes.
TEST(XpcsDevice, FitsToTheSameBitsInEitherOrderOfThreads) {
  std::vector<std::vector<double>> fits;
  for (const emulation::Order order : orders) {
    const auto backend = emulated_optimized(order);
    const auto fit = make(Unit::fit, *backend, Variant::optimized, problem(emulated_size, {}));
    fits.push_back(result_of(*fit));
    (void)spoil(*backend, "result");
    fits.push_back(result_of(*fit));
  }
  EXPECT_EQ(fits, std::vector(fits.size(), fits.front()));
}

TEST(XpcsDevice, AFitThatTheHostStepsBeginsAnewInEachStep) {
  const auto backend = emulated_optimized();
  const auto fit = make(Unit::fit, *backend, Variant::optimized,
                        problem(emulated_size, {.scaling = Scaling::per_angle}));
  const std::vector<double> first = result_of(*fit);
  EXPECT_EQ(result_of(*fit), first);
}

TEST(XpcsDevice, FitsAsTheOracleDoes) {
  const Problem one = problem(emulated_size, {});
  const oracle::Fit expected = oracle::fit(one, 8), stopped = oracle::fit(one);
  const auto ours = emulated_optimized(), theirs = emulated_reference(one.options);
  for (const auto& [variant, backend] :
       {std::pair{Variant::optimized, ours.get()}, {Variant::reference, theirs.get()}}) {
    const std::vector<double> fit = result(Unit::fit, *backend, variant, one);
    EXPECT_NEAR(fit[0] / expected.cost, 1, 1e-9);
    expect_parameters(fit, expected, 1e-4);
    const std::vector<double> ended = result(Unit::converged_fit, *backend, variant, one);
    EXPECT_EQ(ended[1], stopped.passes);
    EXPECT_EQ(ended[2], stopped.status);
    EXPECT_NEAR(ended[0] / stopped.cost, 1, 1e-9);
  }
}

TEST(XpcsDevice, AsksNothingWhileItFits) {
  const Options options;
  const Problem one = {make_input({.size = {4, 48}, .sized_only = true}, options), options};
  DryRun run(90,
             [&](Backend& backend) { return make(Unit::fit, backend, Variant::optimized, one); });
  const Counts step = run.step();
  EXPECT_EQ(step.graph_nodes, 32);
  EXPECT_EQ(step.launches, 32);
  EXPECT_EQ(step.h2d_bytes + step.d2h_bytes + step.syncs + step.allocations, 0);
  EXPECT_EQ(run.backend->ledger.counts.programs, 2);
}

constexpr Pattern patterns[] = {Pattern::angle_loop, Pattern::costs, Pattern::chunks,
                                Pattern::round_trip, Pattern::turns};

TEST(XpcsDevice, ComputesPatterns) {
  constexpr int count = 11;  // the compiled number of turns
  const Problem one = problem(emulated_size, {});
  for (const Pattern pattern : patterns) {
    const auto ours = emulated_optimized();
    const auto theirs =
        emulated_reference(one.options, pattern == Pattern::angle_loop ? 1 : emulated_size.angles);
    for (const auto& [variant, backend] :
         {std::pair{Variant::optimized, ours.get()}, {Variant::reference, theirs.get()}})
      expect_pattern(pattern, count, *backend, variant, one);
  }
}

TEST(XpcsDevice, MakesEveryTurnOfARoundTrip) {
  const Problem one = problem(emulated_size, {});
  const auto ours = emulated_optimized(), theirs = emulated_reference(one.options);
  expect_every_turn(*ours, Variant::optimized, one, 50);
  expect_every_turn(*theirs, Variant::reference, one, 50);
}

TEST(XpcsDevice, TransformsAsParsevalSays) {
  for (const int n : {2, 7, 16, 45})
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const auto backend = emulated_optimized();
      const auto spectrum = make_spectrum(n, *backend, variant);
      EXPECT_NEAR(result_of(*spectrum, 2).front() / exact_power(n), 1, 1e-13) << n;
      spectrum->start_again(1);
      EXPECT_NEAR(result_of(*spectrum, 1).front() / exact_power(n, 1), 1, 1e-13) << n;
    }
}

TEST(XpcsDevice, CountsWhatPatternsCost) {
  const Size size = {23, 20};
  const Problem one = {make_input({.size = size, .sized_only = true}, {}), {}};
  const auto step = [&](Pattern pattern, Variant variant, int count) {
    return DryRun(90, [&](Backend& backend) { return make(pattern, count, backend, variant, one); })
        .step();
  };
  const auto bytes = [&](std::int64_t times) { return times * 8 * size.points(); };
  EXPECT_EQ(step(Pattern::angle_loop, Variant::optimized, 1).launches, 2);
  EXPECT_EQ(step(Pattern::angle_loop, Variant::reference, 1).launches, 8 * 23);
  for (const int count : {8, 64})
    EXPECT_EQ(step(Pattern::costs, Variant::optimized, count).launches, 3);
  EXPECT_EQ(step(Pattern::round_trip, Variant::optimized, 50).h2d_bytes, bytes(1));
  EXPECT_EQ(step(Pattern::round_trip, Variant::optimized, 50).d2h_bytes, bytes(1));
  EXPECT_EQ(step(Pattern::round_trip, Variant::reference, 50).h2d_bytes, bytes(50));
  EXPECT_EQ(step(Pattern::round_trip, Variant::reference, 50).d2h_bytes, bytes(50));
}

TEST(XpcsDevice, TakesSoManyLaunches) {
  const auto launches = [](Unit unit, Variant variant, Size size, const Options& options) {
    const Problem one = {
        make_input(
            {.size = size, .weighted = options.weights == Weights::array, .sized_only = true},
            options),
        options};
    return DryRun(90, [&](Backend& backend) { return make(unit, backend, variant, one); })
        .step()
        .launches;
  };
  for (const Size size : {Size{4, 48}, Size{72, 20}}) {
    EXPECT_EQ(launches(Unit::g2, Variant::optimized, size, {}), 2);
    EXPECT_EQ(launches(Unit::residual, Variant::optimized, size, {}), 3);
    for (const Options& options : every_form)
      EXPECT_EQ(launches(Unit::normal_equations, Variant::optimized, size, options), 3);
  }
  EXPECT_EQ(launches(Unit::g2, Variant::reference, {4, 48}, {}), 8);
  EXPECT_EQ(launches(Unit::normal_equations, Variant::reference, {4, 48}, {}), 8 + 1 + 9 + 3);
}

TEST(XpcsDevice, FitsItsRegisters) {
  for (const Options& options : every_form) {
    const Problem one = problem({4, 48}, options);
    DryRun run(90, [&](Backend& backend) {
      return make(Unit::normal_equations, backend, Variant::optimized, one);
    });
    EXPECT_EQ(run.backend->ledger.counts.programs, 2);
    expect_no_spills(*run.backend->compiler, 240);
  }
}

// Sums, and what a point shares with its whole row, are in double; what is done for each point of a
// pass is not.
TEST(XpcsDevice, ComputesPointsOfSinglePrecisionInIt) {
  const auto expect = [](Unit unit, const Options& options,
                         const std::map<std::string, std::int64_t>& most) {
    const Problem one = problem({4, 48}, options);
    DryRun run(90, [&](Backend& backend) { return make(unit, backend, Variant::optimized, one); });
    expect_f64_instructions(*run.backend->compiler, most);
  };
  expect(Unit::normal_equations, {.precision = Precision::f32}, {{"pass<float, 1, 0>", 770}});
  expect(Unit::normal_equations,
         {.scaling = Scaling::per_angle,
          .loss = Loss::soft_l1,
          .weights = Weights::array,
          .precision = Precision::f32},
         {{"pass<float, 1, 3>", 771}});
  expect(Unit::residual, {.precision = Precision::f32}, {{"residuals<float, 1>", 127}});
}

}  // namespace
}  // namespace holdfast::xpcs_fit
