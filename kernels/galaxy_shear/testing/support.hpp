// SPDX-License-Identifier: Apache-2.0
// For tests: problems of the published scenes, and the variants' results.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/data/golden.hpp"
#include "galaxy_shear/galaxy_shear.hpp"
#include "testing/results.hpp"

namespace holdfast::galaxy_shear {

inline Problem problem_of(Unit unit, const golden::Golden& golden,
                          Precision precision = Precision::f64) {
  Problem problem = {.unit = unit, .scene = golden.scene, .precision = precision};
  if (problem.fits()) {
    problem.starts = golden.start;
    problem.data = golden::data(golden);
  } else {
    problem.truths.assign(golden.truth.begin(), golden.truth.end());
    problem.cotangent = golden::cotangent(golden.scene.image);
  }
  return problem;
}

inline std::vector<double> after(Backend& backend, Variant variant, const Problem& problem,
                                 int steps = 1) {
  return result_of(*make(backend, variant, problem), steps);
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// A scene of any size whose stamp holds the galaxy: not published, but known to the oracle.
inline golden::Golden scene_of_size(int fft, int image, Psf psf, int latents) {
  golden::Golden all =
      golden::benchmark({.fft = fft, .image = image, .psf = psf, .latents = latents});
  all.truth[e1] = 0.1;  // not round, whatever is fitted
  all.truth[e2] = -0.05;
  return all;
}

// A batch of galaxies, each with its own truth, start and noise.
inline Problem batch_of(Unit unit, const Options& options) {
  return problem_of(unit, options, true);
}

// Galaxy b's part of a problem.
inline Problem alone(Problem problem, int b) {
  const auto part = [&](std::vector<double>& values) {
    const std::size_t each = values.size() / problem.batch;
    values = {values.begin() + static_cast<std::ptrdiff_t>(b * each),
              values.begin() + static_cast<std::ptrdiff_t>((b + 1) * each)};
  };
  part(problem.truths);
  part(problem.starts);
  part(problem.data);
  problem.batch = 1;
  return problem;
}

// Moffat profiles in f32 on the smallest stamps, an odd number of pixels wide.
inline Problem small_batch(Unit unit, int batch = 3, int steps = 2, int latents = 4) {
  return batch_of(unit, {.fft = 16,
                         .image = 7,
                         .batch = batch,
                         .psf = Psf::moffat,
                         .latents = latents,
                         .steps = steps,
                         .precision = Precision::f32});
}

// Restarted with another input, equals a computation built with it; restarted again, equals itself.
inline void expect_turns(Backend& backend, Variant variant, Unit unit, int split = 0) {
  Problem problem = small_batch(unit);
  problem.split = split;
  Problem other = problem;
  other.truths = truths_of(problem, 1);
  other.data = data_of(problem, 1);
  const auto computation = make(backend, variant, problem);
  const auto first = after(backend, variant, problem), second = after(backend, variant, other);
  EXPECT_NE(first, second);
  for (const auto& [input, expected] : {std::pair{1, second}, {0, first}}) {
    computation->start_again(input);
    EXPECT_EQ(result_of(*computation), expected) << input;
  }
}

}  // namespace holdfast::galaxy_shear
