// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers, the same from g++ and NVRTC: a value depends on its index alone, so
// any thread can compute any element of an input. Includes nothing from the standard, because
// device code has no such headers.
#pragma once

#include "runtime/device_code/both.hpp"

namespace holdfast {

// SplitMix64's output function (Steele, Lea and Flood, OOPSLA 2014, as published in Vigna's
// splitmix64.c).
HOLDFAST_BOTH constexpr unsigned long long mix64(unsigned long long z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

inline constexpr unsigned long long golden_gamma = 0x9e3779b97f4a7c15ULL;

// Element k < 2^40 of the random field `tag`: uniform in [-1, 1) on a grid of 2^-52, exact in
// double.
HOLDFAST_BOTH constexpr double value(unsigned long long tag, unsigned long long k) {
  return static_cast<double>(mix64((tag << 40) + k + golden_gamma) >> 11) * 0x1p-52 - 1;
}

struct Philox4x32 {
  unsigned int word[4];
};

// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011): ten rounds over a 128-bit counter with a
// 64-bit key.
HOLDFAST_BOTH constexpr Philox4x32 philox4x32_10(Philox4x32 counter, unsigned int key0,
                                                 unsigned int key1) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long p0 = 0xd2511f53ULL * counter.word[0];
    const unsigned long long p1 = 0xcd9e8d57ULL * counter.word[2];
    counter = {{static_cast<unsigned int>(p1 >> 32) ^ counter.word[1] ^ key0,
                static_cast<unsigned int>(p1),
                static_cast<unsigned int>(p0 >> 32) ^ counter.word[3] ^ key1,
                static_cast<unsigned int>(p0)}};
    key0 += 0x9e3779b9U;
    key1 += 0xbb67ae85U;
  }
  return counter;
}

}  // namespace holdfast
