// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/architecture.hpp"

#include <algorithm>

#include "base/names.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

// CUDA C++ programming guide, "Technical specifications per compute capability"; multiprocessors
// and L2 from the white papers of T4, A100, A40, L40, H100 SXM, B200 and RTX PRO 6000, dense bf16
// peaks from their data sheets (that of the H200 is the H100 SXM's).
constexpr Architecture table[] = {
    {.sm = 75,
     .multiprocessors = 40,
     .warps_per_multiprocessor = 32,
     .blocks_per_multiprocessor = 16,
     .shared_bytes_per_block = 64 * KiB,
     .shared_bytes_per_multiprocessor = 64 * KiB,
     .shared_bytes_reserved = 0,
     .l2_bytes = 4 * MiB},
    {.sm = 80,
     .multiprocessors = 108,
     .shared_bytes_per_block = 163 * KiB,
     .shared_bytes_per_multiprocessor = 164 * KiB,
     .l2_bytes = 40 * MiB,
     .bf16_flop_per_second = 312e12},
    {.sm = 86,
     .multiprocessors = 84,
     .warps_per_multiprocessor = 48,
     .blocks_per_multiprocessor = 16,
     .shared_bytes_per_block = 99 * KiB,
     .shared_bytes_per_multiprocessor = 100 * KiB,
     .l2_bytes = 6 * MiB,
     .bf16_flop_per_second = 149.7e12},
    {.sm = 89,
     .multiprocessors = 142,
     .warps_per_multiprocessor = 48,
     .blocks_per_multiprocessor = 24,
     .shared_bytes_per_block = 99 * KiB,
     .shared_bytes_per_multiprocessor = 100 * KiB,
     .l2_bytes = 96 * MiB,
     .bf16_flop_per_second = 181e12},
    {.sm = 90,
     .multiprocessors = 132,
     .shared_bytes_per_block = 227 * KiB,
     .shared_bytes_per_multiprocessor = 228 * KiB,
     .l2_bytes = 50 * MiB,
     .bf16_flop_per_second = 989.4e12},
    {.sm = 100,
     .multiprocessors = 148,
     .shared_bytes_per_block = 227 * KiB,
     .shared_bytes_per_multiprocessor = 228 * KiB,
     .l2_bytes = 126 * MiB,
     .bf16_flop_per_second = 2250e12},
    {.sm = 120,
     .multiprocessors = 188,
     .warps_per_multiprocessor = 48,
     .blocks_per_multiprocessor = 24,
     .shared_bytes_per_block = 99 * KiB,
     .shared_bytes_per_multiprocessor = 100 * KiB,
     .l2_bytes = 128 * MiB},
};

static_assert(std::ranges::equal(table, architectures, {}, &Architecture::sm),
              "each of base/names.hpp has a row, in its order");

template <class Integer>
constexpr Integer round_up(Integer value, Integer unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

const Architecture* find_architecture(int sm) {
  for (const auto& row : table)
    if (row.sm == sm) return &row;
  return nullptr;
}

const Architecture& architecture(int sm) {
  if (const auto* row = find_architecture(sm)) return *row;
  std::string known;
  for (const auto& row : table)
    if (row.sm >= oldest_of_suites) known += text(known.empty() ? "sm_" : ", sm_", row.sm);
  throw Error(Fault::bad_input, text("there is no architecture sm_", sm, ": use one of ", known));
}

int occupancy(const Architecture& arch, int registers_per_thread,
              std::int64_t shared_bytes_per_block, int threads_per_block) {
  constexpr int warp = 32, schedulers = 4, register_unit = 256;
  constexpr std::int64_t shared_unit = 128;
  if (threads_per_block < 1 || threads_per_block > arch.threads_per_block ||
      registers_per_thread > arch.registers_per_thread ||
      shared_bytes_per_block > arch.shared_bytes_per_block)
    return 0;

  const int warps = (threads_per_block + warp - 1) / warp;
  int blocks = std::min(arch.blocks_per_multiprocessor, arch.warps_per_multiprocessor / warps);

  // Each of a multiprocessor's four schedulers owns a quarter of the registers and whole warps.
  const int registers_per_warp = round_up(std::max(registers_per_thread, 1) * warp, register_unit);
  const int resident_warps =
      arch.registers_per_multiprocessor / schedulers / registers_per_warp * schedulers;
  blocks = std::min(blocks, resident_warps / warps);

  const std::int64_t shared =
      round_up(shared_bytes_per_block + arch.shared_bytes_reserved, shared_unit);
  if (shared > 0)
    blocks = static_cast<int>(
        std::min<std::int64_t>(blocks, arch.shared_bytes_per_multiprocessor / shared));
  return blocks;
}

Fit fit(const Architecture& arch, int registers_per_thread, std::int64_t shared_bytes_per_block,
        int threads_per_block, double blocks) {
  constexpr int warp = 32;
  const int resident =
      occupancy(arch, registers_per_thread, shared_bytes_per_block, threads_per_block);
  if (resident < 1) return {};
  const int warps = (threads_per_block + warp - 1) / warp;
  return {.occupancy = static_cast<double>(resident * warps) / arch.warps_per_multiprocessor,
          .waves = blocks / (static_cast<double>(resident) * arch.multiprocessors)};
}

}  // namespace holdfast
