// SPDX-License-Identifier: Apache-2.0
#include "families/testing/each_stepped.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

auto each(const std::vector<const Family<Row>*>& families) {
  std::vector<Stepped> all;
  for (const Family<Row>* family : families)
    all.push_back(stepped(Row{.family = family, .angles = 3, .frames = 37}));
  return testing::ValuesIn(all);
}

const std::vector<const Family<Row>*> stepped_families = {&families::g2, &families::residual,
                                                          &families::normal_equations};
INSTANTIATE_TEST_SUITE_P(Of, EachStepped, each(stepped_families), EachStepped::name);
INSTANTIATE_TEST_SUITE_P(Of, EachOfTwoInputs, each(stepped_families), EachStepped::name);

// A sum that is known without a transform shows nothing of one that was left out.
TEST(XpcsSpectrum, HasNothingOfAStepBefore) {
  const Steps steps = steps_of(Row{.family = &families::spectrum, .count = 12});
  const auto backend = open_backend("host");
  for (const Variant variant : {Variant::optimized, Variant::reference})
    EXPECT_THAT(steps.rewritten(*backend, variant), testing::Contains("spectrum"));
  EXPECT_EQ(steps.inputs, 2);
  const auto spectrum = steps.make(*backend, Variant::optimized);
  spectrum->start_again(1);
  spectrum->step();
  EXPECT_LE(steps.oracle.other(spectrum->result(), 1), steps.oracle.limit);
  EXPECT_GT(steps.oracle.other(spectrum->result(), 0), steps.oracle.limit);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
