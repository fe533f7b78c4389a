// SPDX-License-Identifier: Apache-2.0
// Why a command failed, and the exit code that every command of holdfast gives for it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holdfast::gate {

enum class Fault {
  regression,  // a blocking regression, a wrong result, an impossible speed
  bad_input,   // usage, an unreadable file, a schema that is not obeyed
  incomplete,  // something expected is missing, timed out or crashed
  undecided,   // the measurement cannot tell
  no_device,   // the machine has no such device
};

// 1, 2, 3, 4 and 77, in the order above.
int exit_code(Fault fault);

// The code of a whole whose parts ended in `a` and `b`: 2 before 3 before 1 before 4 before 77
// before 0.
int worse_exit_code(int a, int b);

// The sentence says what is wrong, where, and what to do about it. Only main() prints it.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& sentence) : std::runtime_error(sentence), fault_(fault) {}
  Fault fault() const noexcept { return fault_; }

 private:
  Fault fault_;
};

// text("n is ", 3): everything streamed in a row.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace holdfast::gate
