// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

// FIPS 180-2, appendix B, whose second message fills more than a block, and the hash of the empty
// message.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_digits("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_digits("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_digits(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_digits(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfADocumentSaysItsKind) {
  EXPECT_EQ(sha256("abc"), "sha256:" + sha256_digits("abc"));
}

TEST(Sha256, OfPiecesIsThatOfTheWhole) {
  Sha256 hash;
  hash.add("a");
  hash.add("");
  hash.add("bc");
  EXPECT_EQ(hash.digits(), sha256_digits("abc"));
}

// A block is 64 bytes; padding and length take at least nine.
TEST(Sha256, OfPiecesIsThatOfTheWholeAtTheEdgesOfABlock) {
  for (const std::size_t size : {55, 56, 63, 64, 65, 127, 128, 129}) {
    const std::string whole(size, 'a');
    Sha256 hash;
    hash.add(std::string_view(whole).substr(0, size / 2));
    hash.add(std::string_view(whole).substr(size / 2));
    EXPECT_EQ(hash.digits(), sha256_digits(whole)) << size;
    EXPECT_NE(sha256_digits(whole), sha256_digits(whole + 'a')) << size;
  }
}

}  // namespace
}  // namespace holdfast
