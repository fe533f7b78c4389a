// SPDX-License-Identifier: Apache-2.0
#include "base/content.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/files.hpp"

namespace holdfast {
namespace {

std::optional<Provenance> read(const std::string& json) {
  const NewFolder folder(testing::TempDir() + "content.");
  const std::filesystem::path file = content_file(folder.path());
  std::ofstream(file) << json;
  return read_content(file);
}

TEST(Content, IsWhatTheBuildWrites) {
  const auto known =
      read("{\"content\": \"sha256:c0\", \"git\": {\"dirty\": true, \"sha\": \"0123\"}}\n");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->content, "sha256:c0");
  EXPECT_EQ(known->git_sha, "0123");
  EXPECT_TRUE(known->dirty);
}

TEST(Content, MayHaveGitsKeysInEitherOrder) {
  const auto known = read(R"({"content": "sha256:c0", "git": {"sha": "0123", "dirty": false}})");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->git_sha, "0123");
  EXPECT_FALSE(known->dirty);
}

TEST(Content, WithoutACommitHasNoSha) {
  for (const char* none : {"\"\"", "null"}) {
    const auto known = read(
        std::string(R"({"content": "sha256:c0", "git": {"dirty": true, "sha": )") + none + "}}");
    ASSERT_TRUE(known) << none;
    EXPECT_EQ(known->git_sha, std::nullopt);
  }
}

TEST(Content, IsNothingElse) {
  for (const char* json :
       {"", "{}", "{\"content\": \"sha256:c0\"", R"({"content": "sha256:c0"})",
        R"({"content": 1, "git": {"dirty": true, "sha": ""}})",
        R"({"content": "sha256:c0", "git": {"dirty": "true", "sha": ""}})",
        R"({"content": "sha256:c0", "git": {"dirty": true, "sha": ""}, "more": 1})",
        R"(1{"content": "sha256:c0", "git": {"dirty": true, "sha": ""}})",
        R"({"content": "sha256:c0", "git": {"dirty": true, "sha": ""}}})"})
    EXPECT_EQ(read(json), std::nullopt) << json;
}

TEST(Content, OfAMebibyteTakesNoStack) {
  EXPECT_EQ(read("{\"content\": \"" + std::string(1 << 20, 'a') + "\""), std::nullopt);
}

TEST(Content, OfAFileThatIsNotThereIsNone) {
  EXPECT_EQ(read_content("/nowhere/content.json"), std::nullopt);
}

TEST(Content, OfAFifoIsNoneAndNotWaitedFor) {
  const NewFolder folder(testing::TempDir() + "content.");
  const std::filesystem::path fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_content(fifo), std::nullopt);
}

TEST(BinaryFolder, HoldsThisTest) {
  EXPECT_TRUE(std::filesystem::exists(binary_folder()));
}

}  // namespace
}  // namespace holdfast
