// SPDX-License-Identifier: Apache-2.0
// Host memory, and the placement of arrays within its pages.
#pragma once

#include <cstddef>

namespace holdfast {

// 64-byte aligned; null if memory is exhausted. Large arrays get their own pages, at an offset that
// depends on `large_arrays`, which counts them.
void* take_host_memory(std::size_t bytes, std::size_t& large_arrays);
void give_back_host_memory(void* memory, std::size_t bytes) noexcept;

}  // namespace holdfast
