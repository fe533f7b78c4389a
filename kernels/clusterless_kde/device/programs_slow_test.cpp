// SPDX-License-Identifier: Apache-2.0
// All programs of all configurations of the optimized variant, on the dry device.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/problem/words.hpp"
#include "clusterless_kde/testing/support.hpp"
#include "testing/expect_no_spills.hpp"

namespace holdfast::clusterless_kde {
namespace {

struct Configuration {
  Recipe recipe = {};
  Options options = {};
};
// Every program that a suite can request, except for other tiles, which are free to choose.
std::vector<Configuration> configurations() {
  std::vector<Configuration> all;
  const Recipe recipes[] = {{.size = Size::tiny},
                            {.size = Size::medium},
                            {.size = Size::small, .marks = Marks::cells},
                            {.size = Size::medium, .marks = Marks::whiten, .features = 8},
                            {.size = Size::medium, .marks = Marks::whiten, .features = 10},
                            {.size = Size::tet64, .marks = Marks::cells, .scale = 64},
                            {.size = Size::hpc1d, .marks = Marks::cells, .scale = 64},
                            {.size = Size::hpc2d, .marks = Marks::cells, .scale = 64}};
  for (const Recipe& recipe : recipes)
    for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
      all.push_back({recipe, {.arithmetic = arithmetic}});
  for (const Arithmetic arithmetic : {Arithmetic::ffma, Arithmetic::tf32})
    all.push_back({{.size = Size::medium, .marks = Marks::cells}, {.arithmetic = arithmetic}});
  all.push_back({{.size = Size::medium}, {.values = Values::recomputed}});
  for (const Size size : {Size::hpc1d, Size::hpc2d})
    all.push_back({{.size = size, .marks = Marks::cells, .scale = 64}, {.cut = true}});
  return all;
}

class EveryConfiguration : public testing::TestWithParam<int> {};
std::string name_of(const testing::TestParamInfo<int>& sm) {
  return text("sm_", sm.param);
}
INSTANTIATE_TEST_SUITE_P(Architectures, EveryConfiguration, testing::Values(90), name_of);
INSTANTIATE_TEST_SUITE_P(Nightly, EveryConfiguration, testing::Values(80, 100), name_of);

TEST_P(EveryConfiguration, CompilesAtMostFourProgramsOnceAndNoneSpills) {
  for (const auto& [recipe, options] : configurations()) {
    const Input input = make_input(recipe);
    for (const Unit unit : {Unit::total, Unit::local}) {
      SCOPED_TRACE(text(size_words.of(recipe.size), " ", marks_words.of(recipe.marks), " ",
                        arithmetic_words.of(options.arithmetic), " D ", recipe.features));
      DryRun run(unit, input, options, GetParam());
      EXPECT_LE(run.backend->ledger.counts.programs, 4);
      EXPECT_EQ(run.step().programs, 0);
      expect_no_spills(*run.backend->compiler);
    }
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde
