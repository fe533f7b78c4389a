// SPDX-License-Identifier: Apache-2.0
// For tests: problems of the published scenes, and what variants make of them.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "galaxy_shear/data/golden.hpp"
#include "galaxy_shear/galaxy_shear.hpp"

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
  const auto computation = make(backend, variant, problem);
  for (int k = 0; k < steps; ++k) computation->step();
  return computation->result();
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

// A scene of some size whose stamp holds the galaxy: not published, the oracle knows it.
inline golden::Golden scene_of_size(int fft, int image, Psf psf, int latents) {
  golden::Golden all =
      golden::benchmark({.fft = fft, .image = image, .psf = psf, .latents = latents});
  all.truth[e1] = 0.1;  // a shape of its own, whatever is fitted
  all.truth[e2] = -0.05;
  return all;
}

// Galaxy b of so many, each with its own truth, start and noise.
inline Problem batch_of(Unit unit, const Options& options) {
  return problem_of(unit, options, true);
}

// The part of a problem that is galaxy b's.
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

}  // namespace holdfast::galaxy_shear
