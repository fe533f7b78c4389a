// SPDX-License-Identifier: Apache-2.0
// What an error is in every room: a fault, which decides the exit code, and a sentence. Nothing in
// base/ throws one: what may go wrong here is a value, and each room has its own words for it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace holdfast {

// How a program of either room ends, where it does not end well.
struct Exit {
  static constexpr int failed = 1;      // a regression, a wrong result, an impossible speed
  static constexpr int bad_input = 2;   // usage, an unreadable file, a schema that is not obeyed
  static constexpr int incomplete = 3;  // something expected is missing, or broke off
  static constexpr int undecided = 4;   // the measurement cannot tell
  static constexpr int no_device = 77;  // the machine has no such device
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
