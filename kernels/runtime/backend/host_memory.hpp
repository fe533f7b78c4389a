// SPDX-License-Identifier: Apache-2.0
// Memory of the host, and where in its pages an array lies.
#pragma once

#include <cstddef>

namespace holdfast {

// On 64 bytes; null where there is no more. Large arrays lie in pages of their own, by how many
// were placed before: `large_arrays` counts them.
void* take_host_memory(std::size_t bytes, std::size_t& large_arrays);
void give_back_host_memory(void* memory, std::size_t bytes) noexcept;

}  // namespace holdfast
