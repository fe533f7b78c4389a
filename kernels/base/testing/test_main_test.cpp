// SPDX-License-Identifier: Apache-2.0
// Tests of this very binary, which is run again for each claim.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace holdfast {
namespace {

bool is_inner() {
  return std::getenv("HOLDFAST_INNER_TEST") != nullptr;
}

TEST(Inner, SkipsForATool) {
  if (is_inner()) GTEST_SKIP() << "there is no such tool: cmake/bootstrap.sh installs it";
}
TEST(Inner, SkipsForAMachine) {
  if (is_inner()) GTEST_SKIP() << "this machine is another";
}
TEST(Inner, Passes) {}

int exit_of(const std::string& filter, const std::string& required = "") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const int status = std::system(("HOLDFAST_INNER_TEST=1 HOLDFAST_REQUIRE='" + required + "' '" +
                                  self + "' --gtest_filter='" + filter + "' > /dev/null 2>&1")
                                     .c_str());
  return WEXITSTATUS(status);
}

TEST(TestMain, WhereAllWasSkippedTheCodeSaysSo) {
  EXPECT_EQ(exit_of("Inner.Skips*"), 77);
}

TEST(TestMain, ASingleSkipBesideATestThatPassesIsNone) {
  EXPECT_EQ(exit_of("Inner.*"), 0);
}

TEST(TestMain, WhatBootstrapInstallsMayNotBeAbsentWhereItIsRequired) {
  EXPECT_EQ(exit_of("Inner.SkipsForATool", "host"), 1);
  EXPECT_EQ(exit_of("Inner.*", "host"), 1);
  EXPECT_EQ(exit_of("Inner.SkipsForAMachine", "host"), 77);
}

}  // namespace
}  // namespace holdfast
