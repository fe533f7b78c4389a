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

TEST(ShownText, TakesAnUnfinishedLetter) {
  for (const char* cut : {"\xe2\x80", "\xe2", "\xc2", "\xf0\x9f"})
    EXPECT_LE(shown_text(cut).size(), 8) << cut;
}

}  // namespace
}  // namespace holdfast::gate
