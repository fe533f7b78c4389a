// SPDX-License-Identifier: Apache-2.0
// Published values of small scenes, which each stepped case is also checked against.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "families/invariants.hpp"
#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/data/golden.hpp"
#include "galaxy_shear/oracles.hpp"

namespace holdfast::galaxy_shear {

using Values = std::vector<double>;

double relative(std::span<const double> found, std::span<const double> expected) {
  if (found.size() != expected.size()) return INFINITY;
  double most = 0, largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    most = larger(most, found[k] - expected[k]);
    largest = larger(largest, expected[k]);
  }
  return most / largest;
}

namespace {

// The small rough scene, where half a weight of a Nyquist line shows, or one of three objects.
golden::Golden small_of(const Row& row) {
  if (unit_of(row) == Unit::scene_step) return golden::scene();
  return row.options.psf == Psf::gaussian ? golden::t_gaussian() : golden::t_moffat();
}
Problem small_problem(const Row& row, const golden::Golden& t) {
  if (unit_of(row) == Unit::scene_step)
    return {.unit = Unit::scene_step,
            .scene = t.scene,
            .objects = golden::scene_objects,
            .precision = row.options.precision,
            .starts = t.start,
            .data = scene_data_of(t.scene, Noise::pattern, golden::scene_objects)};
  return {.unit = unit_of(row) == Unit::render ? Unit::render : Unit::svi_step,
          .scene = t.scene,
          .precision = row.options.precision,
          .truths = Values(t.truth.begin(), t.truth.end()),
          .starts = t.start,
          .data = golden::data(t)};
}
}  // namespace

double small_error(const Row& row, const Making& making) {
  const golden::Golden t = small_of(row);
  Problem problem = small_problem(row, t);
  const bool draws = problem.unit == Unit::render;
  const auto computation = making(std::move(problem));
  computation->step();
  const Values result = computation->result();
  double worst = 0;
  if (draws) {
    const double peak = *std::max_element(result.begin(), result.end());
    for (const auto& [i, j, value] : t.pixels)
      worst = larger(worst, (result[i * t.scene.image + j] - value) / peak);
    return worst;
  }
  const std::size_t latents = t.gradient.size();  // a first step keeps a tenth of the gradient
  Values gradient(result.begin() + latents, result.begin() + 2 * latents);
  for (double& value : gradient) value *= 10;
  return larger(relative(gradient, t.gradient), (result[3 * latents] - t.loss) / t.loss);
}

}  // namespace holdfast::galaxy_shear
