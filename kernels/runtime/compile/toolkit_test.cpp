// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/toolkit.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast {
namespace {

TEST(Toolkit, CompilersTellTheirPatchLevel) {
  const auto versions = toolkit_versions();
  for (const auto& version : {versions.nvrtc, versions.nvjitlink}) {
    EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2) << version;
    EXPECT_EQ(version.find_first_not_of("0123456789."), std::string::npos) << version;
  }
}

TEST(Toolkit, NvrtcIsOfTheRuntimesRelease) {
  const auto versions = toolkit_versions();
  EXPECT_TRUE(versions.nvrtc.starts_with(versions.cuda)) << versions.nvrtc << versions.cuda;
}

}  // namespace
}  // namespace holdfast
