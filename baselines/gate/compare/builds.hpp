// SPDX-License-Identifier: Apache-2.0
// The two builds of a suite that a comparison times.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "gate/base/error.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/beside.hpp"

namespace holdfast::gate {

// Two builds of one suite, copied to paths of equal length: the length of a program's path alone
// can move a kernel by a quarter, through the alignment of its stack and mappings.
class Builds {
 public:
  struct Build {
    std::filesystem::path binary;
    std::map<std::string, std::string> environment = {};  // on top of this process's own
    FormerNames names = {};                               // of cases with another name there
  };
  // Throws Error(bad_input) where a binary cannot be copied.
  Builds(const Build& base, const Build& head);
  const Build& base() const { return base_; }
  const Build& head() const { return head_; }

 private:
  TemporaryFolder folder_{"compare"};
  Build base_, head_;
};

// What one of the builds did instead of answering.
class BuildError : public Error {
 public:
  BuildError(bool of_head, Fault fault, const std::string& sentence)
      : Error(fault, text(of_head ? "the head's " : "the base's ", sentence)), of_head_(of_head) {}
  bool is_of_head() const noexcept { return of_head_; }

 private:
  bool of_head_;
};

}  // namespace holdfast::gate
