// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/testing/plain_attention_on_cpu.hpp"

#include "gpt_train/reference/plain_attention_kernels.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "runtime/device_code/tensor_core.cuh"

namespace on_cpu_plain_attention {
#include "gpt_train/reference/plain_attention.cu"
}

namespace holdfast::gpt_train {

void add_plain_attention(EmulatedKernels& kernels) {
  const PlainAttentionKernels listed;
  kernels.add(listed.rotate_heads, &on_cpu_plain_attention::rotate_heads);
  kernels.add(listed.heads_first, &on_cpu_plain_attention::heads_first);
  kernels.add(listed.heads_last, &on_cpu_plain_attention::heads_last);
  kernels.add(listed.scale_all, &on_cpu_plain_attention::scale_all);
  kernels.add(listed.mask_scores, &on_cpu_plain_attention::mask_scores);
  kernels.add(listed.softmax_rows, &on_cpu_plain_attention::softmax_rows);
  kernels.add(listed.softmax_slopes, &on_cpu_plain_attention::softmax_slopes);
}

}  // namespace holdfast::gpt_train
