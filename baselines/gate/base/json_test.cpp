// SPDX-License-Identifier: Apache-2.0
#include "gate/base/json.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string complaint(std::string_view content, Comments comments = Comments::forbidden) {
  return toy::complaint([&] { return Document("run.json", content, comments); });
}

class Json : public testing::Test {
 protected:
  const TemporaryFolder own_folder_{"json-test"};
  const std::filesystem::path& folder_ = own_folder_.path();
};

TEST(JsonReading, AValueKnowsTheLineItStandsOn) {
  const Document document("run.json", "{\n \"a\": 1\n,\n \"b\":\n  [true,\n \"x\"]}");
  Object object = document.root().object();
  EXPECT_EQ(object.take("a").line(), 2u);
  const auto items = object.take("b").items();
  EXPECT_EQ(items[0].line(), 5u);
  EXPECT_EQ(items[1].line(), 6u);
}

TEST(JsonReading, AFileCutShortIsNamedAsSuch) {
  EXPECT_THAT(complaint("{\"a\": [1,\n 2"), StartsWith("run.json:2: the file is cut short"));
}

TEST(JsonReading, AFileCutInsideAStringOrAWordIsCutShort) {
  EXPECT_THAT(complaint("{\"a\": \"b"), HasSubstr("cut short"));
  EXPECT_THAT(complaint("[tru"), HasSubstr("cut short"));
}

TEST(JsonReading, AnEmptyFileIsCutShort) {
  EXPECT_THAT(complaint(""), HasSubstr("cut short"));
}

TEST(JsonReading, AKeyThatStandsTwiceIsAnErrorWithItsLine) {
  EXPECT_EQ(complaint("{\"a\": 1,\n\"a\": 2}"),
            "run.json:2: the key 'a' stands twice in one object");
}

TEST(JsonReading, NanIsNotANumber) {
  EXPECT_THAT(complaint("{\"a\": 1,\n\n \"b\": NaN}"), StartsWith("run.json:3: not JSON: "));
}

TEST(JsonReading, InfinityIsNotANumber) {
  EXPECT_THAT(complaint("[-Infinity]"), StartsWith("run.json:1: not JSON: "));
}

TEST(JsonReading, AnOverflowingNumberIsAnError) {
  EXPECT_THAT(complaint("[\n1e999\n]"), StartsWith("run.json:2: the number 1e999 is too large"));
}

TEST(JsonReading, TextAfterTheEndIsAnError) {
  EXPECT_THAT(complaint("{}\n{}"), StartsWith("run.json:2: not JSON: "));
}

TEST(JsonReading, AConflictThatAMergeLeftIsTold) {
  for (const char* before : {"", "{", "{\"a\": 1,", "{\"a\": 1", "[1,"})
    EXPECT_EQ(complaint(std::string(before) + "\n<<<<<<< HEAD\n\"b\": 2}"),
              "run.json:2: a merge left its conflict here; keep one side of it")
        << before;
}

TEST(JsonReading, ANulByteCannotHideWhatFollows) {
  EXPECT_THAT(complaint(std::string_view("{}\n\0{}", 6)), StartsWith("run.json:2: a NUL byte"));
}

TEST(JsonReading, TextThatIsNotUtf8IsAnError) {
  EXPECT_THAT(complaint("[\"\xff\"]"), HasSubstr("ill-formed UTF-8"));
}

TEST(JsonReading, AbsurdDepthIsAnError) {
  EXPECT_THAT(complaint(std::string(1000, '[')), HasSubstr("nested deeper than 64"));
}

TEST(JsonReading, CommentsAreReadOnlyWhereTheyAreAllowed) {
  EXPECT_EQ(complaint("// why\n{} // so", Comments::allowed), "accepted");
  EXPECT_THAT(complaint("// why\n{}"), StartsWith("run.json:1: not JSON: "));
}

TEST(JsonReading, AnUnreadKeyIsUnknown) {
  const Document document("run.json", "{\"a\": 1,\n\"b\": 2}");
  Object object = document.root().object();
  (void)object.take("a");
  EXPECT_THAT([&] { object.close(); },
              testing::ThrowsMessage<Error>("run.json:2: unknown key 'b'"));
}

TEST(JsonReading, AMissingKeyIsNamed) {
  const Document document("run.json", "\n{}");
  Object object = document.root().object();
  EXPECT_THAT(
      [&] { (void)object.take("a"); },
      testing::ThrowsMessage<Error>("run.json:2: the key 'a' is missing from the document"));
}

TEST(JsonReading, AWrongTypeIsNamedWithItsKey) {
  const Document document("run.json", "{\"a\": \"1\"}");
  Object object = document.root().object();
  EXPECT_THAT([&] { (void)object.take("a").number(); },
              testing::ThrowsMessage<Error>("run.json:1: 'a' must be a number and is a string"));
}

TEST(JsonReading, AnotherSchemaVersionIsAnError) {
  const Document document("run.json", "{\"schema\": \"holdfast-results/2\"}");
  EXPECT_THAT(
      [&] { (void)open_schema(document, "holdfast-results/1"); },
      testing::ThrowsMessage<Error>(StartsWith("run.json:1: the schema is 'holdfast-results/2', "
                                               "and this holdfast reads 'holdfast-results/1'")));
}

TEST(JsonWriting, DoublesReadBackTheSame) {
  for (const double value : {0.1, 1.0 / 3, 6.02e23, 5e-324, 4.0, -0.000615}) {
    const Document document("x", canonical({{"a", value}}));
    EXPECT_EQ(document.root().object().take("a").number(), value);
  }
}

TEST(JsonWriting, KeysAreSortedAndALineEndsTheFile) {
  EXPECT_EQ(canonical({{"b", 1}, {"a", {0.1, 2}}}), "{\"a\": [0.1, 2], \"b\": 1}\n");
}

TEST(JsonWriting, WhatIsTooWideForALineIsIndented) {
  const std::string wide(60, 'x');
  EXPECT_EQ(canonical({{"a", wide}, {"b", wide}}),
            "{\n  \"a\": \"" + wide + "\",\n  \"b\": \"" + wide + "\"\n}\n");
}

TEST(JsonWriting, NanIsRefused) {
  EXPECT_THROW(canonical({{"a", std::numeric_limits<double>::quiet_NaN()}}), Error);
}

TEST_F(Json, AWrittenFileReplacesTheOldOneAndLeavesNothingBeside) {
  write_file(folder_ / "a.json", "old");
  write_file(folder_ / "a.json", "new");
  EXPECT_EQ(read_file(folder_ / "a.json"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Json, AFailedWriteLeavesNothingBeside) {
  // The target is a folder, so the last step, the renaming, fails.
  std::filesystem::create_directories(folder_ / "a.json" / "inside");
  EXPECT_THROW(write_file(folder_ / "a.json", "new"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Json, AnAbsentFileIsNamed) {
  EXPECT_THAT([&] { (void)read_file(folder_ / "absent.json"); },
              testing::ThrowsMessage<Error>(HasSubstr("absent.json: No such file or directory")));
}

// Nobody could read it before either: /proc/self/mem has no byte at its beginning.
TEST(JsonReading, AFileThatCannotBeReadIsNotCalledCutShort) {
  EXPECT_THAT(
      [] { (void)read_file("/proc/self/mem"); },
      testing::ThrowsMessage<Error>(HasSubstr("cannot read /proc/self/mem: Input/output error")));
}

TEST(Sha256, IsTheKnownDigest) {
  EXPECT_EQ(sha256("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ExitCodes, AreOrderedByWhatTheyHide) {
  EXPECT_EQ(worse_exit_code(1, 2), 2);
  EXPECT_EQ(worse_exit_code(0, 5), 2) << "a code that no command has";
  EXPECT_EQ(worse_exit_code(1, 3), 3);
  EXPECT_EQ(worse_exit_code(4, 1), 1);
  EXPECT_EQ(worse_exit_code(77, 4), 4);
  EXPECT_EQ(worse_exit_code(0, 77), 77);
}

TEST(JsonReading, ATextWithANulInItIsAnErrorBecauseSentencesWouldEndThere) {
  for (const char* text : {R"({"a": "b\u0000c"})", R"({"a\u0000b": 1})"})
    EXPECT_THAT([&] { Document("x.json", text); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("x.json:1: a text with a NUL")));
}

TEST(Folders, OneThatCannotBeReadIsASentence) {
  const TemporaryFolder folder("folders-test");
  write_file(folder.path() / "file", "");
  EXPECT_THAT(folder_entries(folder.path()), testing::ElementsAre(folder.path() / "file"));
  EXPECT_THAT([&] { (void)folder_entries(folder.path() / "file"); },
              testing::ThrowsMessage<Error>(testing::StartsWith("cannot read the folder ")));
}

TEST(JsonWriting, ANegativeZeroIsWrittenAsTheZeroThatItIsReadAs) {
  EXPECT_EQ(canonical_line(-0.0), "0");
}

}  // namespace
}  // namespace holdfast::gate
