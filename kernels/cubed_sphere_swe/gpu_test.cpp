// SPDX-License-Identifier: Apache-2.0
// Both variants on a real GPU. Exit status 77, which CTest takes for skipped, where there is none.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/expect_golden.hpp"
#include "runtime/backend.hpp"
#include "runtime/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

class CubedSphereOnGpu : public testing::TestWithParam<Variant> {
 protected:
  std::vector<double> after(int calls, const Size& size) {
    const auto step = make_rk4_step(*backend, GetParam(), size);
    for (int i = 0; i < calls; ++i) step->step();
    return step->result();
  }
  std::vector<double> after_loop(Launch launch, int steps) {
    const auto loop =
        make_loop(*backend, GetParam(), {.n = 48}, {.launch = launch, .steps = steps});
    loop->step();
    loop->step();
    return loop->result();
  }

  std::unique_ptr<Backend> backend = open_backend("cuda");
};
INSTANTIATE_TEST_SUITE_P(Variants, CubedSphereOnGpu,
                         testing::Values(Variant::reference, Variant::optimized),
                         [](const auto& variant) {
                           return variant.param == Variant::reference ? "reference" : "optimized";
                         });

TEST_P(CubedSphereOnGpu, TendencyHasTheGoldenValues) {
  const auto rhs = make_rhs(*backend, GetParam(), {.n = 8});
  rhs->step();
  expect_golden(golden_tendency(as_state({.n = 8}, rhs->result())));
}

TEST_P(CubedSphereOnGpu, OneStepHasTheGoldenValues) {
  expect_golden(golden_step(as_state({.n = 8}, after(1, {.n = 8}))));
}

TEST_P(CubedSphereOnGpu, TenStepsHaveTheGoldenValues) {
  expect_golden(golden_ten_steps(as_state({.n = 8}, after(10, {.n = 8}))));
}

TEST_P(CubedSphereOnGpu, HundredStepsAgreeWithTheHost) {
  const auto host = open_backend("host");
  for (const int n : {24, 96}) {
    SCOPED_TRACE(n);
    const auto expected = make_loop(*host, Variant::optimized, {n});
    expected->step();
    const auto there = after(100, {n}), here = expected->result();
    ASSERT_EQ(there.size(), here.size());
    for (std::size_t i = 0; i < here.size(); ++i)
      ASSERT_NEAR(there[i], here[i], 1e-13) << "entry " << i;
  }
}

TEST_P(CubedSphereOnGpu, TwoRunsAgreeToTheLastBit) {
  EXPECT_EQ(after(10, {.n = 96}), after(10, {.n = 96}));
}

TEST_P(CubedSphereOnGpu, ALoopEqualsItsStepsHoweverItIsLaunched) {
  for (const int steps : {1, 7}) {
    SCOPED_TRACE(steps);
    EXPECT_EQ(after_loop(Launch::graph, steps), after_loop(Launch::host, steps));
    EXPECT_EQ(after_loop(Launch::host, steps), after(2 * steps, {.n = 48}));
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe

int main(int argc, char** argv) {
  constexpr int skipped = 77;
  testing::InitGoogleTest(&argc, argv);
  try {
    (void)holdfast::open_backend("cuda");
  } catch (const holdfast::Error& error) {
    if (error.fault() != holdfast::Fault::no_device) throw;
    std::puts(error.what());
    return skipped;
  }
  return RUN_ALL_TESTS();
}
