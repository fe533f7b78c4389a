// SPDX-License-Identifier: Apache-2.0
// For tests of what AddressSanitizer changes: how fast code is, and how much a process needs.
#pragma once

namespace holdfast {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace holdfast
