// SPDX-License-Identifier: Apache-2.0
// The part of a result in memory that stages share, copied back from a device.
#pragma once

#include <cstdint>
#include <vector>

#include "gpt_train/stepped/shared_result.hpp"
#include "runtime/device/device.hpp"

namespace holdfast::gpt_train {

// Appends a result of n rows.
inline void tell(Device& device, const SharedResult<Bf16>& result, std::int64_t n,
                 std::vector<double>& to) {
  for (const auto& [rows, pitch, first, width] : result) {
    std::vector<Bf16> all(static_cast<std::size_t>(n * pitch));
    device.download(all.data(), rows, all.size() * sizeof(Bf16));
    for (std::int64_t row = 0; row < n; ++row)
      for (int j = first; j < first + width; ++j)
        to.push_back(double{widened(all[row * pitch + j])});
  }
}

}  // namespace holdfast::gpt_train
