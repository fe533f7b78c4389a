// SPDX-License-Identifier: Apache-2.0
#include "gate/base/written_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate {
namespace {

// Whether `path` still leads to the open file: its last holder may have given it its place.
bool leads_to(const std::filesystem::path& path, int file) {
  struct stat there = {};
  struct stat here = {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(file, &here) == 0 &&
         there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

int lock(int file) {
  while (::flock(file, LOCK_EX) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

WrittenFile::WrittenFile(std::filesystem::path place)
    : place_(std::move(place)), beside_(part_of(place_)) {
  do {
    file_ = Descriptor(::open(beside_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (*file_ < 0) fail(errno);
    if (const int error = lock(*file_)) fail(error);
  } while (!leads_to(beside_, *file_));
  if (::ftruncate(*file_, 0) != 0) fail(errno);
}

WrittenFile::~WrittenFile() {
  if (*file_ >= 0) ::unlink(beside_.c_str());
}

void WrittenFile::fail(int error) const {
  throw Error(Fault::bad_input, text("cannot write ", place_.string(), ": ", std::strerror(error),
                                     "; choose a folder that you may write to"));
}

void WrittenFile::append(std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(*file_, content.data(), content.size());
    if (written >= 0)
      content.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      fail(errno);
  }
}

void WrittenFile::append_copy_of(const std::filesystem::path& file) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const Descriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (*from < 0)
    throw Error(Fault::bad_input, text("cannot read ", file.string(), ": ", std::strerror(errno)));
  for (;;) {
    const ssize_t copied = ::copy_file_range(*from, nullptr, *file_, nullptr, most, 0);
    if (copied > 0) continue;
    if (copied == 0) return;
    if (errno == EINTR) continue;
    break;
  }
  // Not every file system copies by itself; what it has copied stays.
  std::vector<char> block(std::size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(*from, block.data(), block.size());
    if (got == 0) return;
    if (got > 0)
      append({block.data(), static_cast<std::size_t>(got)});
    else if (errno != EINTR)
      throw Error(Fault::bad_input,
                  text("cannot read ", file.string(), " to its end: ", std::strerror(errno)));
  }
}

void WrittenFile::sync() {
  if (::fsync(*file_) != 0) fail(errno);
}

// Renamed before it is closed: closing gives up the lock. Closing a copy makes a file system that
// writes late tell now what it could not write.
void WrittenFile::publish() {
  if (::close(::dup(*file_)) != 0) fail(errno);
  if (::rename(beside_.c_str(), place_.c_str()) != 0) fail(errno);
  file_ = Descriptor();
}

void WrittenFile::leave_beside() {
  file_ = Descriptor();
}

std::filesystem::path part_of(const std::filesystem::path& place) {
  return place.parent_path() / text(".", place.filename().string(), ".part");
}

void write_file(const std::filesystem::path& path, std::string_view content, Sync sync) {
  WrittenFile file(path);
  file.append(content);
  if (sync == Sync::yes) file.sync();
  file.publish();
}

}  // namespace holdfast::gate
