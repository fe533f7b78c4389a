// SPDX-License-Identifier: Apache-2.0
// The constants of the three optimisers, as every variant takes them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpt_train/problem/tensors.hpp"

namespace holdfast::gpt_train {

inline constexpr double norm_epsilon = 1e-6, rope_base = 500000, logit_cap = 15;

// p -= rate (m / (1 - beta1^n) / (sqrt(v / (1 - beta2^n)) + epsilon) + decay p)
struct Adam {
  double rate = 0, decay = 0;
  double correction1 = 0, correction2 = 0;  // 1 - beta^n of this step
};
inline constexpr double beta1 = 0.95, beta2 = 0.999, adam_epsilon = 1e-8;

// p -= rate (sign((1 - beta) g + beta m) + decay p), then m = beta m + (1 - beta) g
struct Lion {
  double rate = 0;
};
inline constexpr double lion_beta = 0.95, lion_decay = 1e-2;

inline constexpr double greatest_row = 1.25;  // root mean square of a row of E

// For each timescale m = gain g + beta m, x = (1 - beta) g + beta m; its orthogonal part enters the
// update with its weight.
struct Timescale {
  double beta = 0, gain = 0, weight = 0;
};
inline constexpr double muon_decay = 1e-3;
inline constexpr double newton_schulz[] = {3.4445, -4.7750, 2.0315};
inline constexpr int newton_schulz_steps = 5;
inline constexpr double newton_schulz_epsilon = 1e-8;

// How many moments a tensor has; a matrix also as many timescales, where it has any.
inline int moments_of(Optimizer optimizer) {
  return optimizer == Optimizer::adamw ? 2 : optimizer == Optimizer::muon ? 1 : 3;
}
inline int moments_of(Role role, Optimizer optimizer) {
  return role == Role::norm ? 1 : role == Role::matrix ? moments_of(optimizer) : 2;
}

// Of one step: number 1, 2, ..
struct Rates {
  Adam embedding = {}, head = {}, matrix = {};
  Lion norm = {};
  double muon_rate = 0;
  std::vector<Timescale> timescales = {};  // none: matrices have Adam
};

inline Rates rates_of(const Options& o, double learning_rate, double warm, std::int64_t number) {
  const double by_layers = learning_rate / std::sqrt(double(o.shape.layers));
  const double by_vocabulary = learning_rate / std::sqrt(double(o.shape.vocabulary));
  const double c1 = 1 - std::pow(beta1, double(number)), c2 = 1 - std::pow(beta2, double(number));
  Rates rates = {.embedding = {4 * by_layers, 0, c1, c2},
                 .head = {100 * by_vocabulary, 1e-3, c1, c2},
                 .matrix = {0.125 * by_layers, 1e-3, c1, c2},
                 .norm = {0.0625 * by_layers}};
  if (o.optimizer == Optimizer::adamw) return rates;
  const bool one = o.optimizer == Optimizer::muon;
  rates.muon_rate = (one ? 0.5 : 0.4) * by_layers;
  const std::vector<double> betas =
      one ? std::vector{0.95875} : std::vector{0.96875, 0.9921875, 0.998046875};
  double gain = 1, squares = 0;
  for (const double beta : betas) {
    const double share = std::log2(beta) / std::log2(betas.front());
    rates.timescales.push_back({beta, gain * (1 - beta), share});
    gain *= warm * warm;
    squares += share;
  }
  for (Timescale& scale : rates.timescales) scale.weight /= std::sqrt(squares + 1e-6);
  return rates;
}

// Of the step with so many before it.
inline Rates rates_of(const Options& o, std::int64_t before) {
  const double tokens = double(before) * double(o.shape.tokens());
  const double warm = o.warm_tokens > 0 ? std::min(tokens / o.warm_tokens, 1.) : o.warm;
  return rates_of(o, o.warm_tokens > 0 ? o.learning_rate * warm : o.learning_rate, warm,
                  before + 1);
}

// How much more a matrix with more outputs than inputs is moved.
inline double muon_stretch(int rows, int columns) {
  return std::max(double(columns) / rows, 1.);
}

}  // namespace holdfast::gpt_train
