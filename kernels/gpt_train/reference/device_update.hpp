// SPDX-License-Identifier: Apache-2.0
// The reference's update on a device: each tensor's rule as a chain of operations, 86 bytes per
// number where AdamW needs 30; Newton-Schulz matrix by matrix in TF32.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpt_train/device/tensors.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/reference/device_newton_schulz.hpp"

namespace holdfast::gpt_train {

class PlainDeviceUpdate {
 public:
  PlainDeviceUpdate(Backend& backend, const Options& options, const DeviceTensors& tensors)
      : device_(*backend.device),
        kernels_(*backend.compiler),
        tensors_(tensors),
        largest_(largest(options, [](const Tensor& tensor) { return tensor.size(); })),
        square_(largest(options, smaller_square)),
        moments_(backend, moment_count(options), "state: moments"),
        scratch_(backend, scratch_count(options), "scratch: update"),
        newton_schulz_(kernels_, largest_, square_, temporary(2)) {
    clear();
  }

  static std::size_t bytes(const Options& options) {
    return (moment_count(options) + scratch_count(options)) * sizeof(float);
  }

  // Bytes read and written so far to transpose matrices.
  std::int64_t layout_bytes() const { return newton_schulz_.layout_bytes(); }

  void clear() { device_.fill_zero(moments_.data(), moments_.bytes()); }

  void operator()(Blas& blas, const Rates& rates) {
    float* moments = moments_.data();
    const int kept = rates.timescales.empty() ? 2 : static_cast<int>(rates.timescales.size());
    tensors_.each(
        [&](const Tensor& tensor, float* p, Bf16* copy, const float* wide, const Bf16* narrow) {
          const bool matrix = tensor.role == Role::matrix;
          if (tensor.role == Role::norm)
            lion(rates.norm, wide, moments, p, tensor.size());
          else if (!matrix)
            adam(tensor.role == Role::embedding ? rates.embedding : rates.head, tensor, wide,
                 moments, p);
          else if (rates.timescales.empty())
            adam(rates.matrix, tensor, narrow, moments, p);
          else
            muon(blas, rates, tensor, narrow, moments, p);
          kernels_.cast(plain_flat(tensor.size() / 2), p, tensor.size() / 2, copy);
          moments += tensor.size() * (tensor.role == Role::norm ? 1 : matrix ? kept : 2);
        });
  }

 private:
  template <class Size>
  static std::int64_t largest(const Options& options, const Size& size) {
    std::int64_t most = 0;
    for (const Tensor& tensor : tensors_of(options.shape))
      most = std::max<std::int64_t>(most, size(tensor));
    return most;
  }
  static std::int64_t smaller_square(const Tensor& t) {
    const std::int64_t least = std::min(t.rows, t.columns);
    return t.role == Role::matrix ? least * least : 0;
  }
  static std::size_t moment_count(const Options& options) {
    std::int64_t count = 0;
    for (const Tensor& tensor : tensors_of(options.shape))
      count += tensor.size() * moments_of(tensor.role, options.optimizer);
    return static_cast<std::size_t>(count);
  }
  static std::size_t scratch_count(const Options& options) {
    const std::int64_t most = largest(options, [](const Tensor& tensor) { return tensor.size(); });
    return static_cast<std::size_t>(
        2 * most + DevicePlainNewtonSchulz::numbers(most, largest(options, smaller_square)));
  }
  float* temporary(int i) const { return scratch_.data() + i * largest_; }

  template <class G>
  void blend(const G* what, double by_what, const float* old, double by_old, std::int64_t count,
             float* out) const {
    kernels_.blend.of<G>()(plain_flat(count), what, static_cast<float>(by_what), old,
                           static_cast<float>(by_old), count, out);
  }
  void scale(const float* x, double factor, std::int64_t count, float* out) const {
    kernels_.scale_numbers(plain_flat(count), x, static_cast<float>(factor), count, out);
  }
  // p -= rate (step + decay p)
  void apply(double rate, double decay, const float* step, std::int64_t count, float* decayed,
             float* p) const {
    blend(step, 1, p, decay, count, decayed);
    scale(decayed, -rate, count, decayed);
    kernels_.add_numbers(plain_flat(count), p, decayed, count, p);
  }

  template <class G>
  void adam(const Adam& rule, const Tensor& tensor, const G* g, float* m, float* p) const {
    const std::int64_t count = tensor.size();
    float *v = m + count, *first = temporary(0), *second = temporary(1), *last = temporary(2);
    blend(g, 1 - beta1, m, beta1, count, m);
    kernels_.blend_squares.of<G>()(plain_flat(count), g, static_cast<float>(beta2), count, v);
    scale(m, 1 / rule.correction1, count, first);
    scale(v, 1 / rule.correction2, count, second);
    kernels_.quotient(plain_flat(count), first, second, static_cast<float>(adam_epsilon), count,
                      last);
    apply(rule.rate, rule.decay, last, count, first, p);
    if (tensor.role != Role::embedding) return;
    kernels_.row_sizes(plain_warps(tensor.rows), p, tensor.rows, tensor.columns, first);
    kernels_.project(plain_flat(count), first, static_cast<float>(greatest_row), count,
                     tensor.columns, p);
  }

  void lion(const Lion& rule, const float* g, float* m, float* p, std::int64_t count) const {
    float *mixed = temporary(0), *sign = temporary(1);
    blend(g, 1 - lion_beta, m, lion_beta, count, mixed);
    kernels_.signs(plain_flat(count), mixed, count, sign);
    apply(rule.rate, lion_decay, sign, count, mixed, p);
    blend(g, 1 - lion_beta, m, lion_beta, count, m);
  }

  void muon(Blas& blas, const Rates& rates, const Tensor& tensor, const Bf16* g, float* m,
            float* p) {
    const std::int64_t count = tensor.size();
    float *x = temporary(0), *sum = temporary(1);
    device_.fill_zero(sum, static_cast<std::size_t>(count) * sizeof(float));
    for (const Timescale& scale : rates.timescales) {
      blend(g, scale.gain, m, scale.beta, count, m);
      blend(g, 1 - scale.beta, m, scale.beta, count, x);
      newton_schulz_(blas, tensor.rows, tensor.columns, x);
      blend(x, scale.weight, sum, 1, count, sum);
      m += count;
    }
    apply(rates.muon_rate * muon_stretch(tensor.rows, tensor.columns), muon_decay, sum, count, x,
          p);
  }

  Device& device_;
  PlainUpdateKernels kernels_;
  const DeviceTensors& tensors_;
  std::int64_t largest_, square_;
  Buffer<float> moments_, scratch_;
  DevicePlainNewtonSchulz newton_schulz_;
};

}  // namespace holdfast::gpt_train
