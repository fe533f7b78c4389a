// SPDX-License-Identifier: Apache-2.0
// For tests of what AddressSanitizer changes: the speed of code, and a process's memory.
#pragma once

namespace holdfast {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace holdfast
