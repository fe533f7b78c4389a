// SPDX-License-Identifier: Apache-2.0
// A decode in two kernels, which take all counts as arguments. What changed against
// reference.cu and what each change should bring at size realistic (64 electrodes, 2000 bins, 25760
// spikes, bf16x3) on an H200, predicted from counts; smaller sizes are profiled (below).
// Predictions take matrix units at 590 TFLOP/s of bf16, three fifths of their peak, and one
// instruction per scheduler and cycle.
//   - Rates and normalisers cancel and no maximum is needed, so that a spike's likelihood is a
//     plain product of Gaussians and one logarithm: 2 launches instead of 4927, none of them per
//     electrode.
//   - The product goes through 64 nodes instead of 2000 places: 9.9 GFLOP instead of 103.
//   - Kernel values of marks go from the special-function unit into the registers of the matrix
//     product (`hop_a`); nothing of size [encoding, decoding] or [encoding, places] is ever in
//     memory, and out is written once (`hop_b`): 47 MB of traffic instead of 17.5 GB, 11 us instead
//     of 4.1 ms.
//   - f32 as three bf16 products: a third of 590 TFLOP/s, 3 times the rate of f32 arithmetic. The
//     unit truncates their sums, so the sums of 16 encoding spikes are added up outside: four
//     additions for every three products, without which a sum of 20 000 positive terms would lose
//     about 1e-4.
//   - A lane reads four consecutive encoding spikes of a node or place at a time, 16 bytes without
//     a bank conflict: any order along the summed axis works as long as both factors agree.
//   - 32 rows per warp halve the shared-memory traffic per product: 51 bytes per cycle, not 102.
//   - The next stage of 32 encoding spikes, more if warps share them, is loaded while one is used:
//     one barrier per stage.
//   - If multiprocessors would be idle, up to eight warps share the encoding spikes of a tile and
//     add up in shared memory, in one order for every grid, and a block takes fewer columns: at
//     medium 944 warps instead of 59, and two groups of 16 encoding spikes for each, not 14.
//   - 16 columns at a time keep four chains of three products in flight, not two of 8 columns one
//     after the other: 190 cycles, not 320.
//   - A warp owns rows of time and 64 places and adds up in the order of time: no atomics on out.
//   - Sums at the next 16 nodes are loaded while these are multiplied, the logarithms of four
//     spikes are taken at a time, and both ends of a warp's spikes are searched for at once: in
//     `hop_b` 5200 cycles for 32 spikes, not 13 000.
//   - More than 128 nodes or places are split over blocks that recompute the values of marks, which
//     is cheaper than sums that spill.
//   - Encoding sums Gaussians at 64 nodes, by tiles and then over tiles, and from there computes
//     all places: 3 launches instead of 8121, 4.7 million exponentials instead of 150 million; the
//     remaining cost is to write Psi, 17 MB, 4 us.
//   - The local likelihood takes a warp per spike and never writes a kernel density: 2 launches, 26
//     million exponentials, 7 us.
// Predicted: hop_a 30 us (products 17, issue 16), hop_b 55 us (products 33, issue 45; the
// logarithms alone 14); floor 38 us. At full scale tet64 14 ms (floor 7.9), hpc1d 25 ms (11.7),
// with a cut 15 ms, hpc2d 90 ms (48). What should come next is wgmma with its left-hand
// factor in registers.
// Profiled on an H200, minimum of five, with one warp for all encoding spikes of a tile, columns
// 8 by 8 and logarithms one by one: hop_a and hop_b 24 and 11 us at size medium, 53 and 42 at
// large, which is 1.4 us, 2800 cycles, per group of 16 encoding spikes for a warp that only waits
// for itself; a decode with the copy of its spikes 13 us at tiny, 21 at small, 39 at medium, 104
// at large. The targets are 15, 15, 20 and 40.
// Predicted for the present code: hop_a and hop_b 5 and 6 us at medium, 11 and 17 at large, of
// which 1.5 us each are a launch; a decode 10 us at tiny, 13 at small, 15 at medium, 37 at large.
// Profiled, hop_a and hop_b take 4.4 and 8.1 us at medium, 14.4 and 27.8 at large, with the copy of
// spikes a decode 6.2, 7.1, 16 and 51: the remaining gain is in hop_b at large. Timed, including
// the host's sorting and launches, a decode takes 23, 20, 37 and 132 us; before 27, 36, 52 and 215.
#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/model_arguments.hpp"

namespace kde = holdfast::clusterless_kde;

// No kernel has static shared memory besides, so this begins on sixteen bytes.
struct alignas(16) SharedQuad {
  unsigned char bytes[16];
};
extern __shared__ SharedQuad shared_memory[];

#include "clusterless_kde/device/encode.cuh"  // column_sums, group_sums, finish
#include "clusterless_kde/device/local.cuh"   // local_spikes, local_rows
#include "clusterless_kde/device/marks.cuh"   // hop_a
#include "clusterless_kde/device/places.cuh"  // hop_b, sum_rows, consume
