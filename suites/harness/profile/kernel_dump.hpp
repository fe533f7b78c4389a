// SPDX-License-Identifier: Apache-2.0
// A variant's kernels and their launches per step as files: source, PTX, cubin, disassembly,
// resources.json, launches.json.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/disassembler.hpp"
#include "harness/profile/profile_data.hpp"

namespace holdfast {

// [{"name", "class", "count"}] of one step: kernels, library calls, and copies within the device,
// which are no launches in the ledger. The class is scatter, fused, gemm, reduce, copy, loop, or
// fft of a library's transforms.
nlohmann::json launches_json(const Profiled& profiled);

// A row per kernel: registers, spills, shared memory, and its occupancy in each shape it was
// launched with.
nlohmann::json resources_json(const Profiled& profiled);

// Creates and fills `folder`. Files are written beside their place and renamed. Without the pinned
// disassembler, cuobjdump prints the instructions, if there is one.
void dump_kernels(const Profiled& profiled, const std::filesystem::path& folder,
                  const Disassembler& pinned = pinned_disassembler());

}  // namespace holdfast
