// SPDX-License-Identifier: Apache-2.0
// Several objects in one image: the sum of their images, and each object's own derivatives.
#include <cmath>

#include "galaxy_shear/oracle/laws.hpp"
#include "galaxy_shear/oracle/planes.hpp"

namespace holdfast::galaxy_shear::oracle {
namespace {

// All eight latents of object j, which shares the shear with all others.
std::vector<double> latents_of_object(const std::vector<double>& u, std::size_t j) {
  const auto own = u.begin() + 2 + 6 * static_cast<std::ptrdiff_t>(j);
  std::vector<double> all(u.begin(), u.begin() + 2);
  all.insert(all.end(), own, own + 6);
  return all;
}

Objective scene_objective(const Scene& scene, const Plane& plane, const std::vector<double>& data,
                          const std::vector<double>& u) {
  const std::size_t objects = (u.size() - 2) / 6;
  std::vector<double> residual(data.size());
  for (std::size_t j = 0; j < objects; ++j) {
    const auto image = drawn(scene, plane, constrained(scene, latents_of_object(u, j)));
    for (std::size_t p = 0; p < residual.size(); ++p) residual[p] += image[p];
  }
  Objective found = {.gradient = std::vector<double>(u.size())};
  for (std::size_t p = 0; p < residual.size(); ++p) {
    residual[p] = (residual[p] - data[p]) / scene.noise;
    found.loss += residual[p] * residual[p] / 2;
    residual[p] /= scene.noise;
  }
  found.loss += double(residual.size()) * (std::log(scene.noise) + std::log(2 * pi) / 2);

  const Projection projection(scene, plane, residual);
  for (std::size_t j = 0; j < objects; ++j) {
    const std::vector<double> own = latents_of_object(u, j);
    const Parameters by_z =
        adjoint(scene, plane, projection, constrained(scene, own), scene.latents);
    for (int k = 0; k < parameters; ++k) {
      const Number moved = {own[k], tiny_step};
      const std::size_t latent = k < 2 ? k : 6 * j + k;
      found.gradient[latent] += by_z[k] * transformed(scene.priors[k], moved).imag() / tiny_step;
      if (k < 2 && j > 0) continue;  // one shear has one prior
      const Number law = negative_log(scene.priors[k], moved);
      found.loss += law.real();
      found.gradient[latent] += law.imag() / tiny_step;
    }
  }
  return found;
}

}  // namespace

Objective scene_objective(const Scene& scene, const std::vector<double>& data,
                          const std::vector<double>& u) {
  return scene_objective(scene, Plane(scene), data, u);
}

Fit scene_fit(const Scene& scene, const std::vector<double>& data, std::vector<double> u,
              int steps) {
  const Plane plane(scene);
  return descended(scene.learning_rate, std::move(u), steps, [&](const std::vector<double>& at) {
    return scene_objective(scene, plane, data, at);
  });
}

}  // namespace holdfast::galaxy_shear::oracle
