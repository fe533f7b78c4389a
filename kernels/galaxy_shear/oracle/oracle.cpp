// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracle/oracle.hpp"

#include <cmath>
#include <cstddef>

#include "galaxy_shear/oracle/laws.hpp"
#include "galaxy_shear/oracle/planes.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast::galaxy_shear::oracle {
namespace {

using Kind = PriorLaw::Kind;

double loss(const Scene& scene, const Plane& plane, const std::vector<double>& data,
            const std::vector<double>& u, std::vector<double>* cotangent) {
  std::vector<double> residual = drawn(scene, plane, constrained(scene, u));
  double sum = 0;
  for (std::size_t p = 0; p < residual.size(); ++p) {
    residual[p] = (residual[p] - data[p]) / scene.noise;
    sum += residual[p] * residual[p] / 2;
    residual[p] /= scene.noise;
  }
  sum += double(residual.size()) * (std::log(scene.noise) + std::log(2 * pi) / 2);
  sum += prior_loss(scene, u);
  if (cotangent) *cotangent = std::move(residual);
  return sum;
}

Objective objective(const Scene& scene, const Plane& plane, const std::vector<double>& data,
                    const std::vector<double>& u) {
  std::vector<double> cotangent;
  Objective found = {.loss = loss(scene, plane, data, u, &cotangent)};
  const Parameters by_z = adjoint(scene, plane, Projection(scene, plane, cotangent),
                                  constrained(scene, u), scene.latents);
  for (int k = 0; k < scene.latent_count(); ++k) {
    const PriorLaw& law = scene.priors[scene.latents[k]];
    const Number moved = {u[k], tiny_step};
    found.gradient.push_back(by_z[scene.latents[k]] * transformed(law, moved).imag() / tiny_step +
                             negative_log(law, moved).imag() / tiny_step);
  }
  return found;
}

}  // namespace

std::vector<double> response(const Scene& scene) {
  const Plane plane(scene);
  std::vector<double> all;
  for (int r = plane.half; r < plane.rows; ++r)
    for (int c = 0; c < plane.columns; ++c)
      all.push_back(plane.response[c * plane.rows + r] / (c == 0 ? 1 : 2));
  return all;
}

std::vector<double> image(const Scene& scene, const Parameters& z) {
  return drawn(scene, Plane(scene), z);
}

Parameters vjp(const Scene& scene, const Parameters& z, const std::vector<double>& cotangent) {
  const Plane plane(scene);
  return adjoint(scene, plane, Projection(scene, plane, cotangent), z,
                 {g1, g2, flux, hlr, e1, e2, x, y});
}

Parameters constrained(const Scene& scene, const std::vector<double>& u) {
  Parameters z = scene.fixed;
  for (int k = 0; k < scene.latent_count(); ++k)
    z[scene.latents[k]] = transformed(scene.priors[scene.latents[k]], u[k]);
  return z;
}

std::vector<double> drawn(const Scene& scene, int b) {
  std::vector<double> u;
  for (int k = 0; k < scene.latent_count(); ++k) {
    const PriorLaw& law = scene.priors[scene.latents[k]];
    const Philox4x32 words = philox4x32_10({{unsigned(k), unsigned(b), 1, 0}}, 100, 0);
    const double share = (words.word[0] + 0.5) * 0x1p-32, turn = (words.word[1] + 0.5) * 0x1p-32;
    const double normal = std::sqrt(-2 * std::log(share)) * std::cos(2 * pi * turn);
    const double middle = law.kind == Kind::log_normal ? std::log(law.a) : law.a;
    u.push_back(law.kind == Kind::uniform ? std::log(share / (1 - share))
                                          : middle + law.b * normal);
  }
  return u;
}

Objective objective(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u) {
  return objective(scene, Plane(scene), data, u);
}

double loss(const Scene& scene, const std::vector<double>& data, const std::vector<double>& u) {
  return loss(scene, Plane(scene), data, u, nullptr);
}

double prior_loss(const Scene& scene, const std::vector<double>& u) {
  double sum = 0;
  for (int k = 0; k < scene.latent_count(); ++k)
    sum += negative_log(scene.priors[scene.latents[k]], u[k]);
  return sum;
}

Fit descended(double rate, std::vector<double> u, int steps,
              const std::function<Objective(const std::vector<double>&)>& objective_at) {
  const std::size_t count = u.size();
  Fit fit = {.u = std::move(u), .m = std::vector<double>(count), .v = std::vector<double>(count)};
  for (int t = 1; t <= steps; ++t) {
    const Objective now = objective_at(fit.u);
    fit.losses.push_back(now.loss);
    for (std::size_t k = 0; k < count; ++k) {
      const double slope = now.gradient[k];
      fit.m[k] = (1 - 0.9) * slope + 0.9 * fit.m[k];
      fit.v[k] = (1 - 0.999) * slope * slope + 0.999 * fit.v[k];
      const double mean = fit.m[k] / (1 - std::pow(0.9, t));
      const double square = fit.v[k] / (1 - std::pow(0.999, t));
      fit.u[k] -= rate * mean / (std::sqrt(square) + 1e-8);
    }
  }
  return fit;
}

Fit fit(const Scene& scene, const std::vector<double>& data, std::vector<double> u, int steps) {
  const Plane plane(scene);
  return descended(scene.learning_rate, std::move(u), steps, [&](const std::vector<double>& at) {
    return objective(scene, plane, data, at);
  });
}

}  // namespace holdfast::galaxy_shear::oracle
