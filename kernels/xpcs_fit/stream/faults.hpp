// SPDX-License-Identifier: Apache-2.0
// Planted faults: which attempts of which batches fail, by a reproducible generator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/device_code/random.hpp"

namespace holdfast::xpcs_fit {

struct FaultPlan {
  double probability = 0;  // per attempt
  std::uint32_t key = 7;
  std::vector<int> permanent = {};  // batches whose attempts all fail

  bool strikes(int batch, int pass, int attempt) const {
    if (std::find(permanent.begin(), permanent.end(), batch) != permanent.end()) return true;
    return draw(batch, pass, attempt) < probability * 4294967296.;
  }
  std::uint32_t draw(int batch, int pass, int attempt) const {
    const auto word = [](int number) { return static_cast<unsigned int>(number); };
    return philox4x32_10({{word(batch), word(pass), word(attempt), 0xFA17}}, key, 0).word[0];
  }
};

}  // namespace holdfast::xpcs_fit
