// SPDX-License-Identifier: Apache-2.0
// Walks by the oracle's own gradients, implemented a second time.
#include <cmath>
#include <complex>
#include <numbers>

#include "galaxy_shear/oracle/laws.hpp"
#include "runtime/device_code/random.hpp"

namespace holdfast::galaxy_shear::oracle {
namespace {

constexpr double whole_turn = 2 * std::numbers::pi;

// Uniform numbers of latent k at step t of galaxy 0.
double uniform(int k, unsigned stream, int t, int word) {
  const Philox4x32 words = philox4x32_10({{unsigned(k), 0, stream, unsigned(t)}}, 100, 0);
  return (words.word[word] + 0.5) * 0x1p-32;
}
double normal(int k, unsigned stream, int t) {
  return std::sqrt(-2 * std::log(uniform(k, stream, t, 0))) *
         std::cos(whole_turn * uniform(k, stream, t, 1));
}

// ln dz/du by hand, its slope by a complex step.
std::complex<double> log_stretch(const PriorLaw& law, double at) {
  const std::complex<double> u = {at, 1e-30};
  if (law.kind == PriorLaw::Kind::normal) return 0;
  if (law.kind == PriorLaw::Kind::log_normal) return u;
  const auto grown = std::exp(-u);
  return std::log(law.b - law.a) - u - 2. * std::log(1. + grown);
}

}  // namespace

Objective stretched(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u) {
  Objective found = objective(scene, data, u);
  for (int k = 0; k < scene.latent_count(); ++k) {
    const auto stretch = log_stretch(scene.priors[scene.latents[k]], u[k]);
    found.loss -= stretch.real();
    found.gradient[k] -= stretch.imag() / 1e-30;
  }
  return found;
}

Inference inference(const Scene& scene, const std::vector<double>& data,
                    const std::vector<double>& u, double spread, int steps) {
  const std::size_t count = u.size();
  const std::vector<double> none(count);
  Inference now = {u, std::vector<double>(count, std::log(std::exp(spread) - 1)), none, none};
  std::vector<double> v = none, rho_v = none;
  for (int t = 1; t <= steps; ++t) {
    std::vector<double> at(count), noise(count), scale(count);
    for (std::size_t k = 0; k < count; ++k) {
      noise[k] = normal(static_cast<int>(k), 2, t - 1);
      scale[k] = std::log(1 + std::exp(now.rho[k]));
      at[k] = now.location[k] + scale[k] * noise[k];
    }
    const Objective found = stretched(scene, data, at);
    now.loss = found.loss;
    const auto adam = [&](double slope, double& m, double& second, double& value) {
      m = 0.9 * m + 0.1 * slope;
      second = 0.999 * second + 0.001 * slope * slope;
      value -= scene.learning_rate * m / (1 - std::pow(0.9, t)) /
               (std::sqrt(second / (1 - std::pow(0.999, t))) + 1e-8);
    };
    for (std::size_t k = 0; k < count; ++k) {
      now.loss -= noise[k] * noise[k] / 2 + std::log(scale[k]) + std::log(whole_turn) / 2;
      const double by_rho = (found.gradient[k] * noise[k] - 1 / scale[k]) * logistic(now.rho[k]);
      adam(found.gradient[k], now.m[k], v[k], now.location[k]);
      adam(by_rho, now.rho_m[k], rho_v[k], now.rho[k]);
    }
  }
  return now;
}

Chain chain(const Scene& scene, const std::vector<double>& data, std::vector<double> u,
            int samples) {
  constexpr double step = 1e-5;
  Chain chain = {.u = std::move(u)};
  const auto kinetic = [&] {
    double sum = 0;
    for (const double p : chain.momentum) sum += p * p / 2;
    return sum;
  };
  for (int t = 0; t < samples; ++t) {
    chain.end = chain.u;
    chain.momentum.clear();
    for (std::size_t k = 0; k < chain.u.size(); ++k)
      chain.momentum.push_back(normal(static_cast<int>(k), 3, t));
    Objective here = stretched(scene, data, chain.end);
    const double began = here.loss + kinetic();
    const auto kick = [&](double share) {
      for (std::size_t k = 0; k < chain.end.size(); ++k)
        chain.momentum[k] -= share * here.gradient[k];
    };
    for (int leap = 0; leap < 16; ++leap) {
      kick(step / 2);
      for (std::size_t k = 0; k < chain.end.size(); ++k) chain.end[k] += step * chain.momentum[k];
      here = stretched(scene, data, chain.end);
      kick(step / 2);
    }
    chain.loss = here.loss;
    chain.error = here.loss + kinetic() - began;
    if (std::log(uniform(8, 3, t, 0)) >= -chain.error) continue;
    chain.u = chain.end;
    ++chain.taken;
  }
  return chain;
}

}  // namespace holdfast::galaxy_shear::oracle
