// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace holdfast {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Files : public testing::Test {
 protected:
  Files() {
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(place) << "old";
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder), {}); }

  const fs::path folder =
      fs::path(testing::TempDir()) /
      (std::string("files.") + testing::UnitTest::GetInstance()->current_test_info()->name());
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

TEST_F(Files, WhoWritesTheSameOneWaits) {
  WrittenFile first(place);
  std::thread other([&] {
    WrittenFile second(place);
    second.append(content_of(place) + ", second");
    second.publish();
  });
  first.append("first");
  first.publish();
  other.join();
  EXPECT_EQ(content_of(place), "first, second");
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
