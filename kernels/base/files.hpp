// SPDX-License-Identifier: Apache-2.0
// A file that is written beside its place and renamed into it: readers see the old file or the new
// one whole, whenever the writer is killed.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

namespace holdfast {

// A file descriptor that is closed once.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }
  int operator*() const { return number_; }
  void close();

 private:
  int number_;
};

// ".NAME.part" beside NAME.
std::filesystem::path part_of(const std::filesystem::path& place);

// Renames `beside` to `place`, or removes it. Returns an errno value, or 0; ENOTSUP if the place is
// a device, a FIFO or a socket, which is left as it is.
int take_place(const std::filesystem::path& beside, const std::filesystem::path& place);

// Makes renames in the folder survive a crash of the machine. Returns an errno value, or 0.
int sync_folder(const std::filesystem::path& folder);

// Keeps its first error, after which it does nothing more.
class WrittenFile {
 public:
  // Writes into part_of(place). The name is always the same, so the next writer takes over what a
  // killed one left, and nothing piles up. Concurrent writers of the same place wait.
  explicit WrittenFile(std::filesystem::path place);
  // Writes into `beside`, without waiting for a lock.
  WrittenFile(std::filesystem::path place, std::filesystem::path beside);
  WrittenFile(WrittenFile&&) noexcept = default;
  WrittenFile& operator=(WrittenFile&&) = delete;
  ~WrittenFile();  // removes an unpublished file

  void append(std::string_view content);
  void sync();          // the content also survives a crash of the machine
  void publish();       // renames the file into its place
  void leave_beside();  // keeps the complete file; somebody else renames it

  int error() const { return error_; }  // an errno value, or 0
  int descriptor() const { return *file_; }
  const std::filesystem::path& place() const { return place_; }

 private:
  std::filesystem::path place_;
  std::filesystem::path beside_;
  Descriptor file_;
  int error_ = 0;

  void open(int flags);
};

// A new folder whose name begins with `beginning`, removed with its content at the end.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& beginning);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  int error() const { return error_; }  // an errno value, or 0
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int error_ = 0;
};

// The folder that TMPDIR names, or /tmp. Whether it exists shows to the one who writes there.
std::filesystem::path temporary_place();

// If the process was started without one of its standard streams, opens one that reads and writes
// nothing, so that no file or pipe opened later takes its descriptor.
void hold_standard_streams();

}  // namespace holdfast
