// SPDX-License-Identifier: Apache-2.0
// The local likelihood by the optimized variant on a device: what it computes, on the emulated one,
// and what it costs, on the dry one.
#include <gtest/gtest.h>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/device/cuda_local.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "testing/expect_no_spills.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr double per_spike_single = 1e-4, per_spike_double = 1e-9;

double worst_of_local(const Input& input, const Options& options, Emulation emulation = {}) {
  const LocalFloor floor = options.local_floor ? LocalFloor::applied : LocalFloor::omitted;
  return largest_difference(emulated_result(Unit::local, input, options, emulation),
                            oracle_local(input, floor));
}

TEST(EmulatedLocal, HasTheGoldenValues) {
  EXPECT_LE(worst_of_local(golden::input(), {.arithmetic = Arithmetic::f64}), per_spike_double);
  EXPECT_LE(worst_of_local(golden::input(), {}), per_spike_single);
}

TEST(EmulatedLocal, IsTheOraclesPerSpikeDirectlyAndThroughNodes) {
  for (const Recipe& recipe :
       {Recipe{.size = Size::tiny, .marks = Marks::cells},
        Recipe{.size = Size::small, .marks = Marks::cells}, Recipe{.size = Size::small}}) {
    const Input input = one_spike_per_row(make_input(recipe), 300);
    EXPECT_LE(worst_of_local(input, {.arithmetic = Arithmetic::f64}), per_spike_double);
    EXPECT_LE(worst_of_local(input, {}), per_spike_single);
  }
}

TEST(EmulatedLocal, GoesThroughNodesWhereThatIsLessWork) {
  EXPECT_EQ(local_node_count(shape(Recipe{.size = Size::tiny}), Precision::f32), 0);
  EXPECT_EQ(local_node_count(shape(Recipe{.size = Size::small}), Precision::f32), 64);
  EXPECT_EQ(local_node_count(shape(Recipe{.size = Size::hpc2d}), Precision::f32), 0);
}

TEST(EmulatedLocal, IsTheOraclesInAPlane) {
  const Input input = make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 4000});
  EXPECT_LE(worst_of_local(input, {.arithmetic = Arithmetic::f64}), per_spike_double);
  EXPECT_LE(worst_of_local(input, {}), per_spike_single);
}

TEST(EmulatedLocal, LeavesOutTheFloorOnRequest) {
  const Input input = make_input({.size = Size::tiny, .marks = Marks::cells});
  EXPECT_NE(oracle_local(input, LocalFloor::applied), oracle_local(input, LocalFloor::omitted));
  EXPECT_LE(worst_of_local(input, {.arithmetic = Arithmetic::f64, .local_floor = false}),
            per_spike_double);
  EXPECT_LE(worst_of_local(golden::input(), {.local_floor = false}), 5e-4);
}

TEST(EmulatedLocal, IsFiniteWhereElectrodesHaveNoSpikes) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells, .sparse = true});
  EXPECT_LE(worst_of_local(input, {.arithmetic = Arithmetic::f64}), per_spike_double);
  EXPECT_LE(worst_of_local(input, {.arithmetic = Arithmetic::f64, .local_floor = false}), 1e-8);
}

TEST(EmulatedLocal, ReachesWhereTheAnimalWasNeverEncoded) {
  Input input = golden::input();
  for (double& x : input.decoding.positions) x += 40;
  EXPECT_LE(worst_of_local(input, {}), per_spike_double);
  for (double& x : input.decoding.positions) x += 400;  // where densities underflow in double
  EXPECT_LE(worst_of_local(input, {.arithmetic = Arithmetic::f64}), per_spike_double);
  EXPECT_LE(worst_of_local(input, {}), per_spike_single);
}

TEST(EmulatedLocal, RepeatsToTheLastBitInEitherOrderOfThreads) {
  const Input input = make_input({.size = Size::small});
  const auto once = emulated_result(Unit::local, input);
  EXPECT_EQ(emulated_result(Unit::local, input, {}, {.order = emulation::Order::backward}, 2),
            once);
}

TEST(DryLocal, TakesTwoLaunchesAndOneUpload) {
  const Input input = make_input({.size = Size::medium});
  DryRun run(Unit::local, input);
  const Counts step = run.step();
  EXPECT_EQ(step.launches, 2);
  EXPECT_EQ(step.allocations, 0);
  EXPECT_EQ(step.programs, 0);
  // D features, a position and an electrode per spike; a position and a first spike per row.
  const Shape numbers = shape(input);
  const std::int64_t exact = 4 * (numbers.decoding_total() * 4 + 2 * numbers.rows);
  EXPECT_GE(step.h2d_bytes, exact);
  EXPECT_LE(step.h2d_bytes, exact + 6 * 256 + 4 * numbers.electrodes);
}

TEST(DryLocal, AllocatesWhatItSays) {
  for (const Recipe& recipe : {Recipe{.size = Size::tiny}, Recipe{.size = Size::medium},
                               Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}}) {
    const DryRun run(Unit::local, make_input(recipe));
    EXPECT_EQ(run.backend->ledger.peak_bytes, CudaLocal<float>::bytes(shape(recipe)));
  }
}

TEST(DryLocal, KernelsDoNotSpill) {
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    const DryRun run(Unit::local, make_input({.size = Size::medium, .marks = Marks::cells}),
                     {.arithmetic = arithmetic});
    expect_no_spills(*run.backend->compiler, 128);
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
