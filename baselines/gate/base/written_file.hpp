// SPDX-License-Identifier: Apache-2.0
// base/files.hpp for the files of a store: failures throw.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/files.hpp"

namespace holdfast::gate {

// All failures throw Error(bad_input) "cannot write ..".
class WrittenFile : private holdfast::WrittenFile {
  using Quiet = holdfast::WrittenFile;

 public:
  explicit WrittenFile(std::filesystem::path place) : Quiet(std::move(place)) { check(); }
  void append(std::string_view content) { Quiet::append(content), check(); }
  void append_copy_of(const std::filesystem::path& file);  // by the kernel where it can
  void sync() { Quiet::sync(), check(); }
  void publish() { Quiet::publish(), check(); }
  using Quiet::leave_beside;

 private:
  void check() const;
};

// Removes a file of an earlier command, so that nobody takes it for the answer of this one. What
// cannot be removed, such as a folder, throws Error(bad_input) "cannot write ..".
void withdraw(const std::filesystem::path& older);

// Creates the folder that --out names, with its parents. Throws Error(bad_input) "cannot write to
// --out=..".
void make_folder(const std::filesystem::path& out);

}  // namespace holdfast::gate
