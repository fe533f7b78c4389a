// SPDX-License-Identifier: Apache-2.0
// Static counts of a cubin's instructions by class, from the output of NVIDIA's disassembler. They
// depend on the cubin alone, and are cached with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/disassembler.hpp"

namespace holdfast {

// Counts of one kernel by class: "f64", "f32", "f16" (bf16 too), "tensor", "special", "integer",
// "atomic", "barrier", "branch", and "global_load_16" for loads of 16 bytes each, likewise store,
// shared and local. Absent classes count zero.
using InstructionCounts = std::map<std::string, std::int64_t>;

std::int64_t count(const InstructionCounts& code, const std::string& instruction_class);

// Bytes and number of a kernel's loads and stores of global and shared memory.
struct Accesses {
  std::int64_t bytes = 0, count = 0;
};
Accesses accesses(const InstructionCounts& code);

// Counts by mangled name, from nvdisasm's output. Functions that were not inlined count against
// every kernel of the program, as their spills do.
std::map<std::string, InstructionCounts> read_disassembly(std::string_view printed);

// Counts of all kernels of a cubin, from the cache if it has them, even another machine's. Empty if
// it has none and there is no disassembler. Throws Error{compile} if the disassembler fails.
std::optional<std::map<std::string, InstructionCounts>> machine_code(
    const std::string& cubin, const std::string& cubin_hash,
    const Disassembler& disassembler = pinned_disassembler());

}  // namespace holdfast
