// SPDX-License-Identifier: Apache-2.0
// A model's pass through its stages, with their scopes: shared by every variant on every backend.
#pragma once

#include <string>
#include <vector>

#include "gpt_train/problem/problem.hpp"
#include "runtime/base/error.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

inline std::vector<std::string> layer_names(int layers) {
  std::vector<std::string> names;
  for (int l = 0; l < layers; ++l) names.push_back(text("layer_", l));
  return names;
}

// names: of the layers.
template <class Model>
void pass(Unit unit, const std::vector<std::string>& names, Model& model) {
  const int layers = static_cast<int>(names.size());
  {
    const Scope scope("forward_pass");
    {
      const Scope embedding("embedding");
      model.embed();
    }
    for (int l = 0; l < layers; ++l) {
      const Scope layer(names[l]);
      model.layer_forward(l);
    }
  }
  {
    const Scope scope("loss_computation"), head("lm_head");
    model.head();
  }
  if (unit == Unit::forward) return;
  const Scope scope("backward_pass");
  {
    const Scope head("lm_head");
    model.head_backward();
  }
  for (int l = layers; l-- > 0;) {
    const Scope layer(names[l]);
    model.layer_backward(l);
  }
  const Scope embedding("embedding");
  model.embed_backward();
}

// Runs a unit of work that is not chained from step to step.
template <class Model>
void run(Unit unit, const std::vector<std::string>& names, Model& model) {
  switch (unit) {
    case Unit::layer_forward: {
      const Scope scope(names[0]);
      return model.layer_forward(0);
    }
    case Unit::layer_backward: {
      const Scope scope(names[0]);
      model.restore_incoming();
      return model.layer_backward(0);
    }
    case Unit::attention_forward: {
      const Scope scope("attention");
      return model.attention_forward();
    }
    case Unit::attention_backward: {
      const Scope scope("attention");
      return model.attention_backward();
    }
    case Unit::lm_head: {
      const Scope scope("lm_head");
      model.head();
      return model.head_backward();
    }
    default:
      return pass(unit, names, model);
  }
}

}  // namespace holdfast::gpt_train
