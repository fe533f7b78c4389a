// SPDX-License-Identifier: Apache-2.0
// The kernels of plain_model.cu and plain_update.cu as lists: two programs for all shapes.
#pragma once

#include "gpt_train/device/arguments.hpp"
#include "gpt_train/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::gpt_train {

inline std::vector<Source> plain_headers() {
  return {runtime::sources::both_hpp, runtime::sources::bf16_hpp, runtime::sources::tensor_core_cuh,
          sources::arguments_hpp,     sources::plain_numbers_cuh, sources::plain_attention_cu,
          sources::plain_rows_cu};
}

struct PlainKernels : KernelList {
  PlainKernels() = default;
  explicit PlainKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::plain_model_cu, .headers = plain_headers()});
  }

  using Flat = Listed<const Bf16*, const Bf16*, long long, Bf16*>;

  Listed<const Bf16*, const Bf16*, const Bf16*, long long, int, int, int, float, Bf16*>
      rotate_heads{*this, "rotate_heads"};
  Listed<const Bf16*, long long, int, int, int, int, Bf16*> heads_first{*this, "heads_first",
                                                                        KernelKind::copy};
  Listed<const Bf16*, long long, int, int, int, int, Bf16*> heads_last{*this, "heads_last",
                                                                       KernelKind::copy};
  Listed<const Bf16*, long long, float, Bf16*> scale_queries{*this, "scale_queries"};
  Listed<const Bf16*, const int*, long long, int, int, Bf16*> mask_scores{*this, "mask_scores"};
  Listed<const Bf16*, int, Bf16*> softmax_rows{*this, "softmax_rows", KernelKind::reduce};
  Listed<const Bf16*, const Bf16*, int, Bf16*> softmax_slopes{*this, "softmax_slopes",
                                                              KernelKind::reduce};

  Listed<Inputs, const Bf16*, long long, int, Bf16*> gather{*this, "gather"};
  Listed<const Bf16*, long long, int, float, float*> inverse_roots{*this, "inverse_roots",
                                                                   KernelKind::reduce};
  Listed<const Bf16*, const float*, long long, int, Bf16*> scale_rows{*this, "scale_rows"};
  Listed<const Bf16*, const Bf16*, long long, int, Bf16*> scale_columns{*this, "scale_columns"};
  Listed<const Bf16*, const Bf16*, int, int, float*> column_products{*this, "column_products",
                                                                     KernelKind::reduce};
  Listed<const float*, int, int, float*> sum_parts{*this, "sum_parts", KernelKind::reduce};
  Listed<const Bf16*, const Bf16*, long long, int, float*> row_means{*this, "row_means",
                                                                     KernelKind::reduce};
  Listed<const Bf16*, const Bf16*, const float*, const float*, long long, int, Bf16*> norm_slope{
      *this, "norm_slope"};
  Flat add{*this, "add"};
  Flat multiply{*this, "multiply"};
  Listed<const Bf16*, long long, Bf16*> silu{*this, "silu"};
  Listed<const Bf16*, const Bf16*, const Bf16*, long long, Bf16*> silu_slope{*this, "silu_slope"};
  Listed<const Bf16*, long long, float, Bf16*> cap{*this, "cap"};
  Listed<Inputs, const Bf16*, int, float, float*> row_losses{*this, "row_losses",
                                                             KernelKind::reduce};
  Listed<const Bf16*, int, float, float*> softmax_logits{*this, "softmax_logits",
                                                         KernelKind::reduce};
  Listed<Inputs, const float*, long long, int, Bf16*> logit_slopes{*this, "logit_slopes"};
  Listed<const Bf16*, long long, float, Bf16*> cap_slope{*this, "cap_slope"};
};

// One kernel for gradients in f32 and one for those in bf16.
template <template <class> class Of>
struct OfEither : Of<float>, Of<Bf16> {
  OfEither(KernelList& list, const char* name)
      : Of<float>(list, text(name, "<float>")), Of<Bf16>(list, text(name, "<holdfast::Bf16>")) {}
  template <class G>
  const Of<G>& of() const {
    return *this;
  }
};
template <class G>
using BlendKernel = Listed<const G*, float, const float*, float, long long, float*>;
template <class G>
using BlendSquaresKernel = Listed<const G*, float, long long, float*>;

struct PlainUpdateKernels : KernelList {
  PlainUpdateKernels() = default;
  explicit PlainUpdateKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::plain_update_cu, .headers = plain_headers()});
  }

  OfEither<BlendKernel> blend{*this, "blend"};
  OfEither<BlendSquaresKernel> blend_squares{*this, "blend_squares"};
  Listed<const float*, float, long long, float*> scale_numbers{*this, "scale_numbers"};
  Listed<const float*, const float*, float, long long, float*> quotient{*this, "quotient"};
  Listed<const float*, long long, float*> signs{*this, "signs"};
  Listed<const float*, const float*, long long, float*> add_numbers{*this, "add_numbers"};
  Listed<const float*, long long, Bf16*> cast{*this, "cast"};
  Listed<const float*, long long, int, float*> row_sizes{*this, "row_sizes", KernelKind::reduce};
  Listed<const float*, float, long long, int, float*> project{*this, "project"};
  Listed<const float*, long long, float*> sum_squares{*this, "sum_squares", KernelKind::reduce};
  Listed<const float*, int, float, float*> invert_norm{*this, "invert_norm", KernelKind::reduce};
  Listed<const float*, const float*, long long, float*> scale_by{*this, "scale_by"};
  Listed<const float*, int, int, float*> turn{*this, "turn", KernelKind::copy};
};

constexpr unsigned plain_row_threads = 128, plain_flat_threads = 256;
inline LaunchShape plain_flat(std::int64_t threads) {
  return {.grid = {blocks(threads, plain_flat_threads)}, .block = {plain_flat_threads}};
}
// Shapes with one block, or one warp, per row.
inline LaunchShape plain_rows(std::int64_t rows) {
  return {.grid = {static_cast<unsigned>(rows)}, .block = {plain_row_threads}};
}
inline LaunchShape plain_warps(std::int64_t rows) {
  return {.grid = {blocks(rows, plain_row_threads / 32)}, .block = {plain_row_threads}};
}

}  // namespace holdfast::gpt_train
