// SPDX-License-Identifier: Apache-2.0
#include "gate/base/shown_text.hpp"

#include <gtest/gtest.h>

namespace holdfast::gate {
namespace {

TEST(ShownText, TellsControlCharactersByTheirNames) {
  EXPECT_EQ(shown_text("a\nb\r\tc\x1b[31m\x7f"), "a\\nb\\r\\tc\\x1b[31m\\x7f");
}

TEST(ShownText, TellsWhatNoReaderShowsOrTurnsWhatFollows) {
  EXPECT_EQ(shown_text("x\u202ey\u0085z\u200b\ufeff\u2028\uffff"),
            "x\\u202ey\\u0085z\\u200b\\ufeff\\u2028\\uffff");
}

TEST(ShownText, BreaksTheCommandsOfALog) {
  EXPECT_EQ(shown_text("##[error]no"), "##\\[error]no");
}

TEST(ShownText, LeavesOtherTextAsItIs) {
  const std::string words = "\u00b5s, 3 \u2264 4 \U0001F600: stage<double, 'a'> \"#[1]\" \\";
  EXPECT_EQ(shown_text(words), words);
}

TEST(ShownText, TellsBytesThatAreNoLetterByTheirNumbers) {
  EXPECT_EQ(shown_text("a\xff\xc3(\xe2\x80"), "a\\xff\\xc3(\\xe2\\x80");
  EXPECT_EQ(shown_text("\xed\xa0\x80 \xc0\xaf \xf5\x80"), "\\xed\\xa0\\x80 \\xc0\\xaf \\xf5\\x80");
}

TEST(ShownText, TellsTagsThatNobodySees) {
  EXPECT_EQ(shown_text("a\U000E0061"), "a\\ue0061");
}

TEST(Beginning, IsCutBetweenLetters) {
  EXPECT_EQ(beginning("ab\u2264c", 5), "ab\u2264");
  EXPECT_EQ(beginning("ab\u2264c", 4), "ab");
  EXPECT_EQ(beginning("ab", 4), "ab");
}

TEST(ShellWord, IsQuotedWhereItHasToBe) {
  EXPECT_EQ(shell_word("build/release/results-1"), "build/release/results-1");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace holdfast::gate
