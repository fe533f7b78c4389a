// SPDX-License-Identifier: Apache-2.0
// What the machine code of a cubin does: static counts of its instructions by class, from what
// NVIDIA's disassembler prints. They depend on the cubin alone, and are kept beside it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

// Of one kernel, by class: "f64", "f32", "f16" (bf16 too), "tensor", "special", "integer",
// "atomic", "barrier", "branch", and "global_load_16" for loads of 16 bytes each, likewise store,
// shared and local. What is not there is zero.
using InstructionCounts = std::map<std::string, std::int64_t>;

std::int64_t count(const InstructionCounts& code, const std::string& instruction_class);

// Bytes and number of a kernel's loads and stores of global and shared memory.
struct Accesses {
  std::int64_t bytes = 0, count = 0;
};
Accesses accesses(const InstructionCounts& code);

// By mangled name, of what `nvdisasm` printed. Functions that were not inlined count against every
// kernel of the program, as their spills do.
std::map<std::string, InstructionCounts> read_disassembly(std::string_view printed);

// nvdisasm: of the wheel that `bootstrap.sh --cuda` installs, of PATH or of the toolkit's usual
// place, in the version that is pinned, since counts are compared. Where there is none the path is
// empty and `absent` says why; the version is that of the counts in the cache all the same.
struct Disassembler {
  std::string path = {}, version = {}, absent = {};
};
const Disassembler& pinned_disassembler();

// Of all kernels of a cubin; from the cache where it was read before, on another machine too. Empty
// where it was not and there is no disassembler. Throws Error{compile} where that fails.
std::optional<std::map<std::string, InstructionCounts>> machine_code(
    const std::string& cubin, const std::string& cubin_hash,
    const Disassembler& disassembler = pinned_disassembler());

}  // namespace holdfast
