// SPDX-License-Identifier: Apache-2.0
// The kernels of attention.cu as a list, for one head width; only another width is another program.
#pragma once

#include <string>

#include "gpt_train/device/attention_form.hpp"
#include "gpt_train/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::gpt_train {

struct AttentionKernels : KernelList {
  explicit AttentionKernels(int head) : head_(head) {}
  AttentionKernels(Compiler& compiler, int head) : AttentionKernels(head) {
    compile(compiler, {.code = sources::attention_cu,
                       .headers = {runtime::sources::both_hpp, runtime::sources::bf16_hpp,
                                   runtime::sources::tensor_core_cuh, sources::attention_form_hpp,
                                   sources::attention_tiles_cuh, sources::attention_stream_cuh,
                                   sources::attention_mask_cuh, sources::attention_back_cu}});
  }

 private:
  std::string of_head(const char* kernel) const { return text(kernel, "<", head_, ">"); }
  int head_;  // must precede the kernels, whose names depend on it

 public:
  Listed<const int*, int, SegmentRange*> tile_segments{*this, "tile_segments", KernelKind::reduce};
  Listed<AttentionForm, Heads<const Bf16>, Bf16*, float*> attend{*this, of_head("attend"),
                                                                 KernelKind::gemm};
  Listed<AttentionForm, Heads<const Bf16>, const Bf16*, const Bf16*, const float*, float*,
         Heads<Bf16>>
      back_queries{*this, of_head("attend_back_queries"), KernelKind::gemm};
  Listed<AttentionForm, Heads<const Bf16>, const Bf16*, const float*, const float*, Heads<Bf16>>
      back_keys{*this, of_head("attend_back_keys"), KernelKind::gemm};
};

}  // namespace holdfast::gpt_train
