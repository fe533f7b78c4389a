// SPDX-License-Identifier: Apache-2.0
// The reference's head on a device: all logits at once in four forms, with shares in f32.
#pragma once

#include <vector>

#include "gpt_train/device/products.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/problem/shape.hpp"
#include "gpt_train/reference/plain_kernels.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::gpt_train {

class DevicePlainHead {
 public:
  DevicePlainHead(Backend& backend, const PlainKernels& kernels, Products& products,
                  const Shape& shape, bool goes_back)
      : kernels_(kernels),
        products_(products),
        n_(shape.tokens()),
        width_(shape.width),
        vocabulary_(shape.vocabulary),
        losses_(backend, static_cast<std::size_t>(n_), "result: losses"),
        logits_(backend, (goes_back ? 3 : 2) * count(), "logits"),
        shares_(backend, goes_back ? count() : 0, "logits") {}

  // y: [n, d], w: [d, V].
  void forward(const Inputs& in, const Bf16* y, const Bf16* w) {
    products_(n_, vocabulary_, width_, y, w, logits_.data());
    kernels_.cap(plain_flat(pairs()), logits_.data(), pairs(), limit, capped());
    kernels_.row_losses(plain_rows(n_), in, capped(), vocabulary_, limit, losses_.data());
  }
  void backward(const Inputs& in, const Bf16* y, const Bf16* w, float* d_w, Bf16* d_y) {
    Bf16* const dz = capped() + count();
    kernels_.softmax_logits(plain_rows(n_), capped(), vocabulary_, limit, shares_.data());
    kernels_.logit_slopes(plain_flat(pairs()), in, shares_.data(), pairs(), vocabulary_, dz);
    kernels_.cap_slope(plain_flat(pairs()), capped(), pairs(), limit, dz);
    products_.transposed(width_, vocabulary_, n_, y, dz, d_w, false);
    products_.by_transposed(n_, width_, vocabulary_, dz, w, d_y);
  }

  const float* losses() const { return losses_.data(); }
  void tell(std::vector<double>& to) const {
    for (const float loss : losses_.to_host()) to.push_back(double{loss});
  }

 private:
  static constexpr float limit = static_cast<float>(logit_cap);

  std::size_t count() const { return static_cast<std::size_t>(n_ * vocabulary_); }
  std::int64_t pairs() const { return n_ * vocabulary_ / 2; }
  Bf16* capped() const { return logits_.data() + count(); }

  const PlainKernels& kernels_;
  Products& products_;
  std::int64_t n_;
  int width_, vocabulary_;
  Buffer<float> losses_;
  Buffer<Bf16> logits_;
  Buffer<float> shares_;
};

}  // namespace holdfast::gpt_train
