// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/words.hpp"

#include <gmock/gmock.h>

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

enum class Colour { red, dark_green, blue };
constexpr Words<Colour, 3> colours = {"colour", {"red", "dark_green", "blue"}};

TEST(Words, EveryWordLeadsBackToItsValue) {
  for (const Colour value : {Colour::red, Colour::dark_green, Colour::blue})
    EXPECT_EQ(colours.read(colours.of(value)), value);
}

TEST(Words, AWordHasThePlaceOfItsEnumerator) {
  EXPECT_EQ(colours.of(Colour::dark_green), "dark_green");
  EXPECT_EQ(colours.read("blue"), Colour::blue);
}

TEST(Words, AnUnknownWordIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(
      [] { colours.read("grey"); },
      ThrowsMessage<Error>(HasSubstr("unknown colour 'grey'; use one of red, dark_green, blue")));
}

TEST(Words, NeitherAnotherSpellingNorAPartIsAWord) {
  EXPECT_THAT([] { colours.read("Red"); }, ThrowsMessage<Error>(HasSubstr("unknown colour 'Red'")));
  EXPECT_THAT([] { colours.read("dark"); },
              ThrowsMessage<Error>(HasSubstr("unknown colour 'dark'")));
  EXPECT_THAT([] { colours.read(""); }, ThrowsMessage<Error>(HasSubstr("unknown colour ''")));
}

}  // namespace
}  // namespace holdfast
