// SPDX-License-Identifier: Apache-2.0
// For tests: the results of the variants and of the oracle for a problem.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "gpt_train/gpt_train.hpp"
#include "gpt_train/oracle/answers.hpp"
#include "runtime/backend/spoil.hpp"
#include "testing/results.hpp"

namespace holdfast::gpt_train {

inline constexpr Optimizer optimizers[] = {Optimizer::adamw, Optimizer::muon,
                                           Optimizer::multiscale};

// As a device trains.
inline Options on_device(Model model, Optimizer optimizer = Optimizer::adamw,
                         bool documents = false, Launch launch = Launch::host) {
  return {.shape = shape_of(model),
          .documents = documents,
          .optimizer = optimizer,
          .precision = Precision::bf16,
          .launch = launch};
}

inline std::vector<double> after(Variant variant, Unit unit, const Options& options,
                                 int steps = 1) {
  const auto backend = open_backend("host");
  return result_of(*make(unit, *backend, variant, options), steps);
}

// The worst field's difference, by Frobenius norms.
inline double distance(Unit unit, const Options& options, const std::vector<double>& found,
                       const std::vector<double>& expected) {
  return oracle::distance(fields_of(unit, options), found, expected);
}

// Units with a part of their result in memory that stages share.
inline constexpr Unit shared_results[] = {Unit::layer_forward, Unit::layer_backward,
                                          Unit::attention_forward, Unit::attention_backward,
                                          Unit::lm_head};

// Until a step has written it, that part is NaN; and a step writes all of it.
inline void expect_written_by_each_step(Backend& backend, Variant variant, const Options& options) {
  for (const Unit unit : shared_results) {
    const auto computation = make(unit, backend, variant, options);
    const std::vector<double> first = result_of(*computation);
    computation->start_again(0);
    const std::vector<double> begun = computation->result();
    const bool beside_gradients = unit == Unit::layer_backward || unit == Unit::lm_head;
    const auto spoilt = static_cast<std::size_t>(
        std::count_if(begun.begin(), begun.end(), [](double value) { return std::isnan(value); }));
    EXPECT_EQ(spoilt,
              beside_gradients ? options.shape.tokens() * options.shape.width : first.size())
        << static_cast<int>(unit);
    EXPECT_EQ(result_of(*computation), first) << static_cast<int>(unit);
  }
}

// Every step recomputes everything between a batch and its losses.
inline void expect_pass_made_anew(Backend& backend, Variant variant, Unit unit,
                                  const Options& options) {
  std::vector<double> results[2];
  for (const bool spoilt : {false, true}) {
    const auto computation = make(unit, backend, variant, options);
    computation->step();
    if (spoilt) {
      EXPECT_GT(spoil(backend, "activations"), 0u);
    }
    results[spoilt] = result_of(*computation);
  }
  EXPECT_EQ(results[1], results[0]) << static_cast<int>(unit);
}

// Units whose steps are not chained.
inline constexpr Unit parts[] = {
    Unit::forward,           Unit::forward_backward,   Unit::layer_forward, Unit::layer_backward,
    Unit::attention_forward, Unit::attention_backward, Unit::lm_head};

// Input 1 is another one, the same for both variants, and input 0 gives the first result again.
inline void expect_another_input(Backend& backend, const Options& options, double limit) {
  for (const Unit unit : parts) {
    std::vector<double> others[2];
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const auto computation = make(unit, backend, variant, options);
      const auto of = [&](int input) {
        computation->start_again(input);
        return result_of(*computation);
      };
      const std::vector<double> first = of(0);
      others[variant == Variant::optimized] = of(1);
      EXPECT_GT(distance(unit, options, others[variant == Variant::optimized], first), 0.1);
      EXPECT_EQ(of(0), first) << static_cast<int>(unit);
    }
    EXPECT_LT(distance(unit, options, others[1], others[0]), limit) << static_cast<int>(unit);
  }
}

}  // namespace holdfast::gpt_train
