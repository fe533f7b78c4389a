// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/device/attention.hpp"

#include <cmath>

namespace holdfast::gpt_train {
namespace {

const Shape& checked(const Backend& backend, const Shape& shape) {
  if (shape.head != 32 && shape.head != 64 && shape.head != 128)
    throw Error(Fault::bad_input,
                text("unsupported head width ", shape.head, ": a device takes 32, 64 or 128"));
  if (const int sm = backend.device->architecture().sm; sm < 80)
    throw Error(Fault::device, text("attention in bf16 needs matrix units that sm_", sm,
                                    " has not; use sm_80 or later"));
  return shape;  // NOLINT(bugprone-return-const-ref-from-parameter): a member is made of it
}

std::size_t range_count(const Shape& shape) {
  return std::size_t{blocks(shape.columns, attention_tile)} * static_cast<std::size_t>(shape.batch);
}

}  // namespace

TiledAttention::TiledAttention(Backend& backend, const Shape& shape)
    : shape_(checked(backend, shape)),
      kernels_(*backend.compiler, shape.head),
      ranges_(backend, range_count(shape), "scratch: segments of tiles"),
      form_{.columns = shape.columns,
            .heads = shape.heads(),
            .repeats = shape.repeats,
            .out_pitch = shape.query_width(),
            .scale = static_cast<float>(1 / std::sqrt(double(shape.head))),
            .ranges = ranges_.data()} {}

std::size_t TiledAttention::bytes(const Shape& shape) {
  return range_count(shape) * sizeof(SegmentRange);
}

// A ring of stages and the block's own, two tiles each; and the numbers of the ring's rows.
LaunchShape TiledAttention::launch(unsigned heads) const {
  constexpr std::size_t numbers = 12;  // bytes a row
  const std::size_t tile = std::size_t{2} * attention_tile * static_cast<std::size_t>(shape_.head);
  return {.grid = {tiles(), heads, static_cast<unsigned>(shape_.batch)},
          .block = {attention_block},
          .shared_bytes =
              (attention_stages + 1) * 2 * tile + attention_stages * attention_tile * numbers};
}

void TiledAttention::see(const int* segments) {
  form_.segments = segments;
  kernels_.tile_segments({.grid = {static_cast<unsigned>(ranges_.size())}, .block = {32}}, segments,
                         shape_.columns, ranges_.data());
}

void TiledAttention::forward(const Heads<const Bf16>& in, Bf16* o, float* log_sums) const {
  kernels_.attend(launch(static_cast<unsigned>(shape_.heads())), form_, in, o, log_sums);
}

void TiledAttention::backward(const Heads<const Bf16>& in, const Bf16* o, const float* log_sums,
                              const Bf16* d_o, float* whole, const Heads<Bf16>& d) const {
  kernels_.back_queries(launch(static_cast<unsigned>(shape_.heads())), form_, in, o, d_o, log_sums,
                        whole, d);
  kernels_.back_keys(launch(static_cast<unsigned>(shape_.groups)), form_, in, d_o, log_sums, whole,
                     d);
}

}  // namespace holdfast::gpt_train
