// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/program_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/testing/variable.hpp"
#include "base/text.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

// Each test has its own folder, in an environment outside CI.
class ProgramCache : public testing::Test {
 protected:
  ProgramCache() { forget_cached_programs(); }
  ~ProgramCache() override { forget_cached_programs(); }

  static void keep(const std::string& key, int registers) {
    Artifact artifact{.ptx = "ptx", .cubin = "cubin"};
    artifact.entries.push_back({.name = "kernel", .registers = registers});
    cache_program(key, std::make_shared<const Artifact>(artifact));
    forget_cached_programs();
  }
  static std::string read(const fs::path& path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
  // An entry with a chosen body, and a matching hash.
  void plant(const std::string& key, const std::string& body) const {
    const std::string front = text("0\n", key.size(), "\n", key);
    std::ofstream(folder / key) << sha256_digits(front + sha256_digits(front + body)) << '\n'
                                << body;
  }

  const NewFolder own_folder{testing::TempDir() + "holdfast_program_cache_"};
  const fs::path folder = own_folder.path() / "programs";  // which the cache makes

 private:
  const Variable cache_{"HOLDFAST_CACHE_DIR", folder}, secret_{"HOLDFAST_CACHE_SECRET"}, ci_{"CI"},
      run_{"GITHUB_RUN_ID"};
};

TEST_F(ProgramCache, GivesBackWhatWasKept) {
  keep("a", 32);
  const auto found = cached_program("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin, "cubin");
  ASSERT_EQ(found->entries.size(), 1);
  EXPECT_EQ(found->entries[0].registers, 32);
}

TEST_F(ProgramCache, GivesBackEachResourceOfEachKernel) {
  const std::vector<Artifact::Entry> kernels = {
      {.name = "first", .registers = 1, .spill_bytes = 2, .shared_bytes = 3, .local_bytes = 4},
      {.name = "second", .registers = 5, .spill_bytes = 6, .shared_bytes = 7, .local_bytes = 8}};
  cache_program("a", std::make_shared<const Artifact>(
                         Artifact{.ptx = "ptx", .cubin = "cubin", .entries = kernels}));
  forget_cached_programs();
  const auto found = cached_program("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ptx, "ptx");
  EXPECT_EQ(found->entries, kernels);
}

TEST_F(ProgramCache, WhatWasKeptOrReadInThisProcessNeedsNoDisk) {
  cache_program("a", std::make_shared<const Artifact>());
  fs::remove(folder / "a");
  EXPECT_TRUE(cached_program("a"));
  keep("b", 32);
  EXPECT_TRUE(cached_program("b"));
  fs::remove(folder / "b");
  EXPECT_TRUE(cached_program("b"));
}

TEST_F(ProgramCache, WhatIsKeptInAnotherFolderIsKeptNowhereElse) {
  const NewFolder other(testing::TempDir() + "holdfast_program_cache_other_");
  cache_program("own", std::make_shared<const Artifact>());
  {
    const ProgramsKeptIn there(other.path());
    EXPECT_FALSE(cached_program("own"));
    cache_program("a", std::make_shared<const Artifact>());
    EXPECT_TRUE(cached_program("a"));
    fs::remove(other.path() / "a");
    EXPECT_FALSE(cached_program("a"));
    cache_program("b", std::make_shared<const Artifact>());
    EXPECT_TRUE(cached_program("b"));
  }
  EXPECT_FALSE(cached_program("b"));
  EXPECT_TRUE(cached_program("own"));
}

TEST_F(ProgramCache, TakesAnEntryThatIsWrittenAsItsOwnAre) {
  keep("a", 32);
  plant("b", "3\nptx5\ncubin");
  EXPECT_TRUE(cached_program("b"));  // else the malformed ones below would fail by their hash
}

TEST_F(ProgramCache, AnEntryOfAnotherKeyIsNoneOfThis) {
  keep("a", 32);
  keep("b", 255);
  fs::copy_file(folder / "b", folder / "a", fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cached_program("a"));
  cache_text("c", "counts");
  fs::copy_file(folder / "c", folder / "d");
  EXPECT_FALSE(cached_text("d"));
}

TEST_F(ProgramCache, AMalformedBodyIsNoEntryHoweverWellItIsVouchedFor) {
  keep("a", 32);
  for (const char* body :
       {"", "x", "3\n", "\n", "-1\n", "3\nptx", "3\nptx99\ncubin", "18446744073709551615\nptx",
        "99999999999999999999999\nptx", "3\nptx5\ncubin6\nkernel",
        "3\nptx5\ncubin6\nkernel2\nxx1\n01\n01\n0", "3\nptx5\ncubin1\nk11\n999999999991\n01\n01\n0",
        "3\nptx5\ncubin1\nk2\n-11\n01\n01\n0"}) {
    plant("b", body);
    EXPECT_FALSE(cached_program("b")) << body;
  }
}

TEST_F(ProgramCache, IsMadeForItsOwnerAlone) {
  keep("a", 32);
  struct stat is = {};
  ASSERT_EQ(::stat(folder.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777, 0700u);
}

TEST_F(ProgramCache, AFolderThatOthersCanWriteToIsRefused) {
  keep("a", 32);
  ::chmod(folder.c_str(), 0777);
  EXPECT_FALSE(cached_program("a"));
  keep("b", 32);
  EXPECT_FALSE(fs::exists(folder / "b"));
  ::chmod(folder.c_str(), 0755);
  EXPECT_TRUE(cached_program("a"));
}

// Reported once per process, so this test uses its own process.
TEST_F(ProgramCache, AFolderThatSomebodyAskedForAndThatCannotBeMadeIsTold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto kept = [&] {
    const Variable cache("HOLDFAST_CACHE_DIR", "/proc/holdfast_cache");
    keep("a", 32);
    keep("b", 32);
    fs::remove_all(own_folder.path());  // std::exit() destroys no test
    std::exit(0);
  };
  EXPECT_EXIT(
      kept(), testing::ExitedWithCode(0),
      "^holdfast: warn: compiled programs are not kept: "
      "HOLDFAST_CACHE_DIR=/proc/holdfast_cache cannot be made [^\n]*; name another folder\n$");
}

TEST_F(ProgramCache, AnotherUsersFolderIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  keep("a", 32);
  ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cached_program("a"));
}

TEST_F(ProgramCache, NeitherALinkNorAFifoIsAnEntry) {
  keep("a", 32);
  fs::rename(folder / "a", folder / "elsewhere");
  fs::create_symlink("elsewhere", folder / "a");
  EXPECT_FALSE(cached_program("a"));
  ASSERT_EQ(::mkfifo((folder / "b").c_str(), 0600), 0);
  EXPECT_FALSE(cached_program("b"));  // without waiting for a writer
}

TEST_F(ProgramCache, WithASecretOnlyThoseWhoKnowItFillIt) {
  keep("a", 32);
  const Variable secret("HOLDFAST_CACHE_SECRET", "known to few");
  EXPECT_FALSE(cached_program("a"));
  keep("a", 32);
  EXPECT_TRUE(cached_program("a"));
}

TEST_F(ProgramCache, InCiOnlyThisRunsOwnEntriesCount) {
  keep("a", 32);
  const Variable ci("CI", "true"), run("GITHUB_RUN_ID", "1");
  EXPECT_FALSE(cached_program("a"));
  keep("a", 32);
  EXPECT_TRUE(cached_program("a"));
  forget_cached_programs();
  const Variable other_run("GITHUB_RUN_ID", "2");
  EXPECT_FALSE(cached_program("a"));
}

}  // namespace
}  // namespace holdfast
