// SPDX-License-Identifier: Apache-2.0
#include "gate/base/git.hpp"

#include <gmock/gmock.h>

#include "gate/base/json.hpp"

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

// Whatever a user's git shows beside a commit, and in whatever encoding.
TEST(FactsOfACommit, AreThoseOfTheCommitWhateverTheUserConfigured) {
  const TemporaryFolder folder("git-test");
  const auto must = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = git(folder.path(), arguments);
    ASSERT_TRUE(succeeded(outcome)) << outcome.complaints;
  };
  must({"-c", "init.templateDir=", "init", "-q"});
  must({"config", "log.showSignature", "true"});
  must({"config", "i18n.logOutputEncoding", "ISO-8859-1"});
  must({"config", "gpg.format", "ssh"});
  const std::string key = (folder.path() / "sign").string();
  write_file(
      key, "#!/bin/sh\nfor file; do :; done\necho -----BEGIN SSH SIGNATURE----- > \"$file.sig\"\n");
  std::filesystem::permissions(key, std::filesystem::perms::owner_all);
  must({"-c", "user.name=t", "-c", "user.email=t@t", "-c", "user.signingKey=" + key, "-c",
        "gpg.ssh.program=" + key, "commit", "-q", "--allow-empty", "-S", "-m", "Caf\u00e9",
        "--date=2026-11-21T12:00:00Z"});
  const std::string commit = git(folder.path(), {"rev-parse", "HEAD"}).output.substr(0, 40);
  const auto facts = commit_facts(folder.path(), commit);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->author_time, "2026-11-21T12:00:00Z");
  EXPECT_EQ(facts->parent, "");
  EXPECT_EQ(facts->subject, "Caf\u00e9");
}

TEST(ReasonOfGit, IsThatItTookTooLongWhereItWasStopped) {
  const TemporaryFolder folder("git-test");
  const Outcome stopped = git(folder.path(), {"-c", "alias.wait=!exec sleep 60", "wait"}, 0.2);
  EXPECT_EQ(stopped.ending, Ending::timed_out);
  EXPECT_EQ(reason_of(stopped.complaints), "fatal: it was not done after 0.2 s");
}

// As in a clone that is too shallow to hold one: git says nothing.
TEST(MergeBaseOfGit, OfHistoriesThatShareNoneIsToldWithoutEmptyWords) {
  const TemporaryFolder folder("git-test");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"-c", "init.templateDir=", "init", "-q", "-b", "one"},
                                             {"-c", "user.name=t", "-c", "user.email=t@t", "commit",
                                              "-q", "--allow-empty", "-m", "1"},
                                             {"checkout", "-q", "--orphan", "two"},
                                             {"-c", "user.name=t", "-c", "user.email=t@t", "commit",
                                              "-q", "--allow-empty", "-m", "2"}}) {
    const Outcome outcome = git(folder.path(), arguments);
    ASSERT_TRUE(succeeded(outcome)) << outcome.complaints;
  }
  EXPECT_THAT([&] { (void)merge_base(folder.path(), "one"); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("no merge base with it; fetch it")));
}

TEST(FilesAtACommit, AreThoseOfThatCommitEachWithItsContent) {
  const TemporaryFolder folder("git-test");
  const auto must = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = git(folder.path(), arguments);
    ASSERT_TRUE(succeeded(outcome)) << outcome.complaints;
  };
  std::filesystem::create_directories(folder.path() / "in/below");
  const std::map<std::string, std::string> files = {
      {"a.json", "one\n"}, {"below/b c.json", "one\n"}, {"empty.json", ""}, {"end.json", "no end"}};
  for (const auto& [name, content] : files) write_file(folder.path() / "in" / name, content);
  must({"-c", "init.templateDir=", "init", "-q"});
  must({"add", "in"});
  must({"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "base"});
  write_file(folder.path() / "in/a.json", "two\n");
  EXPECT_EQ(files_at(folder.path() / "in", {"a.json", "below", "end.json", "empty.json"}, "HEAD"),
            files);
  EXPECT_THAT(files_at(folder.path(), {"absent"}, "HEAD"), testing::IsEmpty());
}

}  // namespace
}  // namespace holdfast::gate
