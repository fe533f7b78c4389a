// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source_text.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "base/testing/variable.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

struct SourceText : testing::Test {
  SourceText() { fs::create_directories(folder / "waves"); }
  void write(const std::string& file, std::string_view contents) const {
    std::ofstream(folder / file) << contents;
  }
  const NewFolder own_folder{testing::TempDir() + "holdfast_sources_"};
  const fs::path& folder = own_folder.path();
  const Variable sources{"HOLDFAST_SOURCES", folder};
};

TEST_F(SourceText, AFileUnderItsWorkloadWins) {
  write("waves/a.cu", "own");
  write("a.cu", "shared");
  EXPECT_EQ(source_text("waves/a.cu", "embedded"), "own");
}

TEST_F(SourceText, AFileWhereItLiesInItsWorkloadIsTakenFirst) {
  fs::create_directories(folder / "waves/device");
  write("waves/device/a.cu", "in its folder");
  write("waves/a.cu", "in its workload");
  EXPECT_EQ(source_text("waves/device/a.cu", "embedded"), "in its folder");
  EXPECT_EQ(source_text("waves/host/a.cu", "embedded"), "in its workload");
}

TEST_F(SourceText, AFileInTheFolderItselfIsFoundByItsLastName) {
  write("a.cu", "shared");
  EXPECT_EQ(source_text("waves/a.cu", "embedded"), "shared");
}

TEST_F(SourceText, WhatIsNotThereStaysAsItWasBuilt) {
  EXPECT_EQ(source_text("waves/a.cu", "embedded"), "embedded");
}

TEST_F(SourceText, AFolderOfWhichNothingIsTakenIsToldInTheEnd) {
  const auto told = [] {
    testing::internal::CaptureStderr();
    warn_of_unused_sources();
    return testing::internal::GetCapturedStderr();
  };
  const fs::path another = folder / "waves";
  const Variable elsewhere("HOLDFAST_SOURCES", another);
  EXPECT_EQ(told(), "");  // nothing was compiled
  (void)source_text("waves/device/a.cu", "embedded");
  EXPECT_EQ(told(),
            "holdfast: warn: HOLDFAST_SOURCES is '" + another.string() +
                "', which holds nothing of what was compiled (1 file, the last "
                "waves/device/a.cu): the built-in device code was; name another folder, or unset "
                "it\n");
  write("waves/b.cu", "own");
  (void)source_text("waves/b.cu", "embedded");
  EXPECT_EQ(told(), "");
}

TEST_F(SourceText, TheFolderMustExist) {
  const Variable absent("HOLDFAST_SOURCES", folder / "absent");
  EXPECT_THAT(refusal_of([] { return source_text("waves/a.cu", "embedded"); }),
              testing::HasSubstr("which is no folder"));
}

TEST_F(SourceText, OverridingMarksTheRun) {
  EXPECT_TRUE(sources_overridden());
  const Variable none("HOLDFAST_SOURCES");
  EXPECT_FALSE(sources_overridden());
}

}  // namespace
}  // namespace holdfast
