// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/testing/variable.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Files : public testing::Test {
 protected:
  Files() { std::ofstream(place) << "old"; }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), {}); }

  const NewFolder own_folder{testing::TempDir() + "files."};
  const fs::path& folder = own_folder.path();
  const fs::path place = folder / "out.json";
};

TEST_F(Files, ADeviceOrAFifoIsNoPlaceAndStaysWhatItIs) {
  const fs::path fifo = folder / "fifo", link = folder / "link";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink("/dev/null", link);
  for (const fs::path& there : {fifo, link}) {
    WrittenFile file(there);
    file.append("new");
    file.publish();
    EXPECT_EQ(file.error(), ENOTSUP) << there;
  }
  EXPECT_TRUE(fs::is_fifo(fifo));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(files(), 3);
}

TEST_F(Files, ReadersSeeTheOldOneUntilItIsPublished) {
  WrittenFile file(place);
  file.append("n");
  file.append("ew");
  EXPECT_EQ(content_of(place), "old");
  file.publish();
  EXPECT_EQ(file.error(), 0);
  EXPECT_EQ(content_of(place), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(Files, WhatIsNotPublishedLeavesNothing) {
  { WrittenFile(place).append("new"); }
  { WrittenFile(place, folder / "own").append("new"); }
  EXPECT_EQ(content_of(place), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(Files, AFifoBesideIsAnErrorAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo(part_of(place).c_str(), 0600), 0);
  EXPECT_NE(WrittenFile(place).error(), 0);
  const int reader = ::open(part_of(place).c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_EQ(WrittenFile(place).error(), EEXIST);
  ::close(reader);
  EXPECT_EQ(content_of(place), "old");
}

TEST_F(Files, WhatAKilledWriterLeftIsTakenOver) {
  std::ofstream(part_of(place)) << "more than is written now";
  WrittenFile file(place);
  file.append("new");
  file.publish();
  EXPECT_EQ(content_of(place), "new");
  EXPECT_EQ(files(), 1);
}

// How many times this process has the file open.
int times_open(const fs::path& file) {
  int times = 0;
  for (const auto& each : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // closed meanwhile
    times += fs::read_symlink(each, gone) == file;
  }
  return times;
}

TEST_F(Files, WhoWritesTheSameOneWaits) {
  WrittenFile first(place);
  std::atomic<bool> ended = false;
  std::thread other([&] {
    WrittenFile second(place);
    second.append(content_of(place) + ", second");
    second.publish();
    ended = true;
  });
  const fs::path part = fs::canonical(folder) / part_of(place).filename();
  while (!ended && times_open(part) < 2) std::this_thread::yield();
  first.append("first");
  first.publish();
  other.join();
  EXPECT_EQ(content_of(place), "first, second");
}

TEST_F(Files, WhoWaitedWritesTheOneThatHasTheNameNow) {
  const fs::path part = fs::canonical(folder) / part_of(place).filename();
  Descriptor held(::open(part.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(*held, LOCK_EX), 0);
  std::atomic<bool> ended = false;
  std::thread other([&] {
    WrittenFile second(place);
    second.append("second");
    second.publish();
    ended = true;
  });
  while (!ended && times_open(part) < 2) std::this_thread::yield();
  std::error_code problem;
  fs::rename(part, folder / "published", problem);
  std::ofstream(part) << "of somebody else";
  held.close();
  other.join();
  EXPECT_EQ(content_of(place), "second");
  EXPECT_EQ(content_of(folder / "published"), "");
}

TEST_F(Files, AFileOfOnesOwnWaitsForNobody) {
  const WrittenFile first(place);
  WrittenFile second(place, folder / "own");
  second.append("new");
  second.publish();
  EXPECT_EQ(content_of(place), "new");
}

TEST_F(Files, WhatIsLeftBesideWaitsForItsPlace) {
  WrittenFile file(place);
  file.append("new");
  file.leave_beside();
  EXPECT_EQ(content_of(place), "old");
  EXPECT_EQ(take_place(part_of(place), place), 0);
  EXPECT_EQ(content_of(place), "new");
}

TEST_F(Files, TheFirstErrorIsKeptAndNothingIsDoneAfterIt) {
  WrittenFile file(folder / "absent" / "out.json");
  EXPECT_EQ(file.error(), ENOENT);
  file.append("new");
  file.sync();
  file.publish();
  EXPECT_EQ(file.error(), ENOENT);
}

TEST_F(Files, AFullDiskIsAnError) {
  WrittenFile file(place, "/dev/full");
  file.append("new");
  EXPECT_EQ(file.error(), ENOSPC);
  file.leave_beside();
}

TEST_F(Files, WhatCannotHaveItsPlaceGoes) {
  fs::create_directories(folder / "taken" / "by a folder");
  WrittenFile file(folder / "taken", folder / "own");
  file.publish();
  EXPECT_EQ(file.error(), EISDIR);
  EXPECT_FALSE(fs::exists(folder / "own"));
}

TEST_F(Files, WhatHasNoPlaceToGoToGoes) {
  std::ofstream(folder / "own") << "new";
  EXPECT_EQ(take_place(folder / "own", folder / "absent" / "out.json"), ENOENT);
  EXPECT_EQ(files(), 1);
}

TEST_F(Files, TheOneBesideIsHiddenAndCalledAfterIts) {
  EXPECT_EQ(part_of("some/out.json"), "some/.out.json.part");
}

TEST_F(Files, ALinkBesideIsAnErrorAndNotFollowed) {
  const fs::path elsewhere = folder / "elsewhere";
  std::ofstream(elsewhere) << "kept";
  fs::create_symlink(elsewhere, part_of(place));
  EXPECT_EQ(WrittenFile(place).error(), ELOOP);
  EXPECT_EQ(content_of(elsewhere), "kept");
}

TEST_F(Files, AFileOfOnesOwnHoldsNothingOfOneBefore) {
  std::ofstream(folder / "own") << "more than is written now";
  WrittenFile file(place, folder / "own");
  file.append("new");
  file.publish();
  EXPECT_EQ(content_of(place), "new");
}

TEST_F(Files, NoProgramThatIsStartedMeanwhileHoldsIt) {
  const WrittenFile file(place);
  EXPECT_NE(::fcntl(file.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

// The write exceeds the largest file size that this process may write.
TEST_F(Files, WhatCouldNotBeWrittenWholeIsNotPublished) {
  rlimit usual = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const rlimit four_bytes = {.rlim_cur = 4, .rlim_max = usual.rlim_max};
  WrittenFile file(place);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &four_bytes), 0);
  file.append("longer than four bytes");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &usual), 0);
  (void)std::signal(SIGXFSZ, before);
  EXPECT_EQ(file.error(), EFBIG);
  file.publish();
  EXPECT_EQ(file.error(), EFBIG);
  EXPECT_EQ(content_of(place), "old");
}

TEST_F(Files, WhatCannotBeSyncedIsAnError) {
  WrittenFile file(place, "/dev/full");
  file.sync();
  EXPECT_EQ(file.error(), EINVAL);
  file.leave_beside();
}

TEST_F(Files, AFolderIsSyncedWhereItIsOne) {
  EXPECT_EQ(sync_folder(folder), 0);
  EXPECT_EQ(sync_folder(folder / "absent"), ENOENT);
  EXPECT_EQ(sync_folder(place), ENOTDIR);
}

// Evaluated in a child process, after `change`.
template <class Change, class Holds>
bool holds_after(const Change& change, const Holds& holds) {
  const pid_t child = ::fork();
  if (child == 0) {
    change();
    hold_standard_streams();
    ::_exit(holds() ? 0 : 1);
  }
  int status = -1;
  (void)::waitpid(child, &status, 0);
  return status == 0;
}

TEST(StandardStreams, ThatAreClosedAreHeldByWhatTakesAndGivesNothing) {
  const auto close_all = [] {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(stream);
  };
  EXPECT_TRUE(holds_after(close_all, [] {
    char byte = 0;
    return ::open("/dev/null", O_RDONLY | O_CLOEXEC) > STDERR_FILENO &&
           ::read(STDIN_FILENO, &byte, 1) < 0 && ::write(STDOUT_FILENO, &byte, 1) < 0 &&
           ::write(STDERR_FILENO, &byte, 1) < 0;
  }));
}

TEST(StandardStreams, ThatAreOpenStayWhatTheyAre) {
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const auto redirect = [&] { ::dup2(ends[1], STDOUT_FILENO); };
  EXPECT_TRUE(holds_after(redirect, [] { return ::write(STDOUT_FILENO, "x", 1) == 1; }));
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  for (const int end : ends) ::close(end);
}

TEST(TemporaryPlace, IsWhatTmpdirNamesElseTmp) {
  for (const auto& [named, place] : {std::pair<std::optional<std::string>, const char*>{{}, "/tmp"},
                                     {"", "/tmp"},
                                     {"/a", "/a"}}) {
    const Variable here("TMPDIR", named);
    EXPECT_EQ(temporary_place(), place);
  }
}

TEST(Descriptors, AreClosedOnce) {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Descriptor first(number);
  {
    const Descriptor second = std::move(first);
    EXPECT_EQ(*second, number);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

}  // namespace
}  // namespace holdfast
