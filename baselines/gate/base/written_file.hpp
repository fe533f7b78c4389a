// SPDX-License-Identifier: Apache-2.0
// A file that is written beside its place and then takes it as a whole: readers see the old file or
// the new one, whenever the writer is killed.
#pragma once

#include <filesystem>
#include <string_view>

#include "gate/base/process.hpp"

namespace holdfast::gate {

// Written into ".NAME.part", whose name is always the same: what a killed writer leaves there is
// taken over by the next one, so that nothing piles up. Who else writes the same file meanwhile
// waits. All failures throw Error(bad_input) "cannot write ..".
class WrittenFile {
 public:
  explicit WrittenFile(std::filesystem::path place);
  WrittenFile(WrittenFile&&) noexcept = default;
  WrittenFile& operator=(WrittenFile&&) = delete;
  ~WrittenFile();  // removes what was not published

  void append(std::string_view content);
  void append_copy_of(const std::filesystem::path& file);  // copied by the kernel, not through here
  void sync();  // so that the machine may stop as well, not only this process
  void publish();
  void leave_beside();  // complete: somebody else gives it its place

 private:
  std::filesystem::path place_;
  std::filesystem::path beside_;
  Descriptor file_;
  [[noreturn]] void fail(int error) const;
};

// ".NAME.part" beside NAME.
std::filesystem::path part_of(const std::filesystem::path& place);

}  // namespace holdfast::gate
