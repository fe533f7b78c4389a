// SPDX-License-Identifier: Apache-2.0
// Scopes as NVTX ranges, for a profiler that started this process and left its library in
// NVTX_INJECTION64_PATH (Nsight Systems does); also where the build has no CUDA toolkit, then
// never.
#pragma once

#include <string_view>

namespace holdfast {

extern const bool nvtx_listens;  // for the whole process

// Of this thread; they nest. Only to be called where nvtx_listens.
void begin_nvtx_range(std::string_view name);
void end_nvtx_range() noexcept;

}  // namespace holdfast
