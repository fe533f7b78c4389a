// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/checksum.hpp"

#include <array>

namespace holdfast::xpcs_fit {

// Castagnoli's polynomial, reflected.
std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> all = {};
    for (std::uint32_t k = 0; k < all.size(); ++k) {
      all[k] = k;
      for (int bit = 0; bit < 8; ++bit) all[k] = all[k] >> 1 ^ (all[k] & 1 ? 0x82f63b78U : 0U);
    }
    return all;
  }();
  std::uint32_t sum = ~0U;
  for (const char byte : bytes)
    sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~sum;
}

}  // namespace holdfast::xpcs_fit
