// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/problem/scene.hpp"

#include <bit>
#include <cmath>
#include <string>

#include "runtime/base/error.hpp"

namespace holdfast::galaxy_shear {
namespace {

using Kind = PriorLaw::Kind;

constexpr std::string_view names[] = {"g1", "g2", "flux", "hlr", "e1", "e2", "x", "y"};

void refuse(std::string_view field, double value, std::string_view limit) {
  throw Error(Fault::bad_input, text(field, " = ", value, ": ", limit));
}

void check_positive(std::string_view field, double value) {
  if (!(value > 0)) refuse(field, value, "it must be positive");
  if (!std::isfinite(value)) refuse(field, value, "it must be finite");
}

void check_prior(std::string_view name, const PriorLaw& law) {
  const std::string prior = text("prior of ", name);
  if (law.kind == Kind::uniform) {
    if (!(law.a < law.b)) refuse(text(prior, ", upper end"), law.b, text("it must exceed ", law.a));
    return;
  }
  check_positive(text(prior, ", width"), law.b);
  if (law.kind == Kind::log_normal) check_positive(text(prior, ", median"), law.a);
}

}  // namespace

Scene scene_of(const Options& options) {
  Scene scene = {.fft = options.fft, .image = options.image};
  const double s = options.image;
  if (options.psf == Psf::moffat) scene.psf = {Psf::moffat, 0.9, options.beta};
  if (options.latents == 4 && options.objects <= 0) {
    scene.priors[g1] = scene.priors[g2] = {Kind::normal, 0, 0.05};
    scene.priors[x] = scene.priors[y] = {Kind::uniform, s / 2 - 0.5, s / 2 + 0.5};
  } else if (options.latents == 8 || options.objects > 0) {
    scene.pixel_scale = 0.2;
    if (options.psf == Psf::gaussian) scene.psf.width = 0.1;
    scene.noise = 0.01;
    scene.latents = {g1, g2, flux, hlr, e1, e2, x, y};
    scene.priors = {PriorLaw{Kind::normal, 0.05, 0.02},
                    {Kind::normal, -0.05, 0.02},
                    {Kind::log_normal, 100, 0.1},
                    {Kind::uniform, 0.3, 0.8},
                    {Kind::normal, 0, 0.2},
                    {Kind::normal, 0, 0.2},
                    {Kind::uniform, 0.3 * s, 0.7 * s},
                    {Kind::uniform, 0.3 * s, 0.7 * s}};
    scene.learning_rate = 0.01;
  } else {
    throw Error(Fault::bad_input, text("latents = ", options.latents,
                                       ": 4 (g1, g2, x, y) or 8 (all parameters) are fitted"));
  }
  if (options.objects > 0 && options.psf == Psf::gaussian) scene.psf.width = 0.15;
  if (options.learning_rate != 0) scene.learning_rate = options.learning_rate;
  return scene;
}

Parameters truth_of(const Scene& scene, int b) {
  const double s = scene.image;
  const double shear1 = 0.004 * ((7 * b + 5) % 11 - 5), shear2 = 0.004 * ((5 * b + 6) % 13 - 6);
  if (scene.latents.size() == parameters)
    return {0.05 + shear1, -0.05 + shear2, 100, 0.55, 0.1, -0.05, s / 2 + 0.4, s / 2 - 0.3};
  Parameters truth = scene.fixed;
  truth[g1] = 0.01 + shear1;
  truth[g2] = shear2;
  truth[x] = s / 2 + 0.05 * ((3 * b + 4) % 9 - 4);
  truth[y] = s / 2 + 0.05 * ((2 * b + 3) % 7 - 3);
  return truth;
}

std::vector<double> start_of(const Scene& scene) {
  if (scene.latents.size() == parameters)
    return {0.04, -0.06, std::log(95.), -0.1, 0.05, 0.02, 0.1, -0.05};
  return {0.02, -0.015, 0.3, -0.2};
}

std::vector<Parameters> objects_of(const Scene& scene, int objects) {
  const double s = scene.image;
  std::vector<Parameters> all;
  for (int j = 0; j < objects; ++j)
    all.push_back({0.03, -0.02, 60. + 10 * (3 * j % 7), 0.4 + 0.05 * ((5 * j + 2) % 6),
                   0.1 * (j % 3 - 1), 0.05 * ((2 * j + 1) % 5 - 2),
                   s * (0.32 + 0.036 * ((5 * j + 2) % 11)),
                   s * (0.32 + 0.036 * ((7 * j + 4) % 11))});
  return all;
}

std::vector<double> start_of_objects(const Scene& scene, int objects) {
  constexpr Parameters off = {0.01, -0.005, 0.02, 0.1, -0.02, 0.02, 0.05, -0.05};
  std::vector<double> start;
  for (const Parameters& z : objects_of(scene, objects)) {
    const std::vector<double> u = latents_of(scene, z);
    for (int k = start.empty() ? g1 : flux; k < parameters; ++k) start.push_back(u[k] + off[k]);
  }
  return start;
}

std::vector<double> latents_of(const Scene& scene, const Parameters& z) {
  std::vector<double> u;
  for (const int k : scene.latents) {
    const PriorLaw& law = scene.priors[k];
    if (law.kind == Kind::uniform)
      u.push_back(std::log((z[k] - law.a) / (law.b - z[k])));
    else
      u.push_back(law.kind == Kind::log_normal ? std::log(z[k]) : z[k]);
  }
  return u;
}

void validate(const Scene& scene) {
  if (scene.fft < 16 || scene.fft > 1024 || !std::has_single_bit(unsigned(scene.fft)))
    refuse("fft", scene.fft, "it must be a power of two from 16 to 1024");
  if (scene.image < 1) refuse("image", scene.image, "a stamp has at least one pixel");
  if (scene.image > scene.fft)
    throw Error(Fault::bad_input, text("image ", scene.image, " does not fit in fft ", scene.fft));
  check_positive("pixel scale", scene.pixel_scale);
  check_positive("noise", scene.noise);
  check_positive("width of the point-spread function", scene.psf.width);
  check_positive("learning rate", scene.learning_rate);
  if (scene.psf.kind == Psf::moffat && !(scene.psf.beta > 1.1))
    refuse("beta of the Moffat profile", scene.psf.beta, "it must exceed 1.1");
  for (const int k : scene.latents) check_prior(names[k], scene.priors[k]);
  check_positive("flux", scene.fixed[flux]);
  check_positive("hlr", scene.fixed[hlr]);
  if (!(std::hypot(scene.fixed[g1], scene.fixed[g2]) < 1))
    refuse("|g|", std::hypot(scene.fixed[g1], scene.fixed[g2]), "a reduced shear is below 1");
  if (!(std::hypot(scene.fixed[e1], scene.fixed[e2]) < 1))
    refuse("|e|", std::hypot(scene.fixed[e1], scene.fixed[e2]), "a distortion is below 1");
}

}  // namespace holdfast::galaxy_shear
