// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpt_train/data/data.hpp"
#include "gpt_train/gpt_train.hpp"
#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train {
namespace {

// In closed form without documents, and for token counts that take long to count, where it is
// within about a hundredth. There the last row's padding is ignored.
double pairs_in(const Options& o) {
  constexpr std::int64_t most_counted = 1 << 21;
  if (o.shape.tokens() <= most_counted && (o.documents || o.pad_tail > 0))
    return double(pairs_of(o));
  if (o.documents) return expected_pairs(o);
  return double(o.shape.tokens()) * (o.shape.columns + 1) / 2;
}

double forward_flops(const Options& o) {
  const Shape& s = o.shape;
  return 2 * double(s.tokens()) * double(product_count(s)) +
         4. * s.query_width() * pairs_in(o) * s.layers;
}

// Newton-Schulz for every matrix and timescale; its squares are symmetric.
double update_flops(const Options& o) {
  const bool adam = o.optimizer == Optimizer::adamw;
  double flops = 15. * double(parameter_count(o.shape));
  for (const Tensor& tensor : tensors_of(o.shape))
    if (tensor.role == Role::matrix && !adam) {
      const double m = std::min(tensor.rows, tensor.columns),
                   q = std::max(tensor.rows, tensor.columns);
      flops += moments_of(o.optimizer) * newton_schulz_steps * (3 * m * m * q + m * m * m);
    }
  return flops;
}

// Parameters and moments are read and written, gradients read.
double update_bytes(const Options& o, double value) {
  double numbers = 0;
  for (const Tensor& tensor : tensors_of(o.shape))
    numbers += double(tensor.size()) * (3 + 2. * moments_of(tensor.role, o.optimizer));
  return numbers * value;
}

}  // namespace

double model_flops(const Options& options) {
  return 3 * forward_flops(options);
}

Work work_of(Unit unit, const Options& o) {
  const Shape& s = o.shape;
  const double n = double(s.tokens()), d = s.width, da = s.query_width(), dk = s.key_width();
  const double value = stored_bytes(o.precision);
  const double exact = std::max(value, 4.);  // bytes per number of an update
  const double parameters = double(parameter_count(s)), head = d * s.vocabulary;
  const double layer = double(matrix_count(s)) / s.layers, pairs = 4 * da * pairs_in(o);
  // A pass reads at most the rows of E that occur. Its gradients are whole, with rows of zeros.
  const double read = parameters - head + d * std::min(n, double(s.vocabulary));
  const double attention_bytes = n * (2 * da + 2 * dk) * value;
  Work work = {.phases = 1, .precision = o.precision};
  switch (unit) {
    case Unit::forward:
      work.flops = forward_flops(o);
      work.bytes = read * value;
      break;
    case Unit::forward_backward:
      work.flops = model_flops(o);
      work.bytes = (read + parameters) * value;
      break;
    case Unit::layer_forward:
      work.flops = 2 * n * layer + pairs;
      work.bytes = (layer + 2 * n * d) * value;
      break;
    case Unit::layer_backward:
      work.flops = 4 * n * layer + 2 * pairs;
      work.bytes = (2 * layer + 3 * n * d) * value;
      break;
    case Unit::attention_forward:
      work.flops = pairs;
      work.bytes = attention_bytes;
      break;
    case Unit::attention_backward:
      work.flops = 2 * pairs;
      work.bytes = 2 * attention_bytes;
      break;
    case Unit::lm_head:
      work.flops = 6 * n * head;
      work.bytes = (2 * head + 2 * n * d) * value;
      break;
    case Unit::update:
      work.flops = update_flops(o);
      work.bytes = update_bytes(o, exact);
      break;
    case Unit::train_step:
      work.flops = model_flops(o) + update_flops(o);
      work.bytes = (read + parameters) * value + update_bytes(o, exact);
      break;
  }
  return work;
}

}  // namespace holdfast::gpt_train
