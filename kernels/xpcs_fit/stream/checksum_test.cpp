// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/checksum.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::xpcs_fit {
namespace {

// The check value of the polynomial, and two of RFC 3720, B.4.
TEST(Checksum, IsCastagnolis) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Checksum, ChangesWithAnyBit) {
  const std::string whole(100, 'x');
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string spoilt = whole;
    spoilt[place] ^= 0x10;
    EXPECT_NE(crc32c(spoilt), crc32c(whole)) << place;
  }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
