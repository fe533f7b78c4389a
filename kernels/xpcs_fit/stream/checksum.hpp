// SPDX-License-Identifier: Apache-2.0
// CRC-32C, which detects changed bytes of a file.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::xpcs_fit {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace holdfast::xpcs_fit
