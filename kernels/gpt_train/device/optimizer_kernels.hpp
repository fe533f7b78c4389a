// SPDX-License-Identifier: Apache-2.0
// The kernels of optimizer.cu as a list: one program for all shapes and optimisers.
#pragma once

#include "gpt_train/device/arguments.hpp"
#include "gpt_train/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::gpt_train {

struct OptimizerKernels : KernelList {
  OptimizerKernels() = default;
  explicit OptimizerKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::optimizer_cu,
                       .headers = {runtime::sources::both_hpp, runtime::sources::bf16_hpp,
                                   sources::arguments_hpp, sources::numbers_cuh, sources::adam_cuh,
                                   sources::orthogonal_cuh}});
  }

  template <class G>
  using Adam =
      Listed<const Schedule*, AdamRule, const G*, long long, float*, float*, float*, Bf16*>;

  Listed<const Schedule*, AdamRule, const float*, int, int, float, float*, float*, float*, Bf16*>
      adam_rows{*this, "adam_rows"};
  Adam<float> adam_head{*this, "adam_all<float>"};
  Adam<Bf16> adam_matrices{*this, "adam_all<holdfast::Bf16>"};
  Listed<const Schedule*, LionRule, const float*, int, float*, float*, Bf16*> lion{*this, "lion"};
  Listed<const Schedule*, Timescales, const Member*, const Bf16*, float*, long long, Bf16*, float*>
      go_on{*this, "go_on"};
  Listed<const float*, int, float, float*> invert_norms{*this, "invert_norms", KernelKind::reduce};
  Listed<const float*, long long, Bf16*> scale_all{*this, "scale_all"};
  Listed<const Schedule*, Timescales, const Member*, float, const Bf16*, float*, Bf16*> apply{
      *this, "apply"};
};

}  // namespace holdfast::gpt_train
