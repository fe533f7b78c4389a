// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

// FIPS 180-2, appendix B.1, and the hash of nothing.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_digits("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
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

}  // namespace
}  // namespace holdfast
