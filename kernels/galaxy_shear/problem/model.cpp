// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "galaxy_shear/problem/problem.hpp"
#include "galaxy_shear/problem/walks.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr double pi = std::numbers::pi;

Prior prepared(const PriorLaw& law) {
  const double normal = std::log(law.b) + std::log(2 * pi) / 2;
  switch (law.kind) {
    case PriorLaw::Kind::normal:
      return {Prior::normal, law.a, law.b, normal};
    case PriorLaw::Kind::log_normal:
      return {Prior::log_normal, std::log(law.a), law.b, normal};
    case PriorLaw::Kind::uniform:
      break;
  }
  return {Prior::uniform, law.a, law.b - law.a, std::log(law.b - law.a)};
}

}  // namespace

Model model_of(const Scene& scene) {
  const int s = scene.image, middle = s / 2;
  Model model = {.latents = scene.latent_count(),
                 .pixel_scale = scene.pixel_scale,
                 .step = 2 * pi / scene.fft,
                 .pixels = double(scene.fft) * scene.fft,
                 .origin = s / 2. + (s % 2 == 0 ? 0.5 : 0) - middle,
                 .inverse_noise = 1 / scene.noise,
                 .constant = double(s) * s * (std::log(scene.noise) + std::log(2 * pi) / 2),
                 .learning_rate = scene.learning_rate};
  for (int k = 0; k < model.latents; ++k) {
    model.latent[k] = scene.latents[k];
    model.priors[k] = prepared(scene.priors[scene.latents[k]]);
  }
  for (int k = 0; k < parameters; ++k) model.fixed[k] = scene.fixed[k];
  return model;
}

SceneModel scene_model_of(const Scene& scene) {
  Scene shear = scene, object = scene;
  shear.latents = {g1, g2};
  object.latents = {flux, hlr, e1, e2, x, y};
  return {model_of(shear), model_of(object)};
}

int evaluations_of(Unit unit) {
  if (unit == Unit::hmc_sample) return Hamiltonian::evaluations_of_a_sample;
  return unit == Unit::vi_step || unit == Unit::svi_step ? 1 : 0;
}

Optics optics_of(const PsfShape& shape) {
  if (shape.kind == Psf::gaussian) return {.gaussian = true, .radius = shape.width};
  const double nu = shape.beta - 1;
  return {.gaussian = false,
          .radius = shape.width / (2 * std::sqrt(std::pow(2, 1 / shape.beta) - 1)),
          .nu = nu,
          .scale = std::pow(2, 1 - nu) / std::tgamma(nu)};
}

bool separable(const PsfShape& shape) {
  return shape.kind == Psf::gaussian;
}

// A mirror pair shares one value, response_at with the smaller wave number first, as psf_table has
// it.
std::vector<double> attenuation(const Scene& scene) {
  const std::size_t columns = scene.fft / 2 + 1, rows = separable(scene.psf) ? 1 : columns;
  const Optics optics = optics_of(scene.psf);
  std::vector<double> wave, pixel;
  for (std::size_t c = 0; c < columns; ++c) {
    wave.push_back(2 * pi / scene.fft * static_cast<double>(c));
    pixel.push_back(pixel_at(wave[c]));
  }
  std::vector<double> values(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = r; c < columns; ++c) {
      const double k = std::sqrt(wave[c] * wave[c] + wave[r] * wave[r]);
      const double value = psf_at(optics, k / scene.pixel_scale) * pixel[r] * pixel[c];
      values[r * columns + c] = value;
      if (c < rows) values[c * columns + r] = value;
    }
  return values;
}

}  // namespace holdfast::galaxy_shear
