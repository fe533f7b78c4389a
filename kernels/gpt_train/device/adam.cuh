// SPDX-License-Identifier: Apache-2.0
// Adam on contiguous numbers, and on the rows of the embedding, which are projected.
#pragma once

#include "gpt_train/device/numbers.cuh"

namespace adam {

struct Four {
  float of[4];
};
__device__ inline Four load(const float* from) {
  const float4 x = *reinterpret_cast<const float4*>(from);
  return {{x.x, x.y, x.z, x.w}};
}
__device__ inline Four load(const Bf16* from) {
  const uint2 x = *reinterpret_cast<const uint2*>(from);
  return {{low_of(x.x), high_of(x.x), low_of(x.y), high_of(x.y)}};
}
__device__ inline void store(float* to, const Four& x) {
  *reinterpret_cast<float4*>(to) = make_float4(x.of[0], x.of[1], x.of[2], x.of[3]);
}
__device__ inline void store(Bf16* to, const Four& x) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pair_of(x.of[0], x.of[1]), pair_of(x.of[2], x.of[3]));
}

// The next four parameters; updates their moments.
template <class G>
__device__ inline Four step(const gpt::AdamRule& rule, float rate, float decay, float second,
                            const G* gradient, float* mean, float* square, const float* parameter) {
  const Four g = load(gradient);
  Four m = load(mean), v = load(square), p = load(parameter);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    m.of[i] = rule.beta1 * m.of[i] + (1 - rule.beta1) * g.of[i];
    v.of[i] = rule.beta2 * v.of[i] + (1 - rule.beta2) * g.of[i] * g.of[i];
    p.of[i] -= rate * m.of[i] / (sqrtf(v.of[i]) * second + rule.epsilon) + decay * p.of[i];
  }
  store(mean, m);
  store(square, v);
  return p;
}

}  // namespace adam

// G: float for the head, Bf16 for matrices. count: a multiple of four.
template <class G>
__global__ void adam_all(const gpt::Schedule* schedule, gpt::AdamRule rule, const G* gradient,
                         long long count, float* mean, float* square, float* parameter,
                         Bf16* copy) {
  const long long k = 4 * thread_of_grid();
  if (k >= count) return;
  const float rate = rule.of_matrix ? schedule->matrix : schedule->head;
  const float decay = rule.of_matrix ? schedule->matrix_decay : schedule->head_decay;
  const adam::Four next = adam::step(rule, rate, decay, schedule->second, gradient + k, mean + k,
                                     square + k, parameter + k);
  adam::store(parameter + k, next);
  adam::store(copy + k, next);
}

// One warp per row of d; a row whose root mean square exceeds `greatest` is divided by it.
__global__ void adam_rows(const gpt::Schedule* schedule, gpt::AdamRule rule, const float* gradient,
                          int rows, int d, float greatest, float* mean, float* square,
                          float* parameter, Bf16* copy) {
  const long long row = thread_of_grid() / 32 * d;
  if (row >= static_cast<long long>(rows) * d) return;
  const int begin = 4 * static_cast<int>(threadIdx.x % 32);
  float squares = 0;
  for (int j = begin; j < d; j += 128) {
    const long long k = row + j;
    const adam::Four next = adam::step(rule, schedule->embedding, 0.f, schedule->second,
                                       gradient + k, mean + k, square + k, parameter + k);
    adam::store(parameter + k, next);
#pragma unroll
    for (int i = 0; i < 4; ++i) squares += next.of[i] * next.of[i];
  }
  const float size = sqrtf(warp_sum(squares) / static_cast<float>(d));
  const float shrink = size > greatest ? 1 / size : 1.f;
  for (int j = begin; j < d; j += 128) {
    adam::Four next = adam::load(parameter + row + j);
#pragma unroll
    for (int i = 0; i < 4; ++i) next.of[i] *= shrink;
    adam::store(parameter + row + j, next);
    adam::store(copy + row + j, next);
  }
}
