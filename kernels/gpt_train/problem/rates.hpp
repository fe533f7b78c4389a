// SPDX-License-Identifier: Apache-2.0
// The constants of the three optimisers, for every variant.
#pragma once

#include <algorithm>
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

// For each timescale m = gain g + beta m, x = (1 - beta) g + beta m; the orthogonalised x enters
// the update with the timescale's weight.
struct Timescale {
  double beta = 0, gain = 0, weight = 0;
};
inline constexpr double muon_decay = 1e-3;
inline constexpr double newton_schulz[] = {3.4445, -4.7750, 2.0315};
inline constexpr int newton_schulz_steps = 5;
inline constexpr double newton_schulz_epsilon = 1e-8;
inline constexpr std::uint64_t matrix_stream = 99;  // of isolated matrices to orthogonalise

// The number of moments per tensor; a matrix has as many timescales, if any.
inline int moments_of(Optimizer optimizer) {
  return optimizer == Optimizer::adamw ? 2 : optimizer == Optimizer::muon ? 1 : 3;
}
inline int moments_of(Role role, Optimizer optimizer) {
  return role == Role::norm ? 1 : role == Role::matrix ? moments_of(optimizer) : 2;
}

// The rates of one step: number 1, 2, ..
struct Rates {
  Adam embedding = {}, head = {}, matrix = {};
  Lion norm = {};
  double muon_rate = 0;
  std::vector<Timescale> timescales = {};  // empty: matrices have Adam
};

Rates rates_of(const Options& options, double learning_rate, double warm, std::int64_t number);

// The rates of the step that follows `before` steps.
Rates rates_of(const Options& options, std::int64_t before);

// The factor of the rate for matrices with more outputs than inputs.
inline double muon_stretch(int rows, int columns) {
  return std::max(double(columns) / rows, 1.);
}

}  // namespace holdfast::gpt_train
