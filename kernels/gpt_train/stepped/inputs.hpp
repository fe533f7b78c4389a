// SPDX-License-Identifier: Apache-2.0
// The inputs of isolated stages, the same for every variant, from the batch of a step; f64, before
// rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "gpt_train/data/data.hpp"

namespace holdfast::gpt_train {

// x = E[tok]: [n, d], without the table of all tokens.
inline std::vector<double> first_stream(const Options& options, std::int64_t step) {
  const Shape& s = options.shape;
  const Tensor embedding = tensors_of(s).front();
  const Batch batch = batch_of(options, step);
  const double sigma = options.start == Start::bench ? embedding.sigma : embedding.upstream_sigma;
  std::vector<double> x;
  for (const int token : batch.tokens)
    for (int j = 0; j < s.width; ++j)
      x.push_back(near_normal(embedding.stream, std::uint64_t(token) * s.width + j) * sigma);
  return x;
}

// The incoming gradient of a stage: [n, width].
inline std::vector<double> incoming(const Shape& s, int width) {
  std::vector<double> dx(s.tokens() * width);
  for (std::size_t k = 0; k < dx.size(); ++k)
    dx[k] = near_normal(90, k) / std::sqrt(double(s.tokens()));
  return dx;
}

// q [n, Da], k and v [n, Dk] of layer 0 before rotation: normed x times its matrices.
struct Projected {
  std::vector<double> q = {}, k = {}, v = {};
};
Projected projected(const Options& options, std::int64_t step);

}  // namespace holdfast::gpt_train
