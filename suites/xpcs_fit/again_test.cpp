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

}  // namespace
}  // namespace holdfast::xpcs_fit
