// SPDX-License-Identifier: Apache-2.0
// The bytes that a computation holds on a host, by the sizes of what it needs. README.md has the
// terms.
#include <algorithm>
#include <map>
#include <utility>

#include "gpt_train/gpt_train.hpp"
#include "gpt_train/peak_device.hpp"
#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train {
namespace {

using Count = std::int64_t;

struct Sizes {
  Count n, d, v, l, da, dk, inner, heads, columns, batch;
};
Sizes sizes_of(const Shape& s) {
  return {s.tokens(),    s.width, s.vocabulary, s.layers,  s.query_width(),
          s.key_width(), s.inner, s.heads(),    s.columns, s.batch};
}

// Numbers of parameters that a unit reads.
Count read_by(Unit unit, const Shape& shape) {
  Count sum = 0;
  for (const Tensor& tensor : tensors_of(unit, shape)) sum += tensor.size();
  return sum;
}

Count moment_numbers(const Options& o) {
  const Sizes z = sizes_of(o.shape);
  return 2 * 2 * z.v * z.d + (2 * z.l + 1) * z.d + moments_of(o.optimizer) * matrix_count(o.shape);
}

// Of the matrices that are made orthogonal at a time, where they are largest: twice what they hold,
// and two squares of each.
Count newton_schulz_numbers(const Options& o) {
  if (o.optimizer == Optimizer::adamw) return 0;
  std::map<std::pair<Count, Count>, Count> groups;
  for (const Tensor& tensor : tensors_of(o.shape))
    if (tensor.role == Role::matrix) ++groups[std::minmax<Count>(tensor.rows, tensor.columns)];
  Count most = 0;
  for (const auto& [sizes, members] : groups) {
    const auto [m, q] = sizes;
    const Count value = o.precision == Precision::f32 ? 4 : 8;
    most = std::max(most, matrices_at_a_time(m, q, members, value) * 2 * (m * q + m * m));
  }
  return most;
}

// Tiles of attention for each thread: operands in whole vectors, scores.
Count tile_numbers(const Problem& p, bool back) {
  const Shape& s = p.options.shape;
  const Count lanes = (host_limits().isa == "x86-64-v4" ? 64 : 32) /
                      (p.options.precision == Precision::f32 ? 4 : 8);
  const Count wide = (s.head + lanes - 1) / lanes * lanes;
  const Count threads = attention_threads(s);
  return threads * 64 * (back ? 8 * wide + 2 * 64 : 4 * wide + 64) + s.columns * s.head;
}

Count fused_numbers(const Problem& p) {
  const Options& o = p.options;
  const Sizes z = sizes_of(o.shape);
  const bool layers = p.has_layers() || p.has_layer(), attention = p.has_attention();
  const bool layers_back = p.passes_back() || p.unit == Unit::layer_backward;
  const bool back = layers_back || p.unit == Unit::lm_head;
  const bool attention_back = layers_back || p.unit == Unit::attention_backward;
  const Count held = p.passes_back() ? z.l : layers ? 1 : 0, wide = z.da + 2 * z.dk;
  Count sum = attention ? 0 : read_by(p.unit, o.shape);
  if (back || p.unit == Unit::update) sum += read_by(p.unit, o.shape);
  if (p.trains()) sum += moment_numbers(o) + newton_schulz_numbers(o);
  // Kept for the way back: stream twice, q | k | v, o, sums of scores, up | gate, two norms.
  sum += held * z.n * (2 * z.d + wide + z.da + z.heads + 2 * z.inner + 2);
  if (layers) sum += z.n * (2 * z.d + z.inner);  // the last stream, y, h
  if (attention) sum += z.n * (2 * wide + z.da + z.heads);
  if (p.has_head()) sum += 2 * z.n + std::min<Count>(128, z.n) * z.v;
  if (p.unit == Unit::lm_head) sum += 2 * z.n * z.d;
  if (back) sum += 2 * z.n * z.d + (z.n + 31) / 32 * z.d;
  if (layers_back) sum += 2 * z.n * z.inner;
  if (attention_back) sum += z.n * (wide + z.da);
  if (p.unit == Unit::layer_backward) sum += z.n * z.d;
  if (layers || attention) sum += tile_numbers(p, attention_back);
  return sum;
}

Count plain_numbers(const Problem& p) {
  const Options& o = p.options;
  const Sizes z = sizes_of(o.shape);
  const bool layers = p.has_layers() || p.has_layer(), attention = layers || p.has_attention();
  const bool layers_back = p.passes_back() || p.unit == Unit::layer_backward;
  const bool back = layers_back || p.unit == Unit::lm_head;
  const bool attention_back = layers_back || p.unit == Unit::attention_backward;
  const Count squares = z.batch * z.heads * z.columns * z.columns;
  Count sum = p.has_attention() ? 0 : read_by(p.unit, o.shape);
  if (back || p.unit == Unit::update) sum += read_by(p.unit, o.shape);
  if (p.trains()) {
    Count largest = 0, square = 0;
    for (const Tensor& tensor : tensors_of(o.shape)) {
      const Count least = std::min(tensor.rows, tensor.columns);
      largest = std::max(largest, tensor.size());
      if (tensor.role == Role::matrix) square = std::max(square, least * least);
    }
    sum += moment_numbers(o) + 4 * largest + 3 * square;
  }
  sum += 2 * z.n;  // norms
  if (p.has_layers()) sum += z.n * (z.l + 1) * z.d;
  if (p.has_layer()) sum += 2 * z.n * z.d;
  if (p.unit == Unit::lm_head) sum += 2 * z.n * z.d;
  if (layers) sum += z.n * 4 * (z.d + z.inner);
  if (attention) sum += z.n * (8 * z.da + 3 * z.dk) + 3 * squares + z.columns * (z.da / z.heads);
  if (attention_back) sum += z.n * (7 * z.da + 3 * z.dk) + 2 * squares;
  if (back) sum += 4 * z.n * z.d;
  if (layers_back) sum += z.n * (3 * z.inner + z.da);
  if (p.unit == Unit::layer_backward) sum += z.n * z.d;
  if (p.unit == Unit::attention_backward) sum += z.n * z.da;
  if (p.has_head()) sum += z.n + (p.head_passes_back() ? 4 : 2) * z.n * z.v;
  return sum;
}

}  // namespace

std::int64_t formula_peak_bytes(Variant variant, Unit unit, const Options& options) {
  const Problem problem = {unit, options};
  if (options.precision == Precision::bf16)
    return variant == Variant::reference ? plain_device_peak_bytes(problem)
                                         : device_peak_bytes(problem);
  const Count numbers =
      variant == Variant::reference ? plain_numbers(problem) : fused_numbers(problem);
  const Count segments = unit == Unit::update ? 0 : 4 * options.shape.tokens();
  return numbers * (options.precision == Precision::f32 ? 4 : 8) + segments;
}

}  // namespace holdfast::gpt_train
