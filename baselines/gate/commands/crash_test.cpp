// SPDX-License-Identifier: Apache-2.0
// The commands that write what must last, killed with SIGKILL at random system calls and at every
// one of the last: the next reader sees the old store or the new one as a whole, leaves it so, byte
// for byte, and the same command then finishes what was begun. HOLDFAST_CORPUS=all kills 500 times
// and more.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "gate/base/store.hpp"
#include "gate/testing/lasting_commands.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using toy::Files;
using toy::run_traced;
using toy::without_unfinished;

// Kills per store; the last ones reach back to before the journal is written. All at night.
std::size_t moments() {
  return toy::whole_corpus() ? 100 : 20;
}
std::size_t last_moments() {
  return toy::whole_corpus() ? 80 : 40;
}
constexpr const char* untraceable = "this machine forbids tracing a child";

// How often `holdfast` stopped before it ended, or was killed at stop `moment`.
std::optional<std::size_t> run_until(const std::vector<std::string>& arguments,
                                     std::size_t moment) {
  const auto traced = run_traced(arguments, {.kill_at = moment});
  return traced ? std::optional(traced->stops) : std::nullopt;
}

class Crash : public toy::LastingCommands {
 protected:
  std::size_t old_stores_ = 0, new_stores_ = 0, finished_ = 0, unfinished_ = 0;

  static std::size_t changed(const Files& before, const Files& after) {
    std::size_t count = 0;
    for (const auto& [file, content] : after)
      count += !before.contains(file) || before.at(file) != content;
    return count;
  }

  void kill(const Change& change, std::size_t moment) {
    toy::restore(change.folder, change.before.files);
    run_until(change.command, moment);
    const Files left = toy::files_below(change.folder);
    const bool begun = fs::exists(journal_path(change.folder));
    const Seen seen = look(change.folder, change.reader);
    const bool is_old = seen.files == change.before.files && seen.told == change.before.told;
    const bool is_new = seen.files == change.after.files && seen.told == change.after.told;
    EXPECT_NE(is_old, is_new) << "the store is of two changes after a kill at stop " << moment
                              << (begun ? ", with" : ", without") << " a journal:\n"
                              << seen.told;
    if (begun) {
      EXPECT_TRUE(is_new) << "the journal was written, and stop " << moment << " undid it";
    } else {
      EXPECT_EQ(without_unfinished(left), seen.files) << "no journal, and the reader changed files";
    }
    old_stores_ += is_old;
    new_stores_ += is_new;
    finished_ += begun;
    unfinished_ += without_unfinished(left).size() < left.size();
    ASSERT_EQ(holdfast(change.command), 0)
        << "after a kill at stop " << moment << ": " << complaints_;
    EXPECT_EQ(toy::files_below(change.folder), change.after.files)
        << "after a kill at stop " << moment;
  }

  void kill_at_random_moments(Change change) {
    change.before = look(change.folder, change.reader);
    const auto stops = run_until(change.command, SIZE_MAX);
    if (!stops) GTEST_SKIP() << untraceable;
    change.after = look(change.folder, change.reader);
    ASSERT_GE(changed(change.before.files, change.after.files), 2u);
    ASSERT_NE(change.before.told, change.after.told);
    std::mt19937 random(20261121);
    for (std::size_t i = 0; i < moments() && !HasFailure(); ++i) {
      // Every other kill among the last calls, which write; half of all calls start the program.
      const std::size_t first = i % 2 == 0 ? 1 : *stops - *stops / 4;
      kill(change, first + random() % (*stops - first));
    }
    for (std::size_t i = 1; i <= last_moments() && !HasFailure(); ++i) kill(change, *stops - i);
    // A test whose kills all come too early or too late shows nothing.
    EXPECT_GT(old_stores_, moments() / 2);
    EXPECT_GT(new_stores_, 5u);
    EXPECT_GT(finished_, 5u);
    EXPECT_GT(unfinished_, 5u);
    std::cout << old_stores_ << " old, " << new_stores_ << " new, " << finished_
              << " of them finished by the reader, " << unfinished_ << " with unfinished files, "
              << moments() + last_moments() << " kills among " << *stops << " stops\n";
  }
};

TEST_F(Crash, AnAcceptThatIsKilledLeavesTheOldBaselineOrTheNewOne) {
  kill_at_random_moments(an_accept());
}

TEST_F(Crash, APruneThatIsKilledLeavesTheOldBaselineOrTheNewOne) {
  kill_at_random_moments(a_prune());
}

TEST_F(Crash, AnAppendThatIsKilledLeavesTheOldHistoryOrTheNewOne) {
  kill_at_random_moments(an_append());
}

// The first kill that leaves a journal, then the reader of it killed at every moment.
TEST_F(Crash, AReaderThatIsKilledWhileItFinishesAStoreLosesNothing) {
  Change change = an_append();
  change.before = look(change.folder, change.reader);
  const auto stops = run_until(change.command, SIZE_MAX);
  if (!stops) GTEST_SKIP() << untraceable;
  change.after = look(change.folder, change.reader);
  for (std::size_t back = 2 * last_moments(); back > 0; --back) {
    toy::restore(change.folder, change.before.files);
    run_until(change.command, *stops - back);
    if (fs::exists(journal_path(change.folder))) break;
  }
  ASSERT_TRUE(fs::exists(journal_path(change.folder)));
  const Files begun = toy::files_below(change.folder);
  const std::size_t reading = run_until(change.reader, SIZE_MAX).value_or(0);
  const auto left_at = [&](std::size_t moment) {
    toy::restore(change.folder, begun);
    run_until(change.reader, moment);
    return toy::files_below(change.folder);
  };
  std::size_t first = 1;  // at which something is written
  for (std::size_t last = reading; first < last;) {
    const std::size_t middle = first + (last - first) / 2;
    if (left_at(middle) == begun)
      first = middle + 1;
    else
      last = middle;
  }
  std::mt19937 random(20261121);
  std::size_t between = 0;
  for (std::size_t i = 0; i < moments() && !HasFailure(); ++i) {
    // Every other at what follows the first write; before a quarter the program starts.
    const Files left =
        left_at(i % 2 == 0 ? first + i / 2 : reading / 4 + random() % (reading - reading / 4));
    between += left != begun && left != change.after.files;
    const Seen seen = look(change.folder, change.reader);
    EXPECT_EQ(seen.files, change.after.files);
    EXPECT_EQ(seen.told, change.after.told);
  }
  EXPECT_GT(between, 0u) << "every kill came too early or too late";
}

TEST_F(Crash, WhatAKilledCommandLeavesGoesWithTheTest) {
  EXPECT_EQ(fs::temp_directory_path().parent_path(), folder_.path());
}

// An older command's answer must not stand for that of a killed one: it is removed before anything
// that takes long, and nothing brings it back.
class KilledAnswer : public Crash {
 protected:
  // `late`: what will be answered is known late, and only then is the older answer removed.
  void kill_at_random_moments(const Answer& answer, bool late = false) {
    const auto whole = run_traced(answer.command, {});
    if (!whole) GTEST_SKIP() << untraceable;
    ASSERT_EQ(whole->code, answer.code);
    ASSERT_FALSE(answer.older_stands());
    std::mt19937 random(20261121);
    std::size_t last_older = 0, first_withdrawn = whole->stops;
    for (std::size_t i = 0; i < moments() && !HasFailure(); ++i) {
      toy::restore(answer.folder, answer.before);
      const std::size_t moment = 1 + random() % (whole->stops - 1);
      run_until(answer.command, moment);
      if (answer.older_stands())
        last_older = std::max(last_older, moment);
      else
        first_withdrawn = std::min(first_withdrawn, moment);
    }
    // Two runs do not stop alike, least where each waits for another program.
    const std::size_t slack = late ? whole->stops / 10 : 10;
    EXPECT_LE(last_older, first_withdrawn + slack) << "an older answer came back";
    EXPECT_LT(last_older, late ? whole->stops * 5 / 6 : longest_start) << "of " << whole->stops;
    std::cout << "withdrawn between stops " << last_older << " and " << first_withdrawn << " of "
              << whole->stops << '\n';
  }

 private:
  static constexpr std::size_t longest_start = 500;
};

TEST_F(KilledAnswer, OfACheckIsNoOlderVerdict) {
  kill_at_random_moments(a_check());
}

TEST_F(KilledAnswer, OfAProfileIsNoOlderProfile) {
  kill_at_random_moments(a_profile(), true);
}

TEST_F(KilledAnswer, OfAnAbIsNoOlderDecision) {
  kill_at_random_moments(an_ab());
}

}  // namespace
}  // namespace holdfast::gate
