// SPDX-License-Identifier: Apache-2.0
// Inputs and expected results of the calibrations, for host and device alike. All are whole numbers
// that every precision represents, so results are exact; only exponentials round.
#pragma once

#include "runtime/device_code/both.hpp"

namespace holdfast::calibration {

// A launch that fills a device: the threads that a data-centre GPU's multiprocessor holds. On
// smaller multiprocessors the blocks take turns.
inline constexpr int threads_per_block = 256, blocks_per_multiprocessor = 8;

// Word k of memory that is copied and read. Neighbours differ and zeros are rare, so that neither
// compression nor a missing copy goes unnoticed.
HOLDFAST_BOTH constexpr unsigned word(unsigned k) {
  return k * 2654435761u + 1;
}

// The sum of the first `count` words modulo 2^32, which matches a kernel's unsigned sums; count
// (count - 1) / 2 is whole.
HOLDFAST_BOTH constexpr unsigned sum_of_words(unsigned count) {
  const unsigned long long pairs = static_cast<unsigned long long>(count) * (count - 1ULL) / 2;
  return static_cast<unsigned>(pairs) * 2654435761u + count;
}

// Multiply-adds: value <- factor * value + shift with both one, which the compiler cannot see;
// exact, so every iteration shows in the result.
inline constexpr int device_chains = 8;  // per device thread

// Thread `i` of a device starts its chain c at i % 1024 + c; this is the sum of its chains.
HOLDFAST_BOTH constexpr int chain_sum(int thread, int iterations) {
  return device_chains * (thread % 1024 + iterations) + device_chains * (device_chains - 1) / 2;
}

// Products of 16 by 16 by 8 on the matrix unit: enough independent tiles per warp to keep it busy.
// An f32 product takes three of bf16: high times high, high times low and low times high.
inline constexpr int product_tiles = 4, product_depth = 16, products_of_a_split = 3;
inline constexpr double flops_of_product = 2. * 16 * 8 * product_depth;

// The sum of the four elements per tile that a thread holds after `iterations`.
HOLDFAST_BOTH constexpr int tile_sum(int thread, int iterations) {
  return 4 * (product_tiles * (thread % 1024 + product_depth * iterations) +
              product_tiles * (product_tiles - 1) / 2);
}

// Exponentials: lane l of a warp starts at -l/32 and goes down in steps of 2^-10, exact in every
// precision.
inline constexpr double exponent_step = 0x1p-10;
HOLDFAST_BOTH constexpr double first_exponent(int thread) {
  return -(thread % 32) * 0x1p-5;
}

// Elements of the factors of a matrix product: whole and small, so that no order of summation
// rounds, and one on average, so that no sum vanishes.
HOLDFAST_BOTH constexpr int left_factor(int i, int k) {
  return (3 * i + 5 * k) % 7 - 2;
}
HOLDFAST_BOTH constexpr int right_factor(int k, int j) {
  return (2 * k + 7 * j) % 5 - 1;
}

}  // namespace holdfast::calibration
