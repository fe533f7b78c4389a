// SPDX-License-Identifier: Apache-2.0
#include "gate/base/git.hpp"

#include <gtest/gtest.h>

namespace holdfast::gate {
namespace {

TEST(ReasonOfGit, IsTheLineThatEndedItWithoutTheAdviceBehindIt) {
  EXPECT_EQ(reason_of("fatal: detected dubious ownership in repository at '/r'\n"
                      "To add an exception for this directory, call:\n\n"
                      "\tgit config --global --add safe.directory /r\n"),
            "fatal: detected dubious ownership in repository at '/r'");
}

TEST(ReasonOfGit, HasTheWordsOfAProgramThatGitAsked) {
  EXPECT_EQ(reason_of("ssh: connect to host h port 22: Connection refused\r\n"
                      "fatal: Could not read from remote repository.\n\n"
                      "Please make sure you have the correct access rights\n"),
            "ssh: connect to host h port 22: Connection refused | "
            "fatal: Could not read from remote repository.");
}

TEST(ReasonOfGit, IsTheEndWhereNothingIsFatalWithoutATab) {
  EXPECT_EQ(reason_of("To /r\n!\trefs/heads/a\t[remote rejected] (hook declined)\nDone\n"),
            "! refs/heads/a [remote rejected] (hook declined) | Done");
}

}  // namespace
}  // namespace holdfast::gate
