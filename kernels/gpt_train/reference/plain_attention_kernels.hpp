// SPDX-License-Identifier: Apache-2.0
// The kernels of plain_attention.cu as a list: one program for all shapes.
#pragma once

#include "gpt_train/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/device_code/bf16.hpp"
#include "runtime/sources.hpp"

namespace holdfast::gpt_train {

struct PlainAttentionKernels : KernelList {
  PlainAttentionKernels() = default;
  explicit PlainAttentionKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::plain_attention_cu,
                       .headers = {runtime::sources::both_hpp, runtime::sources::bf16_hpp,
                                   runtime::sources::tensor_core_cuh}});
  }

  Listed<const Bf16*, const Bf16*, const Bf16*, long long, int, int, int, float, Bf16*>
      rotate_heads{*this, "rotate_heads"};
  Listed<const Bf16*, long long, int, int, int, int, Bf16*> heads_first{*this, "heads_first",
                                                                        KernelKind::copy};
  Listed<const Bf16*, long long, int, int, int, int, Bf16*> heads_last{*this, "heads_last",
                                                                       KernelKind::copy};
  Listed<const Bf16*, long long, float, Bf16*> scale_all{*this, "scale_all"};
  Listed<const Bf16*, const int*, long long, int, int, Bf16*> mask_scores{*this, "mask_scores"};
  Listed<const Bf16*, int, Bf16*> softmax_rows{*this, "softmax_rows", KernelKind::reduce};
  Listed<const Bf16*, const Bf16*, int, Bf16*> softmax_slopes{*this, "softmax_slopes",
                                                              KernelKind::reduce};
};

}  // namespace holdfast::gpt_train
