// SPDX-License-Identifier: Apache-2.0
// The reference's norms on a device: three launches, and eight backward if they add.
#pragma once

#include "gpt_train/problem/rates.hpp"
#include "gpt_train/reference/device_results.hpp"
#include "gpt_train/reference/plain_kernels.hpp"

namespace holdfast::gpt_train {

class DevicePlainNorm {
 public:
  DevicePlainNorm(const PlainKernels& kernels, const Shape& shape, const DeviceResults& at)
      : kernels_(kernels), at_(at), n_(shape.tokens()), width_(shape.width) {}

  // y = x r g: all [n, d].
  void forward(const Bf16* x, const Bf16* g, Bf16* y) const {
    scale_rows(x);
    kernels_.scale_columns(plain_flat(pairs()), at_.other, g, pairs(), width_, y);
  }
  // From dy: writes dx or adds to it, and writes dg.
  void backward(const Bf16* x, const Bf16* g, bool adds, float* dg) const {
    const auto parts = static_cast<unsigned>(norm_parts(n_));
    scale_rows(x);
    kernels_.column_products(
        {.grid = {blocks(width_ / 2, plain_row_threads), parts}, .block = {plain_row_threads}},
        at_.dy, at_.other, static_cast<int>(n_), width_, at_.partial);
    kernels_.sum_parts({.grid = {blocks(width_, plain_row_threads)}, .block = {plain_row_threads}},
                       at_.partial, static_cast<int>(parts), width_, dg);
    kernels_.scale_columns(plain_flat(pairs()), at_.dy, g, pairs(), width_, at_.weighed);
    kernels_.row_means(plain_warps(n_), at_.weighed, at_.other, n_, width_, at_.means);
    kernels_.norm_slope(plain_flat(pairs()), at_.weighed, at_.other, at_.means, at_.roots, pairs(),
                        width_, adds ? at_.weighed : at_.dx);
    if (adds) kernels_.add(plain_flat(pairs()), at_.dx, at_.weighed, pairs(), at_.dx);
  }

 private:
  std::int64_t pairs() const { return n_ * width_ / 2; }
  // x r, to `other`.
  void scale_rows(const Bf16* x) const {
    kernels_.inverse_roots(plain_warps(n_), x, n_, width_, static_cast<float>(norm_epsilon),
                           at_.roots);
    kernels_.scale_rows(plain_flat(pairs()), x, at_.roots, pairs(), width_, at_.other);
  }

  const PlainKernels& kernels_;
  const DeviceResults& at_;
  std::int64_t n_;
  int width_;
};

}  // namespace holdfast::gpt_train
