// SPDX-License-Identifier: Apache-2.0
// The cost of the optimized decode on a device, counted on the dry one.
#include <gtest/gtest.h>

#include <cstdint>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/device/decode_tiling.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "testing/expect_no_spills.hpp"

namespace holdfast::clusterless_kde {
namespace {

// One path, then the other.
TEST(DryDecode, TwoLaunchesPerTimeChunkAndThreeWithAConsumer) {
  for (const Input& input : {make_input({.size = Size::small}), make_input({.size = Size::medium})})
    for (const int chunks : {1, 3}) {
      EXPECT_EQ(DryRun(Unit::decode, input, {.chunks = chunks}).step().launches, 2 * chunks);
      EXPECT_EQ(DryRun(Unit::decode, input, {.chunks = chunks, .consume = true}).step().launches,
                3 * chunks);
    }
}

TEST(DryDecode, SeveralChunksAreOneGraph) {
  const Input input = make_input({.size = Size::small, .marks = Marks::cells});
  EXPECT_EQ(DryRun(Unit::decode, input).step().graph_nodes, 0);
  for (const Unit unit : {Unit::decode, Unit::total}) {
    DryRun run(unit, input, {.chunks = 4, .consume = true});
    EXPECT_EQ(run.step().graph_nodes, 4 * 3);
    EXPECT_EQ(run.step().graph_nodes, 4 * 3);
  }
}

TEST(DryDecode, AStepUploadsSpikesAndTilesAndMakesNothing) {
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    const Input input = make_input({.size = Size::small, .marks = Marks::cells});
    const Shape sizes = shape(input);
    const std::int64_t word = arithmetic == Arithmetic::f64 ? 8 : 4;
    const std::int64_t spikes = sizes.decoding_total() * (word * input.features + 2 * 4);
    const std::int64_t tiles = 16 * (sizes.decoding_total() / 16 + sizes.electrodes),
                       alignment = 4 * 255;
    DryRun run(Unit::decode, input, {.arithmetic = arithmetic});
    const Counts step = run.step();
    EXPECT_GE(step.h2d_bytes, spikes);
    EXPECT_LE(step.h2d_bytes, spikes + tiles + alignment);
    EXPECT_EQ(step.d2h_bytes, 0);
    EXPECT_EQ(step.allocations, 0);
    EXPECT_EQ(step.programs, 0);
  }
}

TEST(DryDecode, CountsOfSpikesRowsAndPlacesCompileNothing) {
  DryRun run(Unit::decode, make_input({.size = Size::tiny, .marks = Marks::cells}));
  const auto programs = run.backend->ledger.counts.programs;
  EXPECT_LE(programs, 2);
  for (const std::uint64_t seed : {43, 44})
    make_unit(*run.backend, Unit::decode,
              make_input({.size = Size::small, .marks = Marks::cells, .seed = seed}))
        ->step();
  EXPECT_EQ(run.backend->ledger.counts.programs, programs);
}

// On 132 multiprocessors with four schedulers each. A decode that fills the device shares nothing,
// because its warps would only wait for one another.
TEST(DryDecode, WarpsShareEncodingSpikesWhereADeviceWouldBeIdle) {
  struct Case {
    Recipe recipe;
    int parts;
    std::int64_t warps;  // minimum for hop_a
  };
  const auto backend = open_backend("cuda-dry:sm_90");
  for (const auto& [recipe, parts, warps] :
       {Case{{.size = Size::tiny}, 2, 8}, Case{{.size = Size::small}, 4, 64},
        Case{{.size = Size::medium}, 8, 400}, Case{{.size = Size::large}, 4, 1200},
        Case{{.size = Size::realistic}, 1, 800},
        Case{{.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}, 1, 1200}}) {
    const Input input = make_input(recipe);
    const Shape sizes = shape(input);
    for (const int chunks : {1, 3}) {
      const DecodeTiling tiling =
          decode_tiling<float, SplitBf16>(sizes, plan(*backend, input, {.chunks = chunks}));
      EXPECT_EQ(tiling.parts, parts) << size_words.of(recipe.size);
      EXPECT_LE(tiling.mark_warps(), most_mark_warps);
      EXPECT_GE(most_spike_tiles(sizes, chunks, tiling.tile_spikes()) * tiling.mark_warps() *
                    ((tiling.width + tiling.columns - 1) / tiling.columns),
                warps)
          << size_words.of(recipe.size);
    }
  }
}

// The configurations with the most registers.
class DryDecodeResources : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Architectures, DryDecodeResources, testing::Values(90),
                         [](const auto& sm) { return text("sm_", sm.param); });
INSTANTIATE_TEST_SUITE_P(Nightly, DryDecodeResources, testing::Values(80, 100),
                         [](const auto& sm) { return text("sm_", sm.param); });

TEST_P(DryDecodeResources, NoKernelSpills) {
  const auto track = [](Marks marks, int features) {
    return make_input({.size = Size::tiny, .marks = marks, .features = features});
  };
  const Input dense = track(Marks::cells, 4), wide = track(Marks::whiten, 10);
  const Input two_hop = make_input({.size = Size::tet64,
                                    .marks = Marks::cells,
                                    .scale = 256,
                                    .encoding_spikes = 1000,
                                    .decoding_spikes = 10});
  struct Case {
    const Input& input;
    Options options;
  };
  for (const auto& [input, options] :
       {Case{dense, {.cut = true}}, Case{wide, {.distance = Distance::expanded}},
        Case{two_hop, {.consume = true}}, Case{two_hop, {.values = Values::recomputed}},
        Case{dense, {.arithmetic = Arithmetic::ffma}},
        Case{two_hop, {.arithmetic = Arithmetic::ffma}},
        Case{two_hop, {.arithmetic = Arithmetic::tf32}},
        Case{dense, {.arithmetic = Arithmetic::f64, .cut = true}},
        Case{wide, {.arithmetic = Arithmetic::f64}},
        Case{two_hop, {.arithmetic = Arithmetic::f64}}}) {
    const DryRun run(Unit::decode, input, options, GetParam());
    expect_no_spills(*run.backend->compiler);
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
