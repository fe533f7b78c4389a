// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/data/data.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/backend/host_limits.hpp"
#include "xpcs_fit/problem/formulas.hpp"
#include "xpcs_fit/problem/model.hpp"

namespace holdfast::xpcs_fit {
namespace {

// out[k] for all k of angle a.
template <class At>
void fill(std::vector<double>& out, const Size& size, const At& at) {
#pragma omp parallel for num_threads(host_limits().threads)
  for (std::int64_t row = 0; row < std::int64_t{size.angles} * size.frames; ++row)
    for (int j = 0; j < size.frames; ++j)
      out[row * size.frames + j] =
          at(static_cast<int>(row / size.frames), static_cast<int>(row % size.frames), j,
             row * size.frames + j);
}

double smooth(double difference) {
  return std::sqrt(difference * difference + 1e-20);
}

double model(const Physics& physics, const Frames& frames, const double* parameters,
             const Direction& along, int i, int j) {
  double g1 = std::exp(-physics.kappa() * smooth(frames.s[i] - frames.s[j]));
  if (!frames.q.empty()) {
    const double x = along.cosine * smooth(frames.q[i] - frames.q[j]);
    const double sinc = std::abs(x) > 1e-12 ? std::sin(x) / x : 1;
    g1 *= sinc * sinc;
  }
  return std::clamp(parameters[1] + parameters[0] * (g1 * g1), model_floor, model_ceiling);
}

}  // namespace

Size size_of(NamedSize name) {
  constexpr Size sizes[] = {{4, 48},    {10, 100},  {10, 300}, {20, 500},
                            {23, 1001}, {30, 2000}, {64, 4000}};
  return sizes[static_cast<std::size_t>(name)];
}

Physics default_physics(const Size& size) {
  return {.dt = 100. / size.frames};
}

std::shared_ptr<const Input> make_input(const Recipe& recipe, const Options& options) {
  validate(recipe.size, recipe.physics);
  auto input = std::make_shared<Input>();
  const Size& size = input->size = recipe.size;
  input->physics = recipe.physics;
  input->angles = default_angles(size.angles);
  input->box = default_box(options, size.angles);
  const auto points = static_cast<std::size_t>(size.points());
  input->noise = recipe.noise;
  input->seed = recipe.seed;
  input->sized_only = recipe.sized_only;
  if (recipe.sized_only) return input;
  input->data.resize(points);
  if (recipe.weighted) input->weights.resize(points, 1);

  const std::vector<double> known = truth({.mode = options.mode}, size.angles);
  const Frames all = frames(recipe.physics, size.frames, options.mode, known.data());
  std::vector<Direction> directions;
  for (const double angle : input->angles)
    directions.push_back(
        direction(recipe.physics, angle, options.mode == Mode::laminar ? known[8] : 0));
  fill(input->data, size, [&](int a, int i, int j, std::int64_t k) {
    return model(recipe.physics, all, known.data(), directions[a], i, j) *
           (1 + recipe.noise * noise(static_cast<std::uint64_t>(k), recipe.seed, noise_of_data));
  });
  if (recipe.weighted)
    fill(input->weights, size, [&](int, int, int, std::int64_t k) {
      return 1 / (1 + noise(static_cast<std::uint64_t>(k), recipe.seed, noise_of_sigma) / 8);
    });
  return input;
}

}  // namespace holdfast::xpcs_fit
