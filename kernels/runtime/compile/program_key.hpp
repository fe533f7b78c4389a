// SPDX-License-Identifier: Apache-2.0
// The cache key of a program: a hash of everything that its machine code depends on.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/nvrtc.hpp"

namespace holdfast {

// Versions and options of the compilers.
struct Toolchain {
  std::string nvrtc = {}, nvjitlink = {};  // versions
  std::vector<std::string> options = {};
};
Toolchain toolchain();  // of this process

// SHA-256, in hexadecimal digits.
std::string program_key(const Lowering& lowering, const Toolchain& toolchain);

}  // namespace holdfast
