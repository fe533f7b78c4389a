// SPDX-License-Identifier: Apache-2.0
// The moments of an optimiser: for every tensor those of its rule.
#pragma once

#include <vector>

#include "gpt_train/problem/rates.hpp"
#include "gpt_train/stepped/held.hpp"

namespace holdfast::gpt_train {

template <class T>
std::vector<Held<T>> moments_held(Backend& backend, const Options& options, Layout layout) {
  std::vector<Held<T>> all;
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> having = tensors_of(options.shape);
    std::erase_if(having, [&](const Tensor& tensor) {
      return i >= moments_of(tensor.role, options.optimizer);
    });
    if (!having.empty()) all.emplace_back(backend, std::move(having), layout, "state: moments");
  }
  return all;
}

}  // namespace holdfast::gpt_train
