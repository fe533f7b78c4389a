// SPDX-License-Identifier: Apache-2.0
// A table of what each GPU architecture offers a block, and the resulting occupancy. The dry device
// launches by this table; for a real device the driver reports multiprocessors and clock-dependent
// values.
#pragma once

#include <cstdint>

namespace holdfast {

struct Architecture {
  int sm = 0;                                // 90 for sm_90
  int multiprocessors = 0;                   // of the full data-centre part
  int registers_per_multiprocessor = 65536;  // 32-bit
  int registers_per_thread = 255;
  int warps_per_multiprocessor = 64;
  int blocks_per_multiprocessor = 32;
  int threads_per_block = 1024;
  std::int64_t shared_bytes_per_block = 0;  // opt-in maximum
  std::int64_t shared_bytes_per_multiprocessor = 0;
  std::int64_t shared_bytes_reserved = 1024;  // per block, by the system
  std::int64_t l2_bytes = 0;
  double bf16_flop_per_second = 0;  // the vendor's dense peak; zero if none is published
};

// Throws Error{bad_input}, naming the known ones, for an sm without a row.
const Architecture& architecture(int sm);
const Architecture* find_architecture(int sm);  // null for one without a row

// Resident blocks of one kernel per multiprocessor: the minimum of what warps, registers (allocated
// per warp in units of 256), shared memory and block slots allow. Zero if one block does not fit.
int occupancy(const Architecture&, int registers_per_thread, std::int64_t shared_bytes_per_block,
              int threads_per_block);

// The fraction of a multiprocessor's warp slots that a launch fills, and the number of waves in its
// grid. Both zero if a block does not fit.
struct Fit {
  double occupancy = 0, waves = 0;
};
Fit fit(const Architecture&, int registers_per_thread, std::int64_t shared_bytes_per_block,
        int threads_per_block, double blocks);

}  // namespace holdfast
