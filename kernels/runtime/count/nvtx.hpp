// SPDX-License-Identifier: Apache-2.0
// Scopes as NVTX ranges, for a profiler that started this process and put its library into
// NVTX_INJECTION64_PATH (as Nsight Systems does). Without a CUDA toolkit in the build there are
// none.
#pragma once

#include <string_view>

namespace holdfast {

extern const bool nvtx_listens;  // for the whole process

// Ranges of this thread; they nest. Call only if nvtx_listens.
void begin_nvtx_range(std::string_view name);
void end_nvtx_range() noexcept;

}  // namespace holdfast
