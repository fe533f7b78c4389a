// SPDX-License-Identifier: Apache-2.0
#include "gate/base/options.hpp"

#include <gmock/gmock.h>

#include "gate/base/error.hpp"

namespace holdfast::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const Command check = {.name = "check",
                       .summary = "judges",
                       .operands = "DIR",
                       .fewest_operands = 1,
                       .most_operands = 1,
                       .options = {{"only", "SUITE", "that suite alone"},
                                   {"quiet", "", "prints less"},
                                   {"expect", "SUITE:DEVICE", "must be there", true},
                                   {"units", "N", "how many"}},
                       .examples = "  holdfast check results\n"};

TEST(Options, AValueFollowsAnEqualsSignOrASpace) {
  EXPECT_EQ(check.parse({"results", "--only=a"}).value("only"), "a");
  EXPECT_EQ(check.parse({"--only", "a", "results"}).value("only"), "a");
}

TEST(Options, ARepeatedOptionKeepsAllItsValues) {
  EXPECT_THAT(check.parse({"d", "--expect=a:host", "--expect", "b:cuda"}).values("expect"),
              ElementsAre("a:host", "b:cuda"));
}

TEST(Options, AnOptionGivenTwiceIsAnErrorUnlessItRepeats) {
  EXPECT_THAT(
      [] {
        (void)check.parse({"d", "--only=a", "--only=b"});
      },
      ThrowsMessage<Error>(HasSubstr("--only is given twice")));
}

TEST(Options, AnUnknownOptionNamesTheNearestOne) {
  EXPECT_THAT(
      [] {
        (void)check.parse({"d", "--onyl=a"});
      },
      ThrowsMessage<Error>("holdfast check has no option --onyl; did you mean --only?"));
}

TEST(Options, AnEmptyValueIsAnErrorAndNotAnOptionLeftOut) {
  EXPECT_THAT(
      [] {
        (void)check.parse({"d", "--only="});
      },
      ThrowsMessage<Error>("--only is empty; give SUITE, or leave it out"));
}

const Command store = {.name = "store",
                       .summary = "keeps",
                       .operands = "keep DIR | show",
                       .fewest_operands = 1,
                       .most_operands = 2,
                       .options = {OptionRow{"why", "TEXT", "the reason"}.of("keep, drop"),
                                   OptionRow{"unit", "SECONDS", "of samples"}.beside("confirm"),
                                   {"confirm", "BUILD"}}};

TEST(Options, AnOptionOfAnotherVerbIsAnErrorAndNotIgnored) {
  EXPECT_EQ(store.parse({"drop", "--why=x"}).value("why"), "x");
  EXPECT_THAT(
      [] {
        (void)store.parse({"show", "--why=x"});
      },
      ThrowsMessage<Error>("holdfast store show has no option --why, which is for keep, "
                           "drop; leave it out"));
  EXPECT_THAT(store.usage(), HasSubstr("keep, drop: the reason"));
}

TEST(Options, AnOptionThatSaysNothingByItselfIsAnErrorAndNotIgnored) {
  EXPECT_EQ(store.parse({"keep", "--unit=1", "--confirm=b"}).value("unit"), "1");
  EXPECT_THAT(
      [] {
        (void)store.parse({"keep", "--unit=1"});
      },
      ThrowsMessage<Error>("--unit has no effect without --confirm; give both, or leave it "
                           "out"));
  EXPECT_THAT(store.usage(), HasSubstr("with --confirm: of samples"));
}

TEST(Options, AMissingOperandIsNamed) {
  EXPECT_THAT([] { (void)check.parse({"--quiet"}); },
              ThrowsMessage<Error>("holdfast check needs DIR; see holdfast check --help"));
}

TEST(Options, AnOperandTooManyIsNamed) {
  EXPECT_THAT([] { (void)check.parse({"a", "b"}); }, ThrowsMessage<Error>(HasSubstr("'b'")));
}

TEST(Options, AnOperandIsNotEmpty) {
  EXPECT_THAT([] { (void)check.parse({""}); },
              ThrowsMessage<Error>("holdfast check: '' is empty; give DIR"));
}

TEST(Options, AWordThatHasNothingOfAnotherIsNotTakenForIt) {
  for (const char* word : {"", "x", "-x", "\xff\xfe"})
    EXPECT_EQ(nearest(word, {"ab", "run"}), std::nullopt) << word;
  EXPECT_EQ(nearest("an", {"ab", "run"}), "ab");
}

TEST(Options, ASwitchTakesNoValue) {
  EXPECT_THAT(
      [] {
        (void)check.parse({"d", "--quiet=yes"});
      },
      ThrowsMessage<Error>("--quiet is a switch and takes no value"));
}

TEST(Options, AValueThatIsMissingIsAskedFor) {
  EXPECT_THAT(
      [] {
        (void)check.parse({"d", "--only"});
      },
      ThrowsMessage<Error>("--only needs a value: --only=SUITE"));
}

TEST(Options, AWholeNumberIsReadAndNothingElse) {
  EXPECT_EQ(check.parse({"d", "--units=12"}).integer("units"), 12);
  EXPECT_THROW((void)check.parse({"d", "--units=12x"}).integer("units"), Error);
  EXPECT_THROW((void)check.parse({"d", "--units=-1"}).integer("units"), Error);
}

TEST(Options, AfterTwoDashesEverythingIsAnOperand) {
  EXPECT_THAT(check.parse({"--", "--only"}).operands(), ElementsAre("--only"));
}

TEST(Options, EveryCommandCanBeQuietAndHasAColor) {
  const Command bare{.name = "bare", .summary = "does nothing", .operands = ""};
  EXPECT_TRUE(bare.parse({"--quiet", "--color=never"}).has("quiet"));
  EXPECT_THAT(bare.usage(), testing::AllOf(HasSubstr("  --quiet"), HasSubstr("  --color=WHEN")));
}

TEST(Options, ACommandsOwnWordsGoBeforeThoseOfEveryCommand) {
  EXPECT_THAT(check.usage(), HasSubstr("prints less"));
  EXPECT_THAT(check.usage(), testing::Not(HasSubstr("no progress")));
}

TEST(Options, TheUsageShowsOptionsAndExamples) {
  EXPECT_THAT(check.usage(), HasSubstr("--only=SUITE"));
  EXPECT_THAT(check.usage(), HasSubstr("holdfast check results"));
}

}  // namespace
}  // namespace holdfast::gate
