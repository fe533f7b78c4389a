// SPDX-License-Identifier: Apache-2.0
// Results of the reference on the host repeat their bits on any number of threads. Run with five of
// them, because two sums are the same in either order.
#include <gtest/gtest.h>

#include "runtime/backend/host_limits.hpp"
#include "xpcs_fit/spectrum.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr Size several_rows = {3, 37};

int different_results(Computation& computation) {
  const std::vector<double> first = result_of(computation);
  int different = 0;
  for (int turn = 0; turn < 50; ++turn) {
    different += result_of(computation) != first;
  }
  return different;
}

struct HostRepeats : testing::Test {
  void SetUp() override { ASSERT_GT(host_limits().threads, 2); }
  std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_F(HostRepeats, CostsOfEitherLoss) {
  for (const Unit unit : {Unit::residual, Unit::normal_equations})
    for (const Loss loss : {Loss::linear, Loss::soft_l1}) {
      if (unit == Unit::residual && loss != Loss::linear) continue;
      const auto computation =
          make(unit, *backend, Variant::reference, problem(several_rows, {.loss = loss}));
      EXPECT_EQ(different_results(*computation), 0) << static_cast<int>(loss);
    }
}

TEST_F(HostRepeats, ThePowerOfASpectrum) {
  EXPECT_EQ(different_results(*make_spectrum(45, *backend, Variant::reference)), 0);
}

}  // namespace
}  // namespace holdfast::xpcs_fit
