// SPDX-License-Identifier: Apache-2.0
// For tests: claims about scenes of several galaxies that hold on every backend and for both
// variants.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/testing/support.hpp"
#include "testing/differences.hpp"

namespace holdfast::galaxy_shear {

// A step of `objects` objects from the published start, with pattern noise.
inline Problem scene_problem(const Scene& scene, int objects,
                             Precision precision = Precision::f64) {
  return {.unit = Unit::scene_step,
          .scene = scene,
          .objects = objects,
          .precision = precision,
          .starts = start_of_objects(scene, objects),
          .data = scene_data_of(scene, Noise::pattern, objects)};
}

// The published scene; m after a first step is a tenth of the gradient.
inline void expect_published_scene(Backend& backend, Variant variant,
                                   Precision precision = Precision::f64) {
  const golden::Golden golden = golden::scene();
  const bool single = precision == Precision::f32;
  const auto found =
      after(backend, variant, scene_problem(golden.scene, golden::scene_objects, precision));
  const std::size_t count = golden.gradient.size();
  ASSERT_EQ(found.size(), 3 * count + 3);
  std::vector<double> gradient(found.begin() + count, found.begin() + 2 * count);
  for (double& value : gradient) value *= 10;
  EXPECT_LT(largest_difference(gradient, golden.gradient),
            (single ? 2e-4 : 1e-9) * largest(golden.gradient));
  EXPECT_NEAR(found[3 * count], golden.loss, (single ? 2e-5 : 1e-10) * golden.loss);
  EXPECT_EQ(found[3 * count + 1], 1) << "steps";
  EXPECT_EQ(found[3 * count + 2], 0) << "status";
}

// Three steps of a scene of any size, against the oracle's.
inline void expect_scene(Backend& backend, Variant variant, const Options& options) {
  const Scene scene = scene_of(options);
  const Problem problem = scene_problem(scene, options.objects, options.precision);
  const auto found = after(backend, variant, problem, 3);
  const auto expected = oracle::scene_fit(scene, problem.data, problem.starts, 3);
  const std::size_t count = problem.starts.size();
  const std::span all(found);
  const bool single = options.precision == Precision::f32;
  EXPECT_LT(largest_difference(all.first(count), expected.u), single ? 2e-5 : 1e-10);
  EXPECT_LT(largest_difference(all.subspan(count, count), expected.m),
            (single ? 2e-4 : 1e-9) * largest(expected.m));
  EXPECT_NEAR(found[3 * count], expected.losses.back(),
              (single ? 2e-5 : 1e-10) * std::abs(expected.losses.back()));
}

// An invalid object stops the whole scene, whose loss is NaN from then on.
inline void expect_scene_failure_told(Backend& backend, Variant variant) {
  Problem problem = scene_problem(scene_of({.fft = 64, .image = 48, .objects = 3}), 3);
  problem.starts[2 + 6 + 2] = 1.1;  // e1 of the second
  const auto found = after(backend, variant, problem, 2);
  const std::size_t count = problem.starts.size();
  EXPECT_EQ(largest_difference(std::span(found).first(count), problem.starts), 0) << "frozen";
  EXPECT_TRUE(std::isnan(found[3 * count]));
  EXPECT_EQ(found[3 * count + 2], 1) << "status";
}

}  // namespace holdfast::galaxy_shear
