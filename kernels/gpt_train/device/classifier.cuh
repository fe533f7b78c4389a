// SPDX-License-Identifier: Apache-2.0
// The classifier: a row of logits becomes its loss and, in place, the gradient of the objective.
// Profiled on an H200 at [2048, 50432] it took 547 us, the least of five, with 256 threads per
// block and correctly rounded divisions: reading and writing takes 98, six special functions per
// logit 165. With 512 threads and fast divisions two hundred were expected; it takes 238.
#pragma once

#include "gpt_train/device/numbers.cuh"

namespace classifier {

// cap tanh(z / cap), by one exponential. A correctly rounded division takes a dozen instructions
// and makes no difference in bf16.
__device__ inline float capped(float z, float cap) {
  return cap * (1 - __fdividef(2.f, 1 + __expf(2 / cap * z)));
}

}  // namespace classifier

// One block per row of z, which is row `first` + block of the batch; dynamic shared memory holds
// the row. No capped logit exceeds the cap, so that exp(zc - cap) needs no maximum.
__global__ void __launch_bounds__(gpt::classifier_threads)
    classify(gpt::Inputs in, int first, int vocabulary, float cap, int back, Bf16* z,
             float* losses) {
  extern __shared__ uint4 row[];
  const int at = first + static_cast<int>(blockIdx.x), packets = vocabulary / 8;
  uint4* const own = reinterpret_cast<uint4*>(z + static_cast<long long>(blockIdx.x) * vocabulary);
  float sum = 0;
  for (int k = static_cast<int>(threadIdx.x); k < packets; k += gpt::classifier_threads) {
    row[k] = own[k];
    const Eight of = opened(row[k]);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += __expf(classifier::capped(of.of[i], cap) - cap);
  }
  sum = block_sum<gpt::classifier_threads>(sum);
  const bool last = at % in.columns + 1 == in.columns;
  const int target = last ? in.padding : in.tokens[at + 1];
  const bool counts = target != in.padding && in.documents[at + 1] == in.documents[at];
  if (threadIdx.x == 0) {
    const float hit = counts ? opened(row[target / 8]).of[target % 8] : 0;
    losses[at] = counts ? cap + logf(sum) - classifier::capped(hit, cap) : 0;
  }
  if (!back) return;
  const float scale = counts ? in.schedule->inverse_root : 0;
  const float by_sum = 1 / sum, by_cap = 1 / cap;
  for (int k = static_cast<int>(threadIdx.x); k < packets; k += gpt::classifier_threads) {
    Eight of = opened(row[k]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float zc = classifier::capped(of.of[i], cap);
      const float share = __expf(zc - cap) * by_sum - (8 * k + i == target ? 1.f : 0.f);
      of.of[i] = share * scale * (1 - zc * by_cap * (zc * by_cap));
    }
    own[k] = packed(of);
  }
}
