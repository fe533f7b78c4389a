// SPDX-License-Identifier: Apache-2.0
// One exception type. A function per library translates its status: `check`, beside the code that
// calls the library.
#pragma once

#include <source_location>
#include <string_view>

#include "base/error.hpp"

namespace holdfast {

// Why something failed; main() maps each kind to its exit code.
enum class Fault {
  bad_input,      // the user's request is invalid
  no_device,      // this machine lacks the requested device
  compile,        // a device program does not compile, or its launch signature is wrong
  device,         // the device or one of its libraries refused
  out_of_memory,  // the request exceeds the available or allowed memory
  broken_rule,    // a step allocates, compiles, plans, is wrong or asks what no device would take
};

class Error : public ErrorOf<Fault> {
 public:
  Error(Fault fault, std::string_view sentence,
        std::source_location where = std::source_location::current());
  std::source_location where() const noexcept { return where_; }

 private:
  std::source_location where_;
};

}  // namespace holdfast
