// SPDX-License-Identifier: Apache-2.0
// The bytes that a computation holds on a device, from the sizes of its arrays; memory that a
// device allocates in units of 256 bytes counts as if allocated by the byte. README.md has the
// terms.
#include <algorithm>
#include <map>
#include <utility>

#include "gpt_train/device/arguments.hpp"
#include "gpt_train/device/places.hpp"
#include "gpt_train/peak.hpp"
#include "gpt_train/problem/rates.hpp"
#include "runtime/base/gemm.hpp"

namespace holdfast::gpt_train {
namespace {

using Count = std::int64_t;

Count moment_bytes(const Options& o) {
  Count numbers = 0;
  for (const Tensor& tensor : tensors_of(o.shape))
    numbers += tensor.size() * moments_of(tensor.role, o.optimizer);
  return 4 * numbers;
}

// X and the next one, A and b A + c A A, for the largest group and all timescales; A lies in the
// logits' memory if it fits there.
Count newton_schulz_bytes(const Options& o, Count logits) {
  std::map<std::pair<Count, Count>, Count> groups;
  for (const Tensor& tensor : tensors_of(o.shape))
    if (tensor.role == Role::matrix) ++groups[std::minmax<Count>(tensor.rows, tensor.columns)];
  Count most = 0;
  for (const auto& [sides, members] : groups) {
    const auto [m, q] = sides;
    const Count all = members * moments_of(o.optimizer), square = 2 * m * m * all;
    most = std::max(most, 4 * m * q * all + square + (square > logits ? square : 0));
  }
  return o.optimizer == Optimizer::adamw ? 0 : most;
}

// Activations and scratch, in bf16 except for sums.
Count activation_bytes(const Problem& p) {
  const Shape& s = p.options.shape;
  const Count n = s.tokens(), d = s.width, da = s.query_width(), wide = da + 2 * s.key_width();
  const bool attention = p.has_attention(), layers = p.has_layers() || p.has_layer();
  const bool layers_back = p.passes_back() || p.unit == Unit::layer_backward;
  const bool attention_back = layers_back || p.unit == Unit::attention_backward;
  const bool back = layers_back || p.unit == Unit::lm_head;
  const Count held = p.passes_back() ? s.layers : layers ? 1 : 0;
  if (p.unit == Unit::update) return 0;
  Count narrow = held * (2 * d + wide + da + 2 * s.inner) + 2 * d;  // per token; with x and y
  Count exact = held * (s.heads() + 2) + 1;
  if (attention) narrow += 2 * wide + da, exact += s.heads();
  if (layers) narrow += s.inner;
  if (back) narrow += 2 * d;
  if (layers_back) narrow += 3 * s.inner;
  if (attention_back) narrow += wide + da, exact += s.heads();
  if (p.unit == Unit::layer_backward) narrow += d;
  return n * (2 * narrow + 4 * exact) + (back ? back_parts(n) * 4 * d : 0);
}

// Copies, masters and gradients.
Count tensor_bytes(const Problem& p) {
  const bool back = p.head_passes_back() || p.unit == Unit::layer_backward;
  Count bytes = 0;
  for (const Tensor& tensor : tensors_of(p.unit, p.options.shape)) {
    const Count gradient = tensor.role == Role::matrix ? 2 : 4;
    bytes += tensor.size() *
             (2 + (p.trains() ? 4 : 0) + (back || p.unit == Unit::update ? gradient : 0));
  }
  return bytes;
}

// A batch with its schedule, order and segments.
Count batch_bytes(const Problem& p) {
  const Count n = p.options.shape.tokens();
  return 64 + 12 * n + (p.unit == Unit::update ? 0 : 4 * n);
}

// Bytes of a tensor-by-tensor update: four of the largest tensor, and three squares of a matrix.
Count plain_update_bytes(const Options& o) {
  Count largest = 0, square = 0;
  for (const Tensor& tensor : tensors_of(o.shape)) {
    const Count least = std::min(tensor.rows, tensor.columns);
    largest = std::max(largest, tensor.size());
    if (tensor.role == Role::matrix) square = std::max(square, least * least);
  }
  return 4 * (4 * largest + 3 * square);
}

// Streams, one layer's results and their gradients, in bf16 except for sums; squares of T by T.
Count plain_activation_bytes(const Problem& p) {
  const Shape& s = p.options.shape;
  const Count n = s.tokens(), d = s.width, da = s.query_width(), dk = s.key_width(),
              square = n * s.heads() * s.columns;
  const bool layers = p.has_layers() || p.has_layer(), attends = layers || p.has_attention();
  const bool layers_back = p.passes_back() || p.unit == Unit::layer_backward;
  const bool back = layers_back || p.unit == Unit::lm_head;
  if (p.unit == Unit::update) return 0;
  Count narrow = p.has_layers() ? (s.layers + 1) * d : (p.has_layer() ? 2 : 1) * d;
  narrow += layers ? 4 * d + 4 * s.inner : d;
  narrow += back ? 4 * d + (layers_back ? 3 * s.inner + da : 0) : d;
  if (p.unit == Unit::layer_backward) narrow += d;
  if (p.unit == Unit::attention_backward) narrow += da;
  Count squares = 0;
  if (attends) narrow += 8 * da + 3 * dk, squares += 3 * square;
  if (layers_back || p.unit == Unit::attention_backward)
    narrow += 7 * da + 3 * dk, squares += 2 * square;
  return 2 * (n * narrow + squares) + 8 * n + (back ? (n + norm_rows - 1) / norm_rows * 4 * d : 0);
}

}  // namespace

PeakParts plain_device_peak_parts(const Problem& p) {
  const Shape& s = p.options.shape;
  const Count n = s.tokens(), logits = p.has_head() ? n * s.vocabulary : 0;
  const bool attends = runs_layers(p) || p.has_attention();
  return {
      .tensors = tensor_bytes(p),
      .moments = p.trains() ? moment_bytes(p.options) : 0,
      .activations = plain_activation_bytes(p) + (p.trains() ? plain_update_bytes(p.options) : 0),
      .logits = logits * (p.head_passes_back() ? 10 : 4),
      .others = (p.has_head() ? 4 * n : 0) + batch_bytes(p) +
                (attends ? 2 * s.columns * s.head : 0) + Count(planned_gemm_work_area_bytes)};
}

PeakParts device_peak_parts(const Problem& p) {
  const Options& o = p.options;
  const Shape& s = o.shape;
  const Count n = s.tokens();
  const Count logits = p.has_head() ? 2 * std::min<Count>(2048, n) * s.vocabulary : 0;
  const bool attends = runs_layers(p) || p.has_attention();
  const Count angles = attends ? 2 * s.columns * s.head : 0;
  const Count ranges = attends ? 8 * Count((s.columns + 63) / 64) * s.batch : 0;
  return {
      .tensors = tensor_bytes(p),
      .moments = p.trains() ? moment_bytes(o) : 0,
      .activations = std::max(activation_bytes(p), p.trains() ? newton_schulz_bytes(o, logits) : 0),
      .logits = logits,
      .others = (p.has_head() ? 4 * n : 0) + batch_bytes(p) + angles + ranges +
                Count(planned_gemm_work_area_bytes)};
}

}  // namespace holdfast::gpt_train
