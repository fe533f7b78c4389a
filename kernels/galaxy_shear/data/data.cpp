// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/data/data.hpp"

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "galaxy_shear/oracle/oracle.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast::galaxy_shear {
namespace {

constexpr unsigned seed = 100;

double philox_normal(unsigned p, unsigned b) {
  const Philox4x32 words = philox4x32_10({{p / 4, b, 0, 0}}, seed, 0);
  const unsigned pair = p % 4 / 2 * 2;
  const double radius = (words.word[pair] + 0.5) * 0x1p-32;
  const double angle = 2 * std::numbers::pi * (words.word[pair + 1] + 0.5) * 0x1p-32;
  return std::sqrt(-2 * std::log(radius)) * (p % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

// Everything an image depends on.
using Key = std::tuple<int, int, double, Psf, double, double, Parameters>;

const std::vector<double>& drawn(const Scene& scene, const Parameters& z) {
  static std::map<Key, std::vector<double>> known;
  static std::mutex mutex;
  const Key key = {
      scene.fft, scene.image, scene.pixel_scale, scene.psf.kind, scene.psf.width, scene.psf.beta,
      z};
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, oracle::image(scene, z)).first->second;
}

}  // namespace

std::vector<double> noise_of(Noise noise, int image, int b) {
  std::vector<double> values;
  for (int i = 0; i < image; ++i)
    for (int j = 0; j < image; ++j)
      values.push_back(noise == Noise::philox
                           ? philox_normal(static_cast<unsigned>(i * image + j), unsigned(b))
                           : ((7 * i + 13 * j + 3 + 5 * b) % 17 - 8) / 5.);
  return values;
}

std::vector<double> scene_data_of(const Scene& scene, Noise noise, int objects) {
  std::vector<double> data = noise_of(noise, scene.image, 0);
  for (double& value : data) value *= scene.noise;
  for (const Parameters& z : objects_of(scene, objects)) {
    const std::vector<double>& clean = drawn(scene, z);
    for (std::size_t p = 0; p < data.size(); ++p) data[p] += clean[p];
  }
  return data;
}

std::vector<double> data_of(const Scene& scene, Noise noise, int batch, int first) {
  std::vector<double> data;
  for (int b = first; b < first + batch; ++b) {
    const std::vector<double>& clean = drawn(scene, truth_of(scene, b));
    const std::vector<double> error = noise_of(noise, scene.image, b);
    for (std::size_t p = 0; p < clean.size(); ++p)
      data.push_back(clean[p] + scene.noise * error[p]);
  }
  return data;
}

std::vector<double> truths_of(const Problem& problem, int input) {
  if (input == 0) return problem.truths;
  std::vector<double> truths;
  for (int b = 0; b < problem.batch; ++b)
    for (const double value : truth_of(problem.scene, problem.batch + b)) truths.push_back(value);
  return truths;
}

std::vector<double> data_of(const Problem& problem, int input) {
  if (input == 0) return problem.data;
  return data_of(problem.scene, Noise::philox, problem.batch, problem.batch);
}

}  // namespace holdfast::galaxy_shear
