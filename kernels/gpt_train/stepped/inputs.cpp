// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/stepped/inputs.hpp"

#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train {

Projected projected(const Options& options, std::int64_t step) {
  const Shape& s = options.shape;
  const std::vector<Tensor> tensors = tensors_of(Unit::attention_forward, s);  // g1, Wq, Wk, Wv
  std::vector<double> y = first_stream(options, step);
  const std::vector<double> g = drawn(tensors[0], options.start);
  for (std::size_t row = 0; row < y.size(); row += s.width) {
    double squares = 0;
    for (int j = 0; j < s.width; ++j) squares += y[row + j] * y[row + j];
    const double r = 1 / std::sqrt(squares / s.width + norm_epsilon);
    for (int j = 0; j < s.width; ++j) y[row + j] *= r * g[j];
  }
  const auto times = [&](const Tensor& tensor) {
    const std::vector<double> w = drawn(tensor, options.start);
    std::vector<double> out(s.tokens() * tensor.columns);
    for (std::int64_t n = 0; n < s.tokens(); ++n)
      for (int i = 0; i < tensor.rows; ++i)
        for (int j = 0; j < tensor.columns; ++j)
          out[n * tensor.columns + j] +=
              y[n * s.width + i] * w[std::int64_t{i} * tensor.columns + j];
    return out;
  };
  return {times(tensors[1]), times(tensors[2]), times(tensors[3])};
}

}  // namespace holdfast::gpt_train
