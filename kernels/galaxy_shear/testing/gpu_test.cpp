// SPDX-License-Identifier: Apache-2.0
// The same claims on a real GPU; skipped where there is none.
#include <gtest/gtest.h>

#include "galaxy_shear/testing/goldens.hpp"
#include "galaxy_shear/testing/scenes.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast::galaxy_shear {
namespace {

struct GalaxyShearOnAGpu : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("cuda");
};

TEST_F(GalaxyShearOnAGpu, MeetsTheOracleOnThePublishedScenes) {
  for (const auto scene : {golden::t_gaussian, golden::t_moffat, golden::t_moffat_31, golden::l0,
                           golden::l0m, golden::full})
    for (const Variant variant : {Variant::reference, Variant::optimized})
      for (const Precision precision : {Precision::f64, Precision::f32}) {
        SCOPED_TRACE(testing::Message() << int(variant) << ' ' << name(precision));
        expect_oracle(*backend, variant, scene(), precision);
      }
}

TEST_F(GalaxyShearOnAGpu, FitsThePublishedSceneInBothTypes) {
  for (const Variant variant : {Variant::reference, Variant::optimized})
    for (const Precision precision : {Precision::f64, Precision::f32})
      expect_published_scene(*backend, variant, precision);
}

TEST_F(GalaxyShearOnAGpu, EveryWayOfLaunchingAFitGivesTheSameBits) {
  expect_published_fit(*backend);
}

TEST_F(GalaxyShearOnAGpu, GalaxiesOfABatchAreIndependentAndTellTheirFailures) {
  expect_independent(*backend, Variant::optimized, batch_of(Unit::map, {.batch = 64, .steps = 2}));
  expect_failures_told(*backend, Variant::optimized);
  for (const int latents : {4, 8}) expect_drawn(*backend, Variant::optimized, latents);
}

}  // namespace
}  // namespace holdfast::galaxy_shear

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
