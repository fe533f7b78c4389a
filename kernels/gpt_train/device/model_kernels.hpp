// SPDX-License-Identifier: Apache-2.0
// The kernels of model.cu as a list: one program for all shapes.
#pragma once

#include "gpt_train/device/arguments.hpp"
#include "gpt_train/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::gpt_train {

struct ModelKernels : KernelList {
  ModelKernels() = default;
  explicit ModelKernels(Compiler& compiler) {
    compile(compiler,
            {.code = sources::model_cu,
             .headers = {runtime::sources::both_hpp, runtime::sources::bf16_hpp,
                         runtime::sources::random_hpp, sources::arguments_hpp, sources::hash_hpp,
                         sources::numbers_cuh, sources::backward_cuh, sources::classifier_cuh}});
  }

  Listed<Drawing, float*, Bf16*> draw{*this, "draw"};
  Listed<Inputs, Drawing, Bf16*> draw_stream{*this, "draw_stream"};
  Listed<Inputs, int*> segment{*this, "segment"};
  Listed<Inputs, const Bf16*, const Bf16*, int, float, Bf16*, Bf16*, float*> embed{*this, "embed"};
  Listed<const Bf16*, const Bf16*, int, int, float, Bf16*, float*> normalise{*this, "normalise"};
  Listed<Rotation, const Bf16*, const Bf16*, const Bf16*, Bf16*> rotate{*this, "rotate"};
  Listed<const Bf16*, long long, int, Bf16*> gated{*this, "gated"};
  Listed<Inputs, int, int, float, int, Bf16*, float*> classify{*this, "classify"};
  Listed<Inputs, const float*, double*> sum_losses{*this, "sum_losses", KernelKind::reduce};
  Listed<const Bf16*, const Bf16*, long long, int, Bf16*, Bf16*> gated_backward{*this,
                                                                                "gated_backward"};
  Listed<const Bf16*, const Bf16*, const float*, const Bf16*, int, int, int, Bf16*, Bf16*, float*>
      norm_backward{*this, "norm_backward"};
  Listed<const float*, int, int, float*> sum_rows{*this, "sum_rows", KernelKind::reduce};
  Listed<Inputs, const Bf16*, int, float*> embed_backward{*this, "embed_backward",
                                                          KernelKind::scatter};
};

// Launch shapes of kernels with one row per warp, and of those that visit contiguous numbers.
inline LaunchShape row_shape(std::int64_t rows) {
  return {.grid = {blocks(rows, row_block / 32)}, .block = {row_block}};
}
inline LaunchShape flat_shape(std::int64_t count, int each = 1) {
  return {.grid = {blocks(count, std::int64_t{flat_block} * each)}, .block = {flat_block}};
}

}  // namespace holdfast::gpt_train
