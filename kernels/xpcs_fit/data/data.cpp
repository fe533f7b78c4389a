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

// The model at one set of parameters, with one contrast and one offset.
class Model {
 public:
  Model(const Input& input, Mode mode, const std::vector<double>& parameters)
      : physics_(input.physics),
        contrast_(parameters[0]),
        offset_(parameters[1]),
        frames_(frames(physics_, input.size.frames, mode, parameters.data())) {
    for (const double angle : input.angles)
      along_.push_back(direction(physics_, angle, mode == Mode::laminar ? parameters[8] : 0));
  }

  double operator()(int a, int i, int j) const {
    double g1 = std::exp(-physics_.kappa() * smooth(frames_.s[i] - frames_.s[j]));
    if (!frames_.q.empty()) {
      const double x = along_[a].cosine * smooth(frames_.q[i] - frames_.q[j]);
      const double sinc = std::abs(x) > 1e-12 ? std::sin(x) / x : 1;
      g1 *= sinc * sinc;
    }
    return std::clamp(offset_ + contrast_ * (g1 * g1), model_floor, model_ceiling);
  }

 private:
  Physics physics_;
  double contrast_, offset_;
  Frames frames_;
  std::vector<Direction> along_ = {};
};

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

  const Model model(*input, options.mode, truth({.mode = options.mode}, size.angles));
  fill(input->data, size, [&](int a, int i, int j, std::int64_t k) {
    return model(a, i, j) *
           (1 + recipe.noise * noise(static_cast<std::uint64_t>(k), recipe.seed, noise_of_data));
  });
  if (recipe.weighted)
    fill(input->weights, size, [&](int, int, int, std::int64_t k) {
      return 1 / (1 + noise(static_cast<std::uint64_t>(k), recipe.seed, noise_of_sigma) / 8);
    });
  return input;
}

std::vector<double> start_model(const Problem& problem) {
  const Input& input = *problem.input;
  const Model model(input, problem.options.mode, input.box.start);
  std::vector<double> all(static_cast<std::size_t>(input.size.points()));
  fill(all, input.size, [&](int a, int i, int j, std::int64_t) { return model(a, i, j); });
  return all;
}

}  // namespace holdfast::xpcs_fit
