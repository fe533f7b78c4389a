// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace holdfast {
namespace {

// Whether `path` still leads to the open file: its last holder may have renamed it into place.
bool leads_to(const std::filesystem::path& path, int file, int& error) {
  struct stat there = {};
  struct stat here = {};
  if (::stat(path.c_str(), &there) == 0 && ::fstat(file, &here) == 0)
    return there.st_dev == here.st_dev && there.st_ino == here.st_ino;
  if (errno != ENOENT) error = errno;
  return false;
}

int lock(int file) {
  while (::flock(file, LOCK_EX) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

std::filesystem::path part_of(const std::filesystem::path& place) {
  return place.parent_path() /
         std::string(1, '.').append(place.filename().string()).append(".part");
}

int take_place(const std::filesystem::path& beside, const std::filesystem::path& place) {
  // Renaming over a device, a FIFO or a link to one would replace it.
  struct stat there = {};
  const bool is_taken = ::stat(place.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  if (is_taken) {
    (void)::unlink(beside.c_str());
    return S_ISDIR(there.st_mode) ? EISDIR : ENOTSUP;
  }
  if (std::rename(beside.c_str(), place.c_str()) == 0) return 0;
  const int error = errno;
  (void)::unlink(beside.c_str());
  return error;
}

int sync_folder(const std::filesystem::path& folder) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return *open >= 0 && ::fsync(*open) == 0 ? 0 : errno;
}

WrittenFile::WrittenFile(std::filesystem::path place)
    : place_(std::move(place)), beside_(part_of(place_)) {
  do {
    open(O_NOFOLLOW);
    if (error_ == 0) error_ = lock(*file_);
  } while (error_ == 0 && !leads_to(beside_, *file_, error_) && error_ == 0);
  if (error_ == 0 && ::ftruncate(*file_, 0) != 0) error_ = errno;
  if (error_ != 0) file_ = Descriptor();  // not ours to remove
}

WrittenFile::WrittenFile(std::filesystem::path place, std::filesystem::path beside)
    : place_(std::move(place)), beside_(std::move(beside)) {
  open(O_TRUNC);
}

WrittenFile::~WrittenFile() {
  if (*file_ >= 0) ::unlink(beside_.c_str());
}

void WrittenFile::open(int flags) {
  // O_NONBLOCK: opening a FIFO at this path would block, and what is written into one is not a
  // file.
  file_ = Descriptor(
      ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0666));
  if (*file_ < 0) error_ = errno;
  struct stat is = {};
  if (error_ == 0 && ::fstat(*file_, &is) == 0 && S_ISFIFO(is.st_mode)) {
    error_ = EEXIST;
    file_ = Descriptor();  // not ours to remove
  }
}

void WrittenFile::append(std::string_view content) {
  while (error_ == 0 && !content.empty()) {
    const ssize_t written = ::write(*file_, content.data(), content.size());
    if (written >= 0)
      content.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error_ = errno;
  }
}

void WrittenFile::sync() {
  if (error_ == 0 && ::fsync(*file_) != 0) error_ = errno;
}

// Renamed before it is closed, because closing releases the lock. Closing a duplicate first makes a
// file system that writes late report what it could not write.
void WrittenFile::publish() {
  if (error_ == 0 && ::close(::dup(*file_)) != 0) error_ = errno;
  if (error_ != 0) return;
  error_ = take_place(beside_, place_);
  file_ = Descriptor();
}

void WrittenFile::leave_beside() {
  file_ = Descriptor();
}

NewFolder::NewFolder(const std::filesystem::path& beginning) {
  std::string name = beginning.string() + "XXXXXX";
  if (!::mkdtemp(name.data())) error_ = errno;
  path_ = name;
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  if (error_ == 0) std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path temporary_place() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)  // the lowest free descriptor, which open() returns
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace holdfast
