// SPDX-License-Identifier: Apache-2.0
// The kernels of a variant as one line of text, which an entry can hold, and the changes between
// two of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/documents/results.hpp"

namespace holdfast::gate {

// How a launched kernel is launched, and its instructions by class, where known. Zeros are left
// out, but for the sum of its arguments, which accepted tables may lack.
using KernelEvidence = std::map<std::string, std::string>;
inline constexpr const char* argument_sum = "argument_sum";
// "f64 0 -> 12" for each that differs; nothing where one side does not know.
std::vector<std::string> evidence_changes(const KernelEvidence& before, const KernelEvidence& now);

// Whether a kernel's arguments have the same sum; true where one side does not know.
bool same_arguments(const KernelEvidence& before, const KernelEvidence& now);

// A row of the kernel table, which prints "-" for what the device could not tell.
struct KernelFacts {
  std::optional<std::int64_t> registers = {}, spill_bytes = {}, shared_bytes = {};
  std::optional<std::int64_t> launches = {};  // per step; no table has them
  KernelEvidence evidence = {};
  std::string cubin = {};  // the first digits of its hash
};
KernelFacts facts_of(const KernelRow& row);
// "rates #2" is the second program's kernel of that name.
std::map<std::string, KernelFacts> facts_by_name(const std::vector<KernelRow>& kernels);
// "stage 40/0/26624/blocks=42,f64=12 1a2b3c4d; ...": name, registers, spill bytes, shared bytes,
// evidence of a launched kernel, start of the cubin's hash.
std::string kernel_table(const std::vector<KernelRow>& kernels);
std::map<std::string, KernelFacts> parse_kernel_table(const std::string& table);

// The same of all kernels that both tables name.
bool same_arguments(const std::string& before, const std::string& now);

// Whether `now` tells the same sum for each kernel of which `before` tells one.
bool keeps_arguments(const std::string& before, const std::string& now);

// What changed between two kernel tables: "stage: registers 64 -> 96, cubin changed; 4 other
// kernels identical".
std::string compare_kernels(const std::string& before, const std::string& now);

}  // namespace holdfast::gate
