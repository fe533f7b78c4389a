// SPDX-License-Identifier: Apache-2.0
// The rotation of queries and keys: cosines and sines of t base^(-j / (K / 2)), rounded from f64,
// [T, K / 2] each.
#pragma once

#include <cmath>
#include <vector>

#include "gpt_train/problem/rates.hpp"
#include "gpt_train/problem/shape.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/device_code/bf16.hpp"

namespace holdfast::gpt_train {

struct Angles {
  Angles(Backend& backend, const Shape& shape)
      : cosines(backend, of(shape, [](double x) { return std::cos(x); }), "inputs: angles"),
        sines(backend, of(shape, [](double x) { return std::sin(x); }), "inputs: angles") {}

  Buffer<Bf16> cosines, sines;

 private:
  static std::vector<Bf16> of(const Shape& shape, double (*what)(double)) {
    std::vector<Bf16> all;
    const int half = shape.head / 2;
    for (int t = 0; t < shape.columns; ++t)
      for (int j = 0; j < half; ++j)
        all.push_back(
            narrowed(static_cast<float>(what(t * std::pow(rope_base, -double(j) / half)))));
    return all;
  }
};

}  // namespace holdfast::gpt_train
