// SPDX-License-Identifier: Apache-2.0
// One optimiser's update. Tensors of one rule are contiguous, so that each rule is one launch; the
// last write is the copy that the model reads.
//
// Against the plain formulation (a kernel for each operation on each tensor): 30 bytes a parameter
// of traffic instead of 86, and launches that do not grow with layers.
#include "gpt_train/device/adam.cuh"
#include "gpt_train/device/orthogonal.cuh"

// Lion over [count] numbers: moves each by the sign of its new moment.
__global__ void lion(const gpt::Schedule* schedule, gpt::LionRule rule, const float* gradient,
                     int count, float* moment, float* parameter, Bf16* copy) {
  const int k = static_cast<int>(thread_of_grid());
  if (k >= count) return;
  const float g = gradient[k], m = moment[k], c = (1 - rule.beta) * g + rule.beta * m;
  const float sign = static_cast<float>(c > 0) - static_cast<float>(c < 0);
  const float next = parameter[k] - schedule->norm * (sign + rule.decay * parameter[k]);
  parameter[k] = next;
  copy[k] = narrowed(next);
  moment[k] = rule.beta * m + (1 - rule.beta) * g;
}
