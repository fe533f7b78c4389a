// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/testing/plain_on_cpu.hpp"

#include "gpt_train/reference/plain_kernels.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "gpt_train/reference/plain_numbers.cuh"

namespace on_cpu_plain {
#include "gpt_train/reference/plain_attention.cu"
#include "gpt_train/reference/plain_rows.cu"
#include "gpt_train/reference/plain_update.cu"
}  // namespace on_cpu_plain

namespace holdfast::gpt_train {
namespace {

namespace on_cpu = on_cpu_plain;

void add_model(EmulatedKernels& kernels) {
  const PlainKernels listed;
  kernels.add(listed.rotate_heads, &on_cpu::rotate_heads);
  kernels.add(listed.heads_first, &on_cpu::heads_first);
  kernels.add(listed.heads_last, &on_cpu::heads_last);
  kernels.add(listed.scale_queries, &on_cpu::scale_queries);
  kernels.add(listed.mask_scores, &on_cpu::mask_scores);
  kernels.add(listed.softmax_rows, &on_cpu::softmax_rows);
  kernels.add(listed.softmax_slopes, &on_cpu::softmax_slopes);
  kernels.add(listed.gather, &on_cpu::gather);
  kernels.add(listed.inverse_roots, &on_cpu::inverse_roots);
  kernels.add(listed.scale_rows, &on_cpu::scale_rows);
  kernels.add(listed.scale_columns, &on_cpu::scale_columns);
  kernels.add(listed.column_products, &on_cpu::column_products);
  kernels.add(listed.sum_parts, &on_cpu::sum_parts);
  kernels.add(listed.row_means, &on_cpu::row_means);
  kernels.add(listed.norm_slope, &on_cpu::norm_slope);
  kernels.add(listed.add, &on_cpu::add);
  kernels.add(listed.multiply, &on_cpu::multiply);
  kernels.add(listed.silu, &on_cpu::silu);
  kernels.add(listed.silu_slope, &on_cpu::silu_slope);
  kernels.add(listed.cap, &on_cpu::cap);
  kernels.add(listed.row_losses, &on_cpu::row_losses);
  kernels.add(listed.softmax_logits, &on_cpu::softmax_logits);
  kernels.add(listed.logit_slopes, &on_cpu::logit_slopes);
  kernels.add(listed.cap_slope, &on_cpu::cap_slope);
}

void add_update(EmulatedKernels& kernels) {
  const PlainUpdateKernels listed;
  kernels.add(listed.blend.of<float>(), &on_cpu::blend<float>);
  kernels.add(listed.blend.of<Bf16>(), &on_cpu::blend<Bf16>);
  kernels.add(listed.blend_squares.of<float>(), &on_cpu::blend_squares<float>);
  kernels.add(listed.blend_squares.of<Bf16>(), &on_cpu::blend_squares<Bf16>);
  kernels.add(listed.scale_numbers, &on_cpu::scale_numbers);
  kernels.add(listed.quotient, &on_cpu::quotient);
  kernels.add(listed.signs, &on_cpu::signs);
  kernels.add(listed.add_numbers, &on_cpu::add_numbers);
  kernels.add(listed.cast, &on_cpu::cast);
  kernels.add(listed.row_sizes, &on_cpu::row_sizes);
  kernels.add(listed.project, &on_cpu::project);
  kernels.add(listed.sum_squares, &on_cpu::sum_squares);
  kernels.add(listed.invert_norm, &on_cpu::invert_norm);
  kernels.add(listed.scale_by, &on_cpu::scale_by);
  kernels.add(listed.turn, &on_cpu::turn);
}

}  // namespace

void add_plain(EmulatedKernels& kernels) {
  add_model(kernels);
  add_update(kernels);
}

}  // namespace holdfast::gpt_train
