// SPDX-License-Identifier: Apache-2.0
// Not inline: the linker would keep only one copy of functions compiled per instruction set.
#include "gpt_train/problem/rates.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::gpt_train {

Rates rates_of(const Options& o, double learning_rate, double warm, std::int64_t number) {
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

Rates rates_of(const Options& o, std::int64_t before) {
  const double tokens = double(before) * double(o.shape.tokens());
  const double warm = o.warm_tokens > 0 ? std::min(tokens / o.warm_tokens, 1.) : o.warm;
  return rates_of(o, o.warm_tokens > 0 ? o.learning_rate * warm : o.learning_rate, warm,
                  before + 1);
}

}  // namespace holdfast::gpt_train
