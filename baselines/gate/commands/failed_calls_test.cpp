// SPDX-License-Identifier: Apache-2.0
// The real commands, each told by the kernel that one system call failed, or that all of its kind
// do from then on: none crashes or hangs, none says well over what it could not do, no older answer
// stands for theirs, and a store is the old one or the new one. HOLDFAST_CORPUS=all fails a
// thousand.
#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <iostream>
#include <random>

#include "gate/testing/lasting_commands.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using toy::FailingCall;
using toy::Traced;

constexpr std::array errors = {EIO, ENOSPC, EACCES, EMFILE, ENOMEM, EINTR};

class FailedCalls : public toy::LastingCommands {
 protected:
  const fs::path said_ = folder_.path() / "said", complained_ = folder_.path() / "complained";
  std::mt19937 random_{20261123};
  std::size_t failed_ = 0, unnoticed_ = 0;

  static std::size_t attempts(std::size_t at_night) {
    return toy::whole_corpus() ? at_night : at_night / 10;
  }

  Traced run(const std::vector<std::string>& command, const std::optional<FailingCall>& fail = {}) {
    const auto traced =
        toy::run_traced(command, {.fail = fail, .output = said_, .complaints = complained_});
    return traced.value_or(Traced{.code = -2});
  }

  // The first call of the command itself: those before are the loader's, as in any command.
  std::size_t start() {
    static const std::size_t stops = run({"--version"}).stops - 6;
    return stops;
  }

  FailingCall draw(std::size_t stops) {
    constexpr int lasting = 3;  // one of so many
    const int error = errors[random_() % errors.size()];
    const bool on = random_() % lasting == 0 && error != EINTR;  // which asks to be tried again
    return {.moment = start() + random_() % (stops - start()), .error = error, .on = on};
  }

  // For each kind of call: all of its calls fail from some point on.
  std::vector<FailingCall> of_each_kind() {
    std::vector<FailingCall> fails;
    for (const long call :
         {SYS_newfstatat, SYS_openat,    SYS_read,       SYS_write,    SYS_lseek,
          SYS_fsync,      SYS_ftruncate, SYS_rename,     SYS_unlink,   SYS_mkdir,
          SYS_flock,      SYS_mmap,      SYS_getdents64, SYS_readlink, SYS_copy_file_range,
          SYS_dup,        SYS_poll,      SYS_pipe2,      SYS_fcntl,    SYS_prctl,
          SYS_clone})
      fails.push_back({.moment = start(), .error = EIO, .on = true, .only = call});
    return fails;
  }

  static std::string named(const FailingCall& fail, const Traced& traced) {
    return text("call ", traced.call.value_or(-1), " at stop ", fail.moment,
                fail.on ? " and all later ones" : "", " failed by ", std::strerror(fail.error));
  }

  // Runs `command`, which ends with `code` otherwise, with one call failed.
  Traced fail_one(const std::vector<std::string>& command, int code, const FailingCall& fail) {
    const Traced traced = run(command, fail);
    const testing::ScopedTrace trace(__FILE__, __LINE__, named(fail, traced));
    failed_ += traced.call.has_value();
    unnoticed_ += traced.call && traced.code == code;
    EXPECT_EQ(traced.signal, 0);
    EXPECT_THAT(traced.code, AnyOf(code, 2, 3));
    const bool speechless = traced.call == SYS_write || traced.call == SYS_writev;
    if (traced.code != code && !speechless) {
      EXPECT_THAT(read_file(said_) + read_file(complained_),
                  testing::ContainsRegex("holdfast: |INCOMPLETE  "));
    }
    return traced;
  }

  void fail_changes(Change change, std::size_t at_night) {
    change.before = look(change.folder, change.reader);
    const Traced whole = run(change.command);
    if (whole.code == -2) GTEST_SKIP() << "this machine forbids tracing a child";
    ASSERT_EQ(whole.code, 0);
    change.after = look(change.folder, change.reader);
    std::vector<FailingCall> fails = of_each_kind();
    for (std::size_t i = 0; i < attempts(at_night); ++i) fails.push_back(draw(whole.stops));
    for (const FailingCall& fail : fails) {
      if (HasFailure()) break;
      toy::restore(change.folder, change.before.files);
      const Traced traced = fail_one(change.command, 0, fail);
      const testing::ScopedTrace trace(__FILE__, __LINE__, named(fail, traced));
      const Seen seen = look(change.folder, change.reader);
      const bool is_old = seen.files == change.before.files && seen.told == change.before.told;
      const bool is_new = seen.files == change.after.files && seen.told == change.after.told;
      EXPECT_NE(is_old, is_new) << "the store is of two changes";
      if (traced.code == 0) {
        EXPECT_TRUE(is_new) << "well was said, and nothing done";
      }
      ASSERT_EQ(holdfast(change.command), 0) << complaints_;
      EXPECT_EQ(toy::files_below(change.folder), change.after.files);
    }
    tell();
  }

  // `early`: the older answer may stay if the command ended before it knew its own.
  void fail_answers(const Answer& answer, std::size_t at_night, bool early = false) {
    const Traced whole = run(answer.command);
    if (whole.code == -2) GTEST_SKIP() << "this machine forbids tracing a child";
    ASSERT_EQ(whole.code, answer.code);
    std::vector<FailingCall> fails = of_each_kind();
    for (std::size_t i = 0; i < attempts(at_night); ++i) fails.push_back(draw(whole.stops));
    for (const FailingCall& fail : fails) {
      if (HasFailure()) break;
      toy::restore(answer.folder, answer.before);
      const Traced traced = fail_one(answer.command, answer.code, fail);
      const testing::ScopedTrace trace(__FILE__, __LINE__, named(fail, traced));
      // If nothing can be removed, only a check overwrites what is there.
      if (traced.call == SYS_unlink && answer.command.front() != "check") continue;
      if (traced.code == answer.code || !early) {
        EXPECT_FALSE(answer.older_stands())
            << "exit " << traced.code << ": " << read_file(complained_);
      }
    }
    tell();
  }

  // `or_says`: an alternative output if a part is not known.
  void fail_readings(const std::vector<std::string>& command, std::size_t at_night,
                     const std::string& or_says = "") {
    const Traced whole = run(command);
    if (whole.code == -2) GTEST_SKIP() << "this machine forbids tracing a child";
    ASSERT_EQ(whole.code, 0) << read_file(complained_);
    const std::string told = read_file(said_);
    for (std::size_t i = 0; i < attempts(at_night) && !HasFailure(); ++i) {
      const FailingCall fail = draw(whole.stops);
      const Traced traced = fail_one(command, 0, fail);
      const testing::ScopedTrace trace(__FILE__, __LINE__, named(fail, traced));
      if (traced.code == 0) {
        const std::string now = read_file(said_);
        const bool says = !or_says.empty() && now.find(or_says) != std::string::npos;
        EXPECT_TRUE(says || now == told) << "well was said over a part of it:\n" << now;
      }
    }
    tell();
  }

 private:
  void tell() const {
    std::cout << failed_ << " failed calls, " << unnoticed_ << " of no consequence\n";
    EXPECT_GT(failed_, 0u);
    EXPECT_LT(unnoticed_, failed_) << "no call that counts was failed";
  }
};

TEST_F(FailedCalls, OfAnAcceptLeaveTheOldBaselineOrTheNewOne) {
  fail_changes(an_accept(), 150);
}

TEST_F(FailedCalls, OfAPruneLeaveTheOldBaselineOrTheNewOne) {
  fail_changes(a_prune(), 150);
}

TEST_F(FailedCalls, OfAnAppendLeaveTheOldHistoryOrTheNewOne) {
  fail_changes(an_append(), 150);
}

TEST_F(FailedCalls, OfACheckLeaveNoOlderVerdict) {
  fail_answers(a_check(), 200);
}

TEST_F(FailedCalls, OfAProfileLeaveNoOlderProfileForANewOne) {
  fail_answers(a_profile(), 100, true);
}

TEST_F(FailedCalls, OfAnAbLeaveNoOlderDecision) {
  fail_answers(an_ab(), 100, true);
}

TEST_F(FailedCalls, OfATrendLeaveNothingOut) {
  const Change change = an_append();
  ASSERT_EQ(holdfast(change.command), 0) << complaints_;
  fail_readings(change.reader, 150);
}

TEST_F(FailedCalls, OfAShowOfBaselinesLeaveNothingOut) {
  const Change change = an_accept();
  fail_readings(change.reader, 50);
}

TEST_F(FailedCalls, OfAnExportLeaveNothingOut) {
  for (const Results& results : {toy::dry(), toy::host()}) store(results);
  fail_readings({"export", results_.string(), "--format=bmf"}, 50);
}

TEST_F(FailedCalls, OfAnExplanationLeaveNothingOut) {
  measured_anew(toy::dry());
  fail_readings(toy::joined({"explain", toy::step_id, results_.string()}, stores()), 50,
                "not judged: ");
}

}  // namespace
}  // namespace holdfast::gate
