// SPDX-License-Identifier: Apache-2.0
// Both variants on a real GPU.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "runtime/backend/backend.hpp"
#include "testing/expect_values.hpp"
#include "testing/gpu_main.hpp"
#include "testing/results.hpp"

namespace holdfast::clusterless_kde {
namespace {

// The allowed error of a spike's likelihood in an arithmetic.
struct Way {
  Variant variant = Variant::optimized;
  Arithmetic arithmetic = Arithmetic::f32;
  double per_spike = 1e-4;
};

using Factory = std::unique_ptr<Computation> (*)(Backend&, Variant, const Input&, const Options&);

class ClusterlessKdeOnGpu : public testing::TestWithParam<Way> {
 protected:
  std::vector<double> result(Factory make, const Input& input, Options options = {},
                             int steps = 1) {
    options.arithmetic = GetParam().arithmetic;
    return result_of(*make(*backend, GetParam().variant, input, options), steps);
  }
  void expect_close(const std::vector<double>& computed, const std::vector<double>& exact,
                    double allowed) {
    expect_values("likelihoods", computed, exact, allowed);
  }

  std::unique_ptr<Backend> backend = open_backend("cuda");
};
INSTANTIATE_TEST_SUITE_P(Ways, ClusterlessKdeOnGpu,
                         testing::Values(Way{Variant::reference, Arithmetic::f32, 1e-4},
                                         Way{Variant::reference, Arithmetic::f64, 1e-10},
                                         Way{Variant::optimized, Arithmetic::f32, 1e-4},
                                         Way{Variant::optimized, Arithmetic::ffma, 1e-4},
                                         Way{Variant::optimized, Arithmetic::tf32, 5e-3},
                                         Way{Variant::optimized, Arithmetic::f64, 1e-9}),
                         [](const auto& way) {
                           return (way.param.variant == Variant::reference ? "reference_"
                                                                           : "optimized_") +
                                  std::string(arithmetic_words.of(way.param.arithmetic));
                         });

TEST_P(ClusterlessKdeOnGpu, DecodesTheGoldenCase) {
  expect_close(result(make_total, golden::input()),
               {golden::likelihood.begin(), golden::likelihood.end()}, 3 * GetParam().per_spike);
}

TEST_P(ClusterlessKdeOnGpu, EverySpikesLikelihoodIsTheOracles) {
  // In f64 this has more nodes than a block of hop_b holds at once.
  const Recipe many_nodes = {.size = Size::tet64,
                             .marks = Marks::cells,
                             .scale = 256,
                             .encoding_spikes = 1000,
                             .decoding_spikes = 200};
  for (const Recipe& recipe :
       {Recipe{.size = Size::small, .marks = Marks::cells},
        Recipe{.size = Size::medium, .marks = Marks::cells},
        Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 512}, many_nodes}) {
    SCOPED_TRACE(size_words.of(recipe.size));
    const Input input = one_spike_per_row(make_input(recipe), 400);
    const bool exact = GetParam().arithmetic == Arithmetic::f64 &&
                       path(shape(input), Precision::f64) == Path::dense;
    expect_close(result(make_decode, input), oracle_decoding(input).likelihood,
                 exact ? 1e-10 : GetParam().per_spike);
  }
}

TEST_P(ClusterlessKdeOnGpu, OwnPositionsHaveTheOraclesLikelihood) {
  for (const Size size : {Size::tiny, Size::medium}) {
    const Input input = one_spike_per_row(make_input({.size = size, .marks = Marks::cells}), 400);
    expect_close(result(make_local, input), oracle_local(input), GetParam().per_spike);
  }
}

TEST_P(ClusterlessKdeOnGpu, StepsRepeatToTheLastBit) {
  const Input input = make_input({.size = Size::large, .marks = Marks::cells});
  for (const Factory make : {make_encode, make_decode, make_local})
    EXPECT_EQ(result(make, input, {}, 1), result(make, input, {}, 3));
}

TEST_P(ClusterlessKdeOnGpu, CostsWhatTheDryDeviceCounts) {
  const Input input = make_input({.size = Size::medium});
  const auto dry =
      open_backend("cuda-dry:sm_" + std::to_string(backend->device->architecture().sm));
  const auto counted = [&](Backend& on) {
    const auto total =
        make_total(on, GetParam().variant, input, {.arithmetic = GetParam().arithmetic});
    const Counts before = on.ledger.counts;
    total->step();
    return on.ledger.counts - before;
  };
  const Counts real = counted(*backend), expected = counted(*dry);
  EXPECT_EQ(real.launches, expected.launches);
  EXPECT_EQ(real.library_calls, expected.library_calls);
  EXPECT_EQ(real.h2d_bytes, expected.h2d_bytes);
  EXPECT_EQ(real.copies, expected.copies);
  EXPECT_EQ(backend->ledger.peak_bytes, dry->ledger.peak_bytes);
  EXPECT_EQ(backend->ledger.counts.programs, dry->ledger.counts.programs);
}

// Dense, then in two hops.
TEST(OptimizedKdeOnGpu, ChunksTilesAndConsumersChangeNoBit) {
  const auto backend = open_backend("cuda");
  for (const Recipe& recipe : {Recipe{.size = Size::hpc2d, .marks = Marks::cells, .scale = 64},
                               Recipe{.size = Size::large, .marks = Marks::cells}}) {
    SCOPED_TRACE(size_words.of(recipe.size));
    const Input input = make_input(recipe);
    const auto decoded = [&](const Options& options) {
      return result_of(*make_decode(*backend, Variant::optimized, input, options));
    };
    const auto whole = decoded({});
    EXPECT_EQ(decoded({.chunks = 5}), whole);
    EXPECT_EQ(decoded({.block = 32}), whole);
    EXPECT_EQ(decoded({.encoding_tile = 16}), whole);
    EXPECT_EQ(decoded({.values = Values::recomputed}), whole);
    EXPECT_EQ(decoded({.chunks = 5, .consume = true}), decoded({.consume = true}));
  }
}

TEST(OptimizedKdeOnGpu, ACutChangesNothingAboveTheFloor) {
  const auto backend = open_backend("cuda");
  const Input input =
      one_spike_per_row(make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}), 400);
  const auto exact = oracle_decoding(input).likelihood;
  for (const auto& [arithmetic, per_spike] :
       {std::pair{Arithmetic::f32, 1e-4}, {Arithmetic::f64, 1e-10}}) {
    const auto decode =
        make_decode(*backend, Variant::optimized, input, {.arithmetic = arithmetic, .cut = true});
    expect_values(arithmetic_words.of(arithmetic), result_of(*decode), exact, per_spike);
  }
}

TEST(OptimizedKdeOnGpu, BudgetsAreKept) {
  const auto backend = open_backend("cuda");
  const Input input = make_input({.size = Size::hpc2d, .marks = Marks::cells, .scale = 16});
  constexpr std::int64_t budget = 64 << 20;
  const auto decode = make_decode(*backend, Variant::optimized, input, {.budget = budget});
  decode->step();
  EXPECT_LE(backend->ledger.peak_bytes, budget);
  EXPECT_EQ(backend->ledger.peak_bytes, plan(*backend, input, {.budget = budget}).estimate_bytes);
}

}  // namespace
}  // namespace holdfast::clusterless_kde

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
