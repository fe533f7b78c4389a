// SPDX-License-Identifier: Apache-2.0
#include "heat/heat.hpp"

#include <gtest/gtest.h>

#include "heat/problem/formulas.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "testing/differences.hpp"
#include "testing/dry_run.hpp"

#include "runtime/emulation/emulation_shim.hpp"

namespace on_cpu {
#include "heat/device/heat.cu"
}

namespace holdfast::heat {

constexpr Variant variants[] = {Variant::reference, Variant::optimized};
constexpr Size size = {37};  // more than a warp, and no multiple of one

TEST(Heat, ShrinksByItsGrowthFactor) {
  EmulatedKernels kernels;
  kernels.add("laplacian", &on_cpu::laplacian);
  kernels.add("update", &on_cpu::update);
  kernels.add("step", &on_cpu::step);
  const auto host = open_backend("host"), device = make_emulated_backend(kernels);
  for (Backend* backend : {host.get(), device.get()})
    for (const Variant variant : variants) {
      const auto computation = make_step(*backend, variant, size);
      for (int k = 0; k < 7; ++k) computation->step();
      EXPECT_LT(largest_difference(computation->result(), exact(size, 7)), 1e-14);
    }
}

TEST(Heat, IsOneLaunchWhereTheReferenceIsTwo) {
  for (const Variant variant : variants) {
    DryRun run(90, [=](Backend& backend) { return make_step(backend, variant, size); });
    EXPECT_EQ(run.step().launches, variant == Variant::reference ? 2 : 1);
  }
}

}  // namespace holdfast::heat
