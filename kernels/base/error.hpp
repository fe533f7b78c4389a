// SPDX-License-Identifier: Apache-2.0
// An error in every room is a fault, which decides the exit code, and a sentence. Nothing in base/
// throws one: what may go wrong here is a value, and each room words its own errors.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace holdfast {

// Exit codes of the programs of both rooms, other than success.
struct Exit {
  static constexpr int failed = 1;      // a regression, a wrong result, an impossible speed
  static constexpr int bad_input = 2;   // wrong usage, an unreadable file, a violated schema
  static constexpr int incomplete = 3;  // something expected is missing or was interrupted
  static constexpr int undecided = 4;   // the measurement cannot tell
  static constexpr int no_device = 77;  // the machine lacks the device
};

// The Error of a room that knows these faults. The sentence says what is wrong, where, and what to
// do about it; only main() prints it.
template <class Fault>
class ErrorOf : public std::runtime_error {
 public:
  ErrorOf(Fault fault, std::string_view sentence)
      : std::runtime_error(std::string(sentence)), fault_(fault) {}
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

}  // namespace holdfast
