// SPDX-License-Identifier: Apache-2.0
// A file that is written beside its place and then takes it as a whole: readers see the old file or
// the new one, whenever the writer is killed.
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

// Gives the file `beside` its place, or removes it. Returns what went wrong, as errno does, or 0:
// ENOTSUP where the place is a device, a FIFO or a socket, which stays as it is.
int take_place(const std::filesystem::path& beside, const std::filesystem::path& place);

// What was renamed in the folder outlives a stop of the machine. Returns what went wrong, or 0.
int sync_folder(const std::filesystem::path& folder);

// What goes wrong first is kept, and nothing is done after it.
class WrittenFile {
 public:
  // Written into part_of(place), whose name is always the same: what a killed writer leaves there
  // is taken over by the next one, so that nothing piles up. Who else writes the same file
  // meanwhile waits.
  explicit WrittenFile(std::filesystem::path place);
  // Written into a file that nobody waits for.
  WrittenFile(std::filesystem::path place, std::filesystem::path beside);
  WrittenFile(WrittenFile&&) noexcept = default;
  WrittenFile& operator=(WrittenFile&&) = delete;
  ~WrittenFile();  // removes what was not published

  void append(std::string_view content);
  void sync();          // so that the machine may stop as well, not only this process
  void publish();       // the file takes its place
  void leave_beside();  // complete: somebody else gives it its place

  int error() const { return error_; }  // as errno has it, or 0
  int descriptor() const { return *file_; }
  const std::filesystem::path& place() const { return place_; }

 private:
  std::filesystem::path place_;
  std::filesystem::path beside_;
  Descriptor file_;
  int error_ = 0;

  void open(int flags);
};

// Where this process was started without one of its standard streams, opens one that takes and
// gives nothing, so that no file or pipe of later comes to stand in its place.
void hold_standard_streams();

}  // namespace holdfast
