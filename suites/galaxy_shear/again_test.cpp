// SPDX-License-Identifier: Apache-2.0
#include "families/testing/each_stepped.hpp"
#include "galaxy_shear/row.hpp"

namespace holdfast::galaxy_shear {
namespace {

auto each(const std::vector<const Family<Row>*>& families) {
  std::vector<Stepped> all;
  for (const Family<Row>* family : families)
    all.push_back(stepped(
        Row{.family = family, .options = {.fft = 32, .image = 21, .batch = 2, .steps = 3}}));
  return testing::ValuesIn(all);
}

INSTANTIATE_TEST_SUITE_P(Of, EachStepped,
                         each({&families::render, &families::render_grad, &families::forward,
                               &families::svi_step, &families::map, &families::psf_table}),
                         EachStepped::name);
INSTANTIATE_TEST_SUITE_P(Of, EachOfTwoInputs,
                         each({&families::render, &families::render_grad, &families::forward,
                               &families::map}),
                         EachStepped::name);

}  // namespace
}  // namespace holdfast::galaxy_shear
