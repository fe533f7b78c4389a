// SPDX-License-Identifier: Apache-2.0
// The bytes that a computation holds on a host, from the sizes of its arrays. README.md has the
// terms.
#include "gpt_train/peak.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "gpt_train/gpt_train.hpp"
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

// Numbers of parameters and gradients; isolated attention has neither.
Count held_tensors(const Problem& p) {
  const Count read = p.has_attention() ? 0 : read_by(p.unit, p.options.shape);
  return goes_back(p) || p.unit == Unit::update ? 2 * read : read;
}

Count moment_numbers(const Options& o) {
  const Sizes z = sizes_of(o.shape);
  return 2 * 2 * z.v * z.d + (2 * z.l + 1) * z.d + moments_of(o.optimizer) * matrix_count(o.shape);
}

// Numbers held for the matrices that are orthogonalised at a time, at their maximum: twice the
// matrices, and two squares of each.
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

// Attention's tiles per thread: operands in whole vectors, scores.
Count tile_numbers(const Problem& p, bool back) {
  const Shape& s = p.options.shape;
  const Count lanes = (host_limits().isa == "x86-64-v4" ? 64 : 32) /
                      (p.options.precision == Precision::f32 ? 4 : 8);
  const Count wide = (s.head + lanes - 1) / lanes * lanes;
  const Count threads = attention_threads(s);
  return threads * 64 * (back ? 8 * wide + 2 * 64 : 4 * wide + 64) + s.columns * s.head;
}

// Numbers, not bytes.
PeakParts fused_numbers(const Problem& p) {
  const Options& o = p.options;
  const Sizes z = sizes_of(o.shape);
  const bool layers = runs_layers(p), attention = p.has_attention();
  const bool back = goes_back(p), attention_back = attention_goes_back(p);
  const Count held = p.passes_back() ? z.l : layers ? 1 : 0, wide = z.da + 2 * z.dk;
  PeakParts all;
  all.tensors = held_tensors(p);
  if (p.trains()) all.moments = moment_numbers(o), all.activations = newton_schulz_numbers(o);
  // Kept for the way back: stream twice, q | k | v, o, sums of scores, up | gate, two norms.
  all.activations += held * z.n * (2 * z.d + wide + z.da + z.heads + 2 * z.inner + 2);
  if (layers) all.activations += z.n * (2 * z.d + z.inner);  // the last stream, y, h
  if (attention) all.activations += z.n * (2 * wide + z.da + z.heads);
  if (p.has_head()) all.others += 2 * z.n, all.logits = std::min<Count>(128, z.n) * z.v;
  if (p.unit == Unit::lm_head) all.activations += 2 * z.n * z.d;
  if (back) all.activations += 2 * z.n * z.d + (z.n + 31) / 32 * z.d;
  if (layers_go_back(p)) all.activations += 2 * z.n * z.inner;
  if (attention_back) all.activations += z.n * (wide + z.da);
  if (p.unit == Unit::layer_backward) all.activations += z.n * z.d;
  if (layers || attention) all.activations += tile_numbers(p, attention_back);
  return all;
}

PeakParts plain_numbers(const Problem& p) {
  const Options& o = p.options;
  const Sizes z = sizes_of(o.shape);
  const bool layers = runs_layers(p), attention = layers || p.has_attention();
  const Count squares = z.batch * z.heads * z.columns * z.columns;
  PeakParts all;
  all.tensors = held_tensors(p);
  if (p.trains()) {
    Count largest = 0, square = 0;
    for (const Tensor& tensor : tensors_of(o.shape)) {
      const Count least = std::min(tensor.rows, tensor.columns);
      largest = std::max(largest, tensor.size());
      if (tensor.role == Role::matrix) square = std::max(square, least * least);
    }
    all.moments = moment_numbers(o);
    all.activations = 4 * largest + 3 * square;
  }
  all.activations += 2 * z.n;  // norms
  if (p.has_layers()) all.activations += z.n * (z.l + 1) * z.d;
  if (p.has_layer()) all.activations += 2 * z.n * z.d;
  if (p.unit == Unit::lm_head) all.activations += 2 * z.n * z.d;
  if (layers) all.activations += z.n * 4 * (z.d + z.inner);
  if (attention) {
    all.activations += z.n * (8 * z.da + 3 * z.dk) + 3 * squares;
    all.others += z.columns * (z.da / z.heads);
  }
  if (attention_goes_back(p)) all.activations += z.n * (7 * z.da + 3 * z.dk) + 2 * squares;
  if (goes_back(p)) all.activations += 4 * z.n * z.d;
  if (layers_go_back(p)) all.activations += z.n * (3 * z.inner + z.da);
  if (p.unit == Unit::layer_backward) all.activations += z.n * z.d;
  if (p.unit == Unit::attention_backward) all.activations += z.n * z.da;
  if (p.has_head()) {
    all.others += z.n;
    all.logits = (p.head_passes_back() ? 4 : 2) * z.n * z.v;
  }
  return all;
}

}  // namespace

PeakParts peak_parts(Variant variant, const Problem& p) {
  const bool plain = variant == Variant::reference;
  if (p.options.precision == Precision::bf16)
    return plain ? plain_device_peak_parts(p) : device_peak_parts(p);
  PeakParts all = plain ? plain_numbers(p) : fused_numbers(p);
  const Count value = p.options.precision == Precision::f32 ? 4 : 8;
  for (Count* part : {&all.tensors, &all.moments, &all.activations, &all.logits, &all.others})
    *part *= value;
  if (p.unit != Unit::update) all.others += 4 * p.options.shape.tokens();  // segments
  return all;
}

std::int64_t formula_peak_bytes(Variant variant, Unit unit, const Options& options) {
  return peak_parts(variant, {unit, options}).all();
}

}  // namespace holdfast::gpt_train
