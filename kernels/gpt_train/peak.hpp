// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the bytes that a computation holds, by formula and by part.
#pragma once

#include <cstdint>

#include "computation.hpp"
#include "gpt_train/problem/problem.hpp"

namespace holdfast::gpt_train {

struct PeakParts {
  std::int64_t tensors = 0;      // parameters, copies of them, gradients
  std::int64_t moments = 0;      // of the optimiser
  std::int64_t activations = 0;  // with their gradients, scratch, Newton-Schulz
  std::int64_t logits = 0;
  std::int64_t others = 0;  // the batch, losses, angles, a library's work area

  std::int64_t all() const { return tensors + moments + activations + logits + others; }
};

PeakParts peak_parts(Variant variant, const Problem& problem);

// The parts on a device: for the optimized variant, for the reference.
PeakParts device_peak_parts(const Problem& problem);
PeakParts plain_device_peak_parts(const Problem& problem);

}  // namespace holdfast::gpt_train
